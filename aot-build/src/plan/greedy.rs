//! Greedy planning: items one by one, in some order, each at the lowest
//! offset that is free in the first pool that takes it.

use std::cmp::Reverse;

use super::PlanError;
use super::model::{Item, Model};
use super::problem::{Gap, PoolId};
use super::shelf::Shelf;

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

    /// What makes a layout good: cheap traffic first, then few bytes.
    pub(super) fn rank(&self, model: &Model<'_>) -> (u128, i64) {
        (model.cost(self), self.total(model))
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
    /// What saves most, for the bytes and steps that it takes, by lying in its cheapest pool.
    Saving,
    /// What is alive at the step with most bytes, longest alive first; then the others,
    /// largest first.
    Peak,
}

impl Order {
    /// All orders.
    pub(super) const ALL: [Self; 8] = [
        Self::Saving,
        Self::Size,
        Self::SizeReversed,
        Self::Area,
        Self::Life,
        Self::Conflicts,
        Self::Start,
        Self::Peak,
    ];

    /// The items in this order; items at fixed offsets always come first.
    pub(super) fn items(self, model: &Model<'_>) -> Vec<usize> {
        let count = model.items.len();
        let conflicts = model.conflicts();
        let mut is_peak = vec![false; count];
        if self == Self::Peak {
            for &buffer in model.live_sets(false).iter().flatten() {
                is_peak[model.home(buffer).0] = true;
            }
        }
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_cached_key(|&index| {
            let item = &model.items[index];
            let rank = match self {
                Self::Size | Self::SizeReversed => (item.extent, conflicts[index]),
                Self::Life => (item.steps_alive(), item.extent),
                Self::Area => (item.steps_alive().saturating_mul(item.extent), item.extent),
                Self::Conflicts => (conflicts[index], item.extent),
                // Lives of the one kind are never compared with sizes of the other.
                Self::Peak if is_peak[index] => (item.steps_alive(), item.extent),
                Self::Peak => (item.extent, conflicts[index]),
                Self::Saving => {
                    let area = item.steps_alive().max(1).saturating_mul(item.extent.max(1));
                    let saving = model.regret(index).saturating_mul(1 << 16) / area as u128;
                    (i64::try_from(saving).unwrap_or(i64::MAX), item.extent)
                }
                Self::Start => (-(item.first_step() as i64), item.extent),
            };
            let tie = if self == Self::SizeReversed { count - index } else { index };
            (item.fixed.is_none(), Reverse((is_peak[index], rank)), tie)
        });
        order
    }
}

/// Orders tried for one layout, at most, when pools are too small.
const PROMOTIONS: usize = 200;

/// Places the items in one of the orders.
///
/// Where the limits of the pools leave no room for an item, it is placed before
/// all others, and so on until all fit.
pub(super) fn place_by(model: &Model<'_>, order: Order) -> Result<Layout, PlanError> {
    place_persistently(model, order.items(model)).map(|(_, layout)| layout)
}

fn place_persistently(model: &Model<'_>, mut order: Vec<usize>) -> Result<(Vec<usize>, Layout), PlanError> {
    let fixed = model.items.iter().filter(|item| item.fixed.is_some()).count();
    let mut promotions = 0;
    loop {
        let refused = match try_in_order(model, &order) {
            Ok(layout) => return Ok((order, layout)),
            Err(refused) => refused,
        };
        promotions += 1;
        if model.items[refused].fixed.is_some() || promotions > PROMOTIONS {
            return Err(PlanError::no_room(model, refused));
        }
        order.retain(|&index| index != refused);
        order.insert(fixed, refused);
    }
}

/// The order, of all, whose layout is the cheapest and then the smallest, and that layout.
pub(super) fn best(model: &Model<'_>) -> Result<(Vec<usize>, Layout), PlanError> {
    let (load, has_costs) = (load(model), model.has_costs());
    let rank = |placed: &Result<(_, Layout), PlanError>| {
        placed.as_ref().map_or((u128::MAX, i64::MAX), |(_, layout)| layout.rank(model))
    };
    // Without costs, the first order is no other than the second.
    let orders = if has_costs { &Order::ALL[..] } else { &Order::ALL[1..] };
    let mut best = place_persistently(model, orders[0].items(model));
    for &order in &orders[1..] {
        if !has_costs && rank(&best).1 == load {
            break;
        }
        let next = place_persistently(model, order.items(model));
        if rank(&next) < rank(&best) {
            best = next;
        }
    }
    best
}

