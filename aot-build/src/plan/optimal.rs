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
    let mut lower_bound = bounds::lower_bound(model, &chosen, &sections);
    let mut size = layout.sizes(model)[pool.index()];
    if size > lower_bound {
        let instance = Instance::new(model, &chosen, &sections);
        bisect(&instance, &mut lower_bound, &mut size, nodes, |offsets| {
            for (&item, &offset) in chosen.iter().zip(offsets) {
                layout.places[item].1 = offset;
            }
        });
    }
    PoolPlan { size: size as usize, lower_bound: lower_bound as usize, proved: size == lower_bound }
}

/// Brings `size` down and `lower_bound` up until they meet or the nodes end.
fn bisect(
    instance: &Instance,
    lower_bound: &mut i64,
    size: &mut i64,
    nodes: &mut u64,
    mut keep: impl FnMut(&[i64]),
) {
    let mut open = *lower_bound;
    while open < *size && *nodes > 0 {
        let capacity = if open == *lower_bound {
            open
        } else {
            open + (*size - open) / 2 / instance.unit * instance.unit
        };
        let mut share = (*nodes / 4).max(1_000).min(*nodes);
        let given = share;
        let answer = search::search(instance, capacity, &mut share);
        *nodes -= given - share;
        match answer {
            Answer::Packing(offsets) => {
                *size = instance.height(&offsets);
                keep(&offsets);
            }
            Answer::Impossible => {
                *lower_bound = capacity + instance.unit;
                open = *lower_bound;
            }
            Answer::Unknown => open = capacity + 1,
        }
    }
}
