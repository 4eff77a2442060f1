//! Which pool each item lies in, so that traffic costs least and all pools keep their
//! limits: every assignment of a small problem, the most profitable items first.

use std::cmp::Reverse;

use super::greedy::{self, Layout};
use super::model::{LARGEST, Model};
use super::optimal::{self, Goals};
use super::{PoolId, bounds};

/// Items with a choice of pools, at most; with more, greedy placement decides.
const MOST_ITEMS: usize = 24;

/// What became known of the assignments.
pub(super) struct Assigned {
    /// The cheapest layout found, if it costs less than the one there was.
    pub(super) layout: Option<Layout>,
    /// There is none that costs less, or none at all.
    pub(super) is_certain: bool,
}

/// Looks for a layout that costs less than `known`; takes what it visits from `nodes`.
pub(super) fn assign(model: &Model<'_>, known: Option<&Layout>, nodes: &mut u64) -> Assigned {
    let mut free: Vec<usize> = (0..model.items.len()).filter(|&i| model.items[i].pools.len() > 1).collect();
    if free.len() > MOST_ITEMS {
        return Assigned { layout: None, is_certain: false };
    }
    free.sort_by_key(|&item| Reverse(model.regret(item)));
    let mut search = Assignments {
        model,
        rest: rest(model, &free),
        pools: model.items.iter().map(|item| (item.pools.len() == 1).then(|| item.pools[0])).collect(),
        free,
        least: known.map_or(u128::MAX, |layout| model.cost(layout)),
        layout: None,
        is_certain: true,
        nodes,
    };
    let cost = search.pools.iter().enumerate();
    let cost = cost.filter_map(|(item, pool)| pool.map(|pool| model.cost_in(item, pool))).sum();
    search.extend(0, cost);
    Assigned { layout: search.layout, is_certain: search.is_certain }
}

/// From each position in `free` on: what the items cost in their cheapest pools.
fn rest(model: &Model<'_>, free: &[usize]) -> Vec<u128> {
    let mut rest = vec![0; free.len() + 1];
    for (position, &item) in free.iter().enumerate().rev() {
        let pools = model.items[item].pools.iter();
        rest[position] = rest[position + 1] + pools.map(|&pool| model.cost_in(item, pool)).min().unwrap_or(0);
    }
    rest
}

struct Assignments<'a> {
    model: &'a Model<'a>,
    free: Vec<usize>,
    rest: Vec<u128>,
    /// Of each item: its pool, if that is decided.
    pools: Vec<Option<PoolId>>,
    /// The cost of the best layout; none as dear is looked at.
    least: u128,
    layout: Option<Layout>,
    is_certain: bool,
    nodes: &'a mut u64,
}

impl Assignments<'_> {
    /// Decides on the free items from `next` on; those before it and all others cost `cost`.
    fn extend(&mut self, next: usize, cost: u128) {
        if cost + self.rest[next] >= self.least {
            return;
        }
        if *self.nodes == 0 {
            self.is_certain = false;
            return;
        }
        *self.nodes -= 1;
        let Some(&item) = self.free.get(next) else {
            return self.pack(cost);
        };
        for &pool in &self.model.items[item].pools {
            self.pools[item] = Some(pool);
            if self.may_fit(pool) {
                self.extend(next + 1, cost + self.model.cost_in(item, pool));
            }
        }
        self.pools[item] = None;
    }

    /// Whether the items of a pool are not known to exceed its limit.
    fn may_fit(&self, pool: PoolId) -> bool {
        let limit = self.model.limits[pool.index()];
        let chosen: Vec<usize> =
            (0..self.pools.len()).filter(|&item| self.pools[item] == Some(pool)).collect();
        let bound = || bounds::lower_bound(self.model, &chosen, &bounds::sections(self.model, &chosen));
        limit == LARGEST || bound() <= limit
    }

    /// Packs all pools, now that every item has one.
    fn pack(&mut self, cost: u128) {
        let assigned = self.model.assigned(&self.pools);
        let Ok((_, mut layout)) = greedy::best(&assigned) else {
            // Without limits, only items at fixed offsets are in each other's way.
            self.is_certain &= assigned.fixed_are_exact();
            return;
        };
        for (index, &limit) in self.model.limits.iter().enumerate() {
            let limit = usize::try_from(limit).ok();
            let goals = Goals { limit, enough: limit };
            let pool = optimal::improve(&assigned, &mut layout, PoolId(index), goals, self.nodes);
            if limit.is_some_and(|limit| pool.size > limit) {
                self.is_certain &= limit.is_some_and(|limit| pool.lower_bound > limit);
                return;
            }
        }
        self.least = cost;
        self.layout = Some(layout);
    }
}
