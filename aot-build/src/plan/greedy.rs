//! Greedy planning: items one by one, in some order, each at the lowest
//! offset that is free in the first pool that takes it.

use std::cmp::Reverse;

use super::PlanError;
use super::model::Model;
use super::problem::PoolId;

/// Places of all items of a model.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// Of each item: its pool and its offset there.
    pub(super) places: Vec<(PoolId, i64)>,
}

impl Layout {
    /// Bytes that each pool needs.
    pub(super) fn sizes(&self, model: &Model<'_>) -> Vec<i64> {
        let mut sizes = vec![0; model.limits.len()];
        for (item, &(pool, offset)) in model.items.iter().zip(&self.places) {
            if item.extent > 0 {
                sizes[pool.index()] = sizes[pool.index()].max(offset + item.extent);
            }
        }
        sizes
    }

    /// The items that lie in a pool.
    pub(super) fn items_in(&self, pool: PoolId) -> Vec<usize> {
        (0..self.places.len()).filter(|&item| self.places[item].0 == pool).collect()
    }

    /// Bytes that all pools need together.
    pub(super) fn total(&self, model: &Model<'_>) -> i64 {
        self.sizes(model).iter().sum()
    }
}

/// Orders in which to place items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Largest first.
    Size,
    /// Largest first, the last declared first among equals.
    SizeReversed,
    /// Longest alive first.
    Life,
    /// Largest product of bytes and steps alive first.
    Area,
    /// Most conflicts first.
    Conflicts,
    /// Earliest first step first.
    Start,
}

impl Order {
    /// All orders.
    pub(super) const ALL: [Self; 6] =
        [Self::Size, Self::SizeReversed, Self::Area, Self::Life, Self::Conflicts, Self::Start];

    /// The items in this order; items at fixed offsets always come first.
    pub(super) fn items(self, model: &Model<'_>) -> Vec<usize> {
        let count = model.items.len();
        let conflicts = if self == Self::Conflicts { conflict_counts(model) } else { Vec::new() };
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&index| {
            let item = &model.items[index];
            let rank = match self {
                Self::Size | Self::SizeReversed => (item.extent, item.steps_alive()),
                Self::Life => (item.steps_alive(), item.extent),
                Self::Area => (item.steps_alive().saturating_mul(item.extent), item.extent),
                Self::Conflicts => (conflicts[index], item.extent),
                Self::Start => (-(item.first_step() as i64), item.extent),
            };
            let tie = if self == Self::SizeReversed { count - index } else { index };
            (item.fixed.is_none(), Reverse(rank), tie)
        });
        order
    }
}

fn conflict_counts(model: &Model<'_>) -> Vec<i64> {
    let count = model.items.len();
    let conflicts =
        |item| (0..count).filter(|&other| other != item && model.gap(item, other).is_some()).count();
    (0..count).map(|item| conflicts(item) as i64).collect()
}

/// Places the items in the given order.
pub(super) fn place_in_order(model: &Model<'_>, order: &[usize]) -> Result<Layout, PlanError> {
    let mut layout = Layout { places: vec![(PoolId::default(), 0); model.items.len()] };
    let mut placed: Vec<Vec<usize>> = vec![Vec::new(); model.limits.len()];
    for &index in order {
        let (pool, offset) = place(model, &layout, &placed, index)?;
        layout.places[index] = (pool, offset);
        placed[pool.index()].push(index);
    }
    Ok(layout)
}

/// The first pool that has room for the item, and the lowest offset there.
fn place(
    model: &Model<'_>,
    layout: &Layout,
    placed: &[Vec<usize>],
    index: usize,
) -> Result<(PoolId, i64), PlanError> {
    let item = &model.items[index];
    for &pool in &item.pools {
        let holes = forbidden(model, layout, &placed[pool.index()], index);
        let offset = match item.fixed {
            Some(offset) if holes.iter().any(|&(low, high)| low < offset && offset < high) => {
                continue;
            }
            Some(offset) => offset,
            None => lowest(&holes, |from| item.align(from)),
        };
        if offset + item.extent <= model.limits[pool.index()] {
            return Ok((pool, offset));
        }
    }
    Err(PlanError::no_room(model, index))
}

/// Stretches of offsets, both ends excluded, that the placed items forbid to
/// the item, sorted.
fn forbidden(model: &Model<'_>, layout: &Layout, placed: &[usize], index: usize) -> Vec<(i64, i64)> {
    let mut holes: Vec<(i64, i64)> = Vec::new();
    for &other in placed {
        if let Some(gap) = model.gap(index, other) {
            let offset = layout.places[other].1;
            holes.push((offset - gap.below, offset + gap.above));
        }
    }
    holes.sort_unstable();
    holes
}

/// The lowest aligned offset outside all holes.
fn lowest(holes: &[(i64, i64)], align: impl Fn(i64) -> i64) -> i64 {
    let mut offset = 0;
    for &(low, high) in holes {
        if low >= offset {
            break;
        }
        if offset < high {
            offset = align(high);
        }
    }
    offset
}

/// Places every item above the ones before it, whether they conflict or not.
pub(super) fn place_apart(model: &Model<'_>) -> Result<Layout, PlanError> {
    let mut layout = Layout { places: vec![(PoolId::default(), 0); model.items.len()] };
    let mut tops = vec![0; model.limits.len()];
    for index in Order::Start.items(model) {
        let item = &model.items[index];
        let room = |&&pool: &&PoolId| {
            let offset = item.fixed.unwrap_or_else(|| item.align(tops[pool.index()]));
            offset + item.extent <= model.limits[pool.index()]
        };
        let &pool = item.pools.iter().find(room).ok_or_else(|| PlanError::no_room(model, index))?;
        let offset = item.fixed.unwrap_or_else(|| item.align(tops[pool.index()]));
        layout.places[index] = (pool, offset);
        tops[pool.index()] = tops[pool.index()].max(offset + item.extent);
    }
    Ok(layout)
}
