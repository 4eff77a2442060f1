//! The smallest plan: greedy orders, and where none meets the lower bound,
//! a search at the bound and then by bisection above it.

use super::bounds;
use super::greedy::{self, Layout};
use super::model::Model;
use super::placement_search::assign;
use super::search::{Answer, Instance, Search};
use super::{Limits, PlanError, PoolId, PoolPlan};

/// A layout and what is known of it.
pub(super) struct Packing {
    pub(super) layout: Layout,
    pub(super) pools: Vec<PoolPlan>,
    /// No layout within the limits costs less traffic.
    pub(super) is_cheapest: bool,
    pub(super) nodes: u64,
}

/// Plans all pools. A limit of the only pool tells what to look for first.
pub(super) fn pack(model: &Model<'_>, limit: Option<usize>, limits: &Limits) -> Result<Packing, PlanError> {
    let mut nodes = limits.nodes;
    let (mut layout, is_cheapest) = placed(model, &mut nodes)?;
    let mut pools = Vec::new();
    for index in 0..model.limits.len() {
        let goals = Goals { limit, enough: limits.enough };
        pools.push(improve(model, &mut layout, PoolId(index), goals, &mut nodes));
    }
    Ok(Packing { layout, pools, is_cheapest, nodes: limits.nodes - nodes })
}

/// Nodes for the choice of pools, at most: one looks at whole pools.
const ASSIGNING: u64 = 50_000;

/// A layout that keeps the limits of all pools, and of those one whose traffic costs little;
/// whether it is certain that none costs less.
fn placed(model: &Model<'_>, nodes: &mut u64) -> Result<(Layout, bool), PlanError> {
    let layout = greedy::best(model).map(|(_, layout)| layout);
    if let Ok(layout) = &layout
        && model.is_cheapest(layout)
    {
        return Ok((layout.clone(), true));
    }
    let mut left = ASSIGNING.min(*nodes / 2);
    let share = left;
    let assigned = assign(model, layout.as_ref().ok(), &mut left);
    *nodes -= share - left;
    match (assigned.layout, layout) {
        (Some(better), _) => Ok((better, assigned.is_certain)),
        (None, Err(PlanError::NoRoom { buffer, .. })) => {
            Err(PlanError::NoRoom { buffer, impossible: assigned.is_certain })
        }
        (None, layout) => layout.map(|layout| (layout, assigned.is_certain)),
    }
}

/// Sizes worth a try before the least.
#[derive(Clone, Copy)]
pub(super) struct Goals {
    /// Bytes that there are.
    pub(super) limit: Option<usize>,
    /// Bytes below which nothing is looked for.
    pub(super) enough: Option<usize>,
}

impl Goals {
    fn is_enough(self, size: i64) -> bool {
        self.enough.is_some_and(|enough| size as usize <= enough)
    }
}

/// Packs the items of one pool into as few bytes as the nodes allow.
pub(super) fn improve(
    model: &Model<'_>,
    layout: &mut Layout,
    pool: PoolId,
    goals: Goals,
    nodes: &mut u64,
) -> PoolPlan {
    let chosen = layout.items_in(pool);
    let sections = bounds::sections(model, &chosen);
    let lower_bound = bounds::lower_bound(model, &chosen, &sections);
    let size = layout.sizes(model)[pool.index()];
    if size == lower_bound || goals.is_enough(size) || !bounds::is_searchable(model, &chosen) {
        return PoolPlan::new(size, lower_bound);
    }
    let instance = Instance::new(model, &chosen, &sections);
    let offsets = chosen.iter().map(|&item| layout.places[item].1).collect();
    let mut descent = Descent {
        instance: &instance,
        search: Search::new(&instance),
        lower_bound,
        open: lower_bound,
        size,
        offsets,
    };
    descent.run(goals, nodes);
    for (&item, &offset) in chosen.iter().zip(&descent.offsets) {
        layout.places[item].1 = offset;
    }
    PoolPlan::new(descent.size, descent.lower_bound)
}

/// The best packing of one pool so far, and what is known to be impossible.
struct Descent<'a> {
    instance: &'a Instance,
    search: Search<'a>,
    lower_bound: i64,
    /// The least capacity that the search has not ruled out. Where gaps are
    /// wider than they must be, that is no bound.
    open: i64,
    size: i64,
    offsets: Vec<i64>,
}

/// Nodes of a first look at the lower bound, and of one at any other capacity.
const FIRST_LOOKS: (u64, u64) = (100_000, 5_000);

impl Descent<'_> {
    /// Tries what is enough, and no more if that is found. Else tries the lower bound, then
    /// the limit, then steps below the best packing: larger ones while they succeed, smaller
    /// ones when they do not, and where not even the smallest does, all of it with more
    /// patience.
    fn run(&mut self, goals: Goals, nodes: &mut u64) {
        if self.reach(goals.enough, *nodes, nodes) == Some(true) {
            return;
        }
        let (first_look, mut patience) = FIRST_LOOKS;
        self.probe(self.open, first_look, nodes);
        self.reach(goals.limit, *nodes / 2, nodes);
        let unit = self.instance.unit;
        let mut step = (self.size - self.open) / 2;
        while self.open < self.size && *nodes > 0 {
            step = (step / unit * unit).clamp(unit, self.size - self.open);
            match self.probe(self.size - step, patience, nodes) {
                Some(true) => step *= 2,
                Some(false) => step = (self.size - self.open) / 2,
                None if step > unit => step /= 2,
                None => {
                    patience *= 2;
                    // Where nothing is left to spare, little is left to try; but far from
                    // there it is in vain.
                    if self.size - self.open < self.open / 100 {
                        self.probe(self.open, patience, nodes);
                    }
                }
            }
        }
    }

    /// Searches at a capacity that was asked for, if the answer is not known.
    fn reach(&mut self, capacity: Option<usize>, share: u64, nodes: &mut u64) -> Option<bool> {
        let capacity = i64::try_from(capacity?).ok()?;
        let is_known = capacity < self.open || self.size <= capacity;
        if is_known { None } else { self.probe(capacity, share, nodes) }
    }

    /// Searches at one capacity; whether there is a packing, if that became certain.
    fn probe(&mut self, capacity: i64, share: u64, nodes: &mut u64) -> Option<bool> {
        let unit = self.instance.unit;
        // A limit need not be a size that a packing can have.
        let capacity = capacity / unit * unit;
        let share = share.max(1).min(*nodes);
        let mut left = share;
        let answer = self.search.run(capacity, &self.offsets, &mut left);
        *nodes -= share - left;
        match answer {
            Answer::Packing(offsets) => {
                self.size = self.instance.height(&offsets);
                self.offsets = offsets;
                Some(true)
            }
            Answer::Impossible => {
                // The size is reached, so it is never ruled out.
                self.open = (capacity + unit).min(self.size);
                if self.instance.is_exact {
                    self.lower_bound = self.open;
                }
                Some(false)
            }
            Answer::Unknown => None,
        }
    }
}
