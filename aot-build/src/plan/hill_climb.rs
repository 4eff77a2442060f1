//! Hill climbing over the order of greedy placement.
//!
//! What is exchanged are two neighbours in conflict of the item that reaches
//! highest, or that item and one of them: only such exchanges can lower it. A
//! worse order is accepted now and then, less often as time goes on; the best
//! order seen is the one that counts.

use super::greedy::{self, Layout};
use super::model::Model;
use super::optimal::Packing;
use super::random::Random;
use super::{Limits, PlanError, judged};

/// Orders tried, at most.
const ATTEMPTS: u64 = 500;

/// Pairs of items looked at, at most, all attempts together.
const PAIRS: u64 = 500_000_000;

/// Improves the best greedy order by exchanges until it meets the bounds or the
/// attempts end.
pub(super) fn pack(model: &Model<'_>, limits: &Limits) -> Result<Packing, PlanError> {
    let (mut order, mut layout) = greedy::best(model)?;
    let mut best = judged(model, layout.clone());
    let mut random = Random::new();
    let items = model.items.len() as u64;
    let attempts = ATTEMPTS.min(limits.nodes).min(PAIRS / (items * items).max(1));
    while best.nodes < attempts && !best.pools.iter().all(|pool| pool.proved || limits.is_enough(pool.size)) {
        best.nodes += 1;
        let next_order = exchanged(model, &order, &layout, &mut random);
        // An order that fits no pool is no step.
        let Ok(next) = greedy::place_in_order(model, &next_order) else {
            continue;
        };
        if next.rank(model) < best.layout.rank(model) {
            best = Packing { nodes: best.nodes, ..judged(model, next.clone()) };
        }
        let patience = attempts - best.nodes;
        let is_worse = next.rank(model) > layout.rank(model);
        if !is_worse || random.below(50 * attempts) < patience {
            (order, layout) = (next_order, next);
        }
    }
    Ok(best)
}

/// The order with two items exchanged that are one of the highest or conflict
/// with it. Items at fixed offsets keep their places at the front.
fn exchanged(model: &Model<'_>, order: &[usize], layout: &Layout, random: &mut Random) -> Vec<usize> {
    let top = highest(model, layout, random);
    let involved = |&position: &usize| {
        let index = order[position];
        model.items[index].fixed.is_none() && (index == top || model.gap(top, index).is_some())
    };
    let positions: Vec<usize> = (0..order.len()).filter(involved).collect();
    let mut order = order.to_vec();
    if positions.len() > 1 {
        let mut pick = || positions[random.below(positions.len() as u64) as usize];
        let (a, b) = (pick(), pick());
        order.swap(a, b);
    }
    order
}

/// An item that reaches to the end of a pool.
fn highest(model: &Model<'_>, layout: &Layout, random: &mut Random) -> usize {
    let sizes = layout.sizes(model);
    let ends = |&index: &usize| {
        let (pool, offset) = layout.places[index];
        offset + model.items[index].extent == sizes[pool.index()]
    };
    let tops: Vec<usize> = (0..model.items.len()).filter(ends).collect();
    tops[random.below(tops.len() as u64) as usize]
}
