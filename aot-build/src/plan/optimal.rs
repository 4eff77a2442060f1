//! The smallest plan: six greedy orders, and where none meets the lower bound,
//! a search at the bound and then by bisection above it.

use super::bounds;
use super::greedy::{self, Layout, Order};
use super::model::Model;
use super::search::{self, Answer, Instance};
use super::{Limits, PlanError, PoolId, PoolPlan};

/// A layout and what is known of it.
pub(super) struct Packing {
    pub(super) layout: Layout,
    pub(super) pools: Vec<PoolPlan>,
    pub(super) nodes: u64,
}

/// Plans all pools.
pub(super) fn pack(model: &Model<'_>, limits: &Limits) -> Result<Packing, PlanError> {
    let mut layout = best_greedy(model)?;
    let mut nodes = limits.nodes;
    let mut pools = Vec::new();
    for index in 0..model.limits.len() {
        pools.push(improve(model, &mut layout, PoolId(index), &mut nodes));
    }
    Ok(Packing { layout, pools, nodes: limits.nodes - nodes })
}

/// The smallest of the greedy layouts.
fn best_greedy(model: &Model<'_>) -> Result<Layout, PlanError> {
    let mut best = greedy::place_in_order(model, &Order::Size.items(model));
    for order in &Order::ALL[1..] {
        let layout = greedy::place_in_order(model, &order.items(model));
        let total = |layout: &Result<Layout, PlanError>| {
            layout.as_ref().map_or(i64::MAX, |layout| layout.total(model))
        };
        if total(&layout) < total(&best) {
            best = layout;
        }
    }
    best
}

/// Packs the items of one pool into as few bytes as the nodes allow.
fn improve(model: &Model<'_>, layout: &mut Layout, pool: PoolId, nodes: &mut u64) -> PoolPlan {
    let chosen = layout.items_in(pool);
    let sections = bounds::sections(model, &chosen);
    let lower_bound = bounds::lower_bound(model, &chosen, &sections);
    let size = layout.sizes(model)[pool.index()];
    if size == lower_bound {
        return PoolPlan::new(size, lower_bound);
    }
    let instance = Instance::new(model, &chosen, &sections);
    let offsets = chosen.iter().map(|&item| layout.places[item].1).collect();
    let mut descent = Descent { instance: &instance, lower_bound, size, offsets };
    descent.run(nodes);
    for (&item, &offset) in chosen.iter().zip(&descent.offsets) {
        layout.places[item].1 = offset;
    }
    PoolPlan::new(descent.size, descent.lower_bound)
}

/// The best packing of one pool so far, and what is known to be impossible.
struct Descent<'a> {
    instance: &'a Instance,
    lower_bound: i64,
    size: i64,
    offsets: Vec<i64>,
}

impl Descent<'_> {
    /// Tries the lower bound first, then ever smaller steps below the best
    /// packing, until they meet or the nodes end.
    fn run(&mut self, nodes: &mut u64) {
        self.probe(self.lower_bound, *nodes / 10, nodes);
        let mut halvings = 1;
        while self.lower_bound < self.size && *nodes > 0 {
            let unit = self.instance.unit;
            let step = ((self.size - self.lower_bound) >> halvings) / unit * unit;
            let capacity = self.size - step.max(unit);
            let is_last = step <= unit;
            let share = if is_last { *nodes } else { *nodes / 8 };
            if !self.probe(capacity, share, nodes) {
                halvings += 1;
            }
        }
    }

    /// Searches at one capacity; whether that settled anything.
    fn probe(&mut self, capacity: i64, share: u64, nodes: &mut u64) -> bool {
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
                self.lower_bound = capacity + self.instance.unit;
                true
            }
            Answer::Unknown => false,
        }
    }
}
