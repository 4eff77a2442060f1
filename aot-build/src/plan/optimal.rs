//! The smallest plan: six greedy orders, and where none meets the lower bound,
//! a search at the bound and then by bisection above it.

use super::bounds;
use super::greedy::{self, Layout};
use super::model::Model;
use super::search::{self, Answer, Instance};
use super::{Limits, PlanError, PoolId, PoolPlan};

/// A layout and what is known of it.
pub(super) struct Packing {
    pub(super) layout: Layout,
    pub(super) pools: Vec<PoolPlan>,
    pub(super) nodes: u64,
}

/// Plans all pools. A limit of the only pool tells what to look for first.
pub(super) fn pack(model: &Model<'_>, limit: Option<usize>, limits: &Limits) -> Result<Packing, PlanError> {
    let (_, mut layout) = greedy::best(model)?;
    let mut nodes = limits.nodes;
    let mut pools = Vec::new();
    for index in 0..model.limits.len() {
        pools.push(improve(model, &mut layout, PoolId(index), limit, &mut nodes));
    }
    Ok(Packing { layout, pools, nodes: limits.nodes - nodes })
}

/// Packs the items of one pool into as few bytes as the nodes allow.
fn improve(
    model: &Model<'_>,
    layout: &mut Layout,
    pool: PoolId,
    limit: Option<usize>,
    nodes: &mut u64,
) -> PoolPlan {
    let chosen = layout.items_in(pool);
    let sections = bounds::sections(model, &chosen);
    let lower_bound = bounds::lower_bound(model, &chosen, &sections);
    let size = layout.sizes(model)[pool.index()];
    if size == lower_bound || !bounds::is_searchable(model, &chosen) {
        return PoolPlan::new(size, lower_bound);
    }
    let instance = Instance::new(model, &chosen, &sections);
    let offsets = chosen.iter().map(|&item| layout.places[item].1).collect();
    let mut descent = Descent { instance: &instance, lower_bound, open: lower_bound, size, offsets };
    descent.run(limit, nodes);
    for (&item, &offset) in chosen.iter().zip(&descent.offsets) {
        layout.places[item].1 = offset;
    }
    PoolPlan::new(descent.size, descent.lower_bound)
}

/// The best packing of one pool so far, and what is known to be impossible.
struct Descent<'a> {
    instance: &'a Instance,
    lower_bound: i64,
    /// The least capacity that the search has not ruled out. Where gaps are
    /// wider than they must be, that is no bound.
    open: i64,
    size: i64,
    offsets: Vec<i64>,
}

impl Descent<'_> {
    /// Tries the lower bound first, then the limit, then ever smaller steps
    /// below the best packing, until they meet or the nodes end.
    fn run(&mut self, limit: Option<usize>, nodes: &mut u64) {
        self.probe(self.open, *nodes / 10, nodes);
        let limit = limit.map_or(i64::MAX, |limit| limit as i64);
        if self.open <= limit && limit < self.size {
            self.probe(limit, *nodes / 2, nodes);
        }
        let mut halvings = 1;
        while self.open < self.size && *nodes > 0 {
            let unit = self.instance.unit;
            let step = ((self.size - self.open) >> halvings) / unit * unit;
            let capacity = (self.size - step.max(unit)).max(self.open);
            let is_last = step <= unit;
            let share = if is_last { *nodes } else { *nodes / 8 };
            if !self.probe(capacity, share, nodes) {
                halvings += 1;
            }
        }
    }

    /// Searches at one capacity; whether that settled anything.
    fn probe(&mut self, capacity: i64, share: u64, nodes: &mut u64) -> bool {
        let unit = self.instance.unit;
        // A limit need not be a size that a packing can have.
        let capacity = capacity / unit * unit;
        let share = share.max(1).min(*nodes);
        let mut left = share;
        let answer = search::search(self.instance, capacity, &self.offsets, &mut left);
        *nodes -= share - left;
        match answer {
            Answer::Packing(offsets) => {
                self.size = self.instance.height(&offsets);
                self.offsets = offsets;
                true
            }
            Answer::Impossible => {
                // The size is reached, so it is never ruled out.
                self.open = (capacity + unit).min(self.size);
                if self.instance.is_exact {
                    self.lower_bound = self.open;
                }
                true
            }
            Answer::Unknown => false,
        }
    }
}