/// The most bytes alive at one step, which no layout can go below; 0 where declared gaps
/// may let buffers share bytes.
fn load(model: &Model<'_>) -> i64 {
    let heaviest = if model.is_plain { model.live_sets(false) } else { Vec::new() };
    heaviest.iter().flatten().map(|&buffer| model.size(buffer)).sum()
}

/// Places the items in the given order.
pub(super) fn place_in_order(model: &Model<'_>, order: &[usize]) -> Result<Layout, PlanError> {
    try_in_order(model, order).map_err(|refused| PlanError::no_room(model, refused))
}

/// The same; where there is no room, the item left over.
fn try_in_order(model: &Model<'_>, order: &[usize]) -> Result<Layout, usize> {
    let mut layout = Layout { places: vec![(PoolId::default(), 0); model.items.len()] };
    let mut placed = vec![None; model.items.len()];
    let mut shelves: Vec<Shelf> = model.limits.iter().map(|_| Shelf::default()).collect();
    for &index in order {
        let item = &model.items[index];
        let lowest = |pool: PoolId| {
            if model.is_plain {
                Some(shelves[pool.index()].lowest(item))
            } else {
                lowest_place(model, &layout, &|other| placed[other] == Some(pool), index)
            }
        };
        let (pool, offset) = place(model, item, lowest).ok_or(index)?;
        layout.places[index] = (pool, offset);
        placed[index] = Some(pool);
        if model.is_plain {
            shelves[pool.index()].insert(item, offset);
        }
    }
    Ok(layout)
}

/// The first pool that has room for the item, and the lowest offset there.
fn place(model: &Model<'_>, item: &Item, lowest: impl Fn(PoolId) -> Option<i64>) -> Option<(PoolId, i64)> {
    let fits = |&pool: &PoolId| {
        let offset = lowest(pool)?;
        (offset + item.extent <= model.limits[pool.index()]).then_some((pool, offset))
    };
    item.pools.iter().find_map(fits)
}

/// The lowest offset of an item that keeps every gap to the placed items, or
/// its fixed offset if that does.
fn lowest_place(
    model: &Model<'_>,
    layout: &Layout,
    is_placed: &dyn Fn(usize) -> bool,
    index: usize,
) -> Option<i64> {
    let item = &model.items[index];
    let holes = forbidden(model, layout, is_placed, index);
    match item.fixed {
        Some(offset) if holes.iter().any(|&(low, high)| low < offset && offset < high) => None,
        Some(offset) => Some(offset),
        None => Some(lowest(&holes, |from| item.align(from))),
    }
}

/// Stretches of offsets, both ends excluded, that the placed items forbid to
/// the item, sorted.
fn forbidden(
    model: &Model<'_>,
    layout: &Layout,
    is_placed: &dyn Fn(usize) -> bool,
    index: usize,
) -> Vec<(i64, i64)> {
    let mut holes: Vec<(i64, i64)> = Vec::new();
    let mut forbid = |other: usize, gap: Gap| {
        let offset = layout.places[other].1;
        holes.push((offset - gap.below, offset + gap.above));
    };
    match model.neighbours() {
        Some(neighbours) => {
            for &(other, gap) in neighbours[index].iter().filter(|&&(other, _)| is_placed(other)) {
                forbid(other, gap);
            }
        }
        None => {
            for other in (0..model.items.len()).filter(|&other| is_placed(other)) {
                if let Some(gap) = model.gap(index, other) {
                    forbid(other, gap);
                }
            }
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
    let mut placed: Vec<Vec<usize>> = vec![Vec::new(); model.limits.len()];
    for index in Order::Start.items(model) {
        let item = &model.items[index];
        let lowest = |pool: PoolId| {
            let placed = &placed[pool.index()];
            match item.fixed {
                Some(_) => lowest_place(model, &layout, &|other| placed.contains(&other), index),
                None => Some(above_all(model, &layout, placed, index)),
            }
        };
        let place = place(model, item, lowest);
        let (pool, offset) = place.ok_or_else(|| PlanError::no_room(model, index))?;
        layout.places[index] = (pool, offset);
        placed[pool.index()].push(index);
    }
    Ok(layout)
}

/// The lowest aligned offset above all placed items that keeps every gap.
pub(super) fn above_all(model: &Model<'_>, layout: &Layout, placed: &[usize], index: usize) -> i64 {
    let above = |&other: &usize| {
        let end = layout.places[other].1 + model.items[other].extent;
        let gap = model.gap(index, other).map(|gap| layout.places[other].1 + gap.above);
        end.max(gap.unwrap_or(0))
    };
    let offset = placed.iter().map(above).max().unwrap_or(0);
    model.items[index].align(offset)
}
