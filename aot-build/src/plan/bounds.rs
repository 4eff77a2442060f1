//! Lower bounds: what no plan can go below.
//!
//! The bytes of buffers that exclude each other add up. The largest such sum
//! over the steps is the *load*; over declared conflicts it is the weight of a
//! clique. Where a pair may share bytes, the most that it can share is taken
//! off; where all offsets are multiples of a grain, sizes are rounded up.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{Clique, Model};
use super::problem::{BufferId, Gap};

/// Buffers that exclude each other, seen as items.
#[derive(Clone, Debug)]
pub(super) struct Section {
    buffers: Clique,
    /// The items, and how many bytes of each are needed.
    pub(super) items: Vec<(usize, i64)>,
    /// Every item starts at a multiple of this.
    pub(super) grain: i64,
}

impl Section {
    fn new(model: &Model<'_>, buffers: Clique) -> Self {
        let items = model.weights(&buffers);
        let whole = |&(item, weight): &(usize, i64)| model.items[item].extent == weight;
        // The bytes of a part need not start where its item does.
        let grain = if items.iter().all(whole) {
            items.iter().map(|&(item, _)| model.items[item].alignment).min().unwrap_or(1)
        } else {
            1
        };
        Self { buffers, items, grain }
    }

    /// Pairs of items that may share bytes, with the most that they can share.
    pub(super) fn savings(&self, model: &Model<'_>) -> Vec<(usize, usize, i64)> {
        let mut savings: BTreeMap<(usize, usize), i64> = BTreeMap::new();
        for &(first, second, gap) in &model.overlaps {
            if self.buffers.binary_search(&first).is_ok() && self.buffers.binary_search(&second).is_ok() {
                let (a, b) = (model.home(first).0, model.home(second).0);
                let saving = shared_at_most(model.size(first), model.size(second), gap, self.grain);
                *savings.entry((a.min(b), a.max(b))).or_default() += saving;
            }
        }
        savings.into_iter().map(|((a, b), saving)| (a, b, saving)).collect()
    }

    /// Bytes from the lowest of its items to the end of the highest, at least.
    fn bound(&self, model: &Model<'_>) -> i64 {
        let mut savings = self.savings(model);
        let mut items = self.items.clone();
        let mut best = self.sum(&items) - savings.iter().map(|saving| saving.2).sum::<i64>();
        // Without the lighter of a pair that may share bytes, the others add up.
        let weight = |items: &[(usize, i64)], item| {
            items.iter().find(|entry| entry.0 == item).map_or(0, |entry| entry.1)
        };
        while let Some(&(a, b, _)) = savings.first() {
            let lighter = if weight(&items, a) < weight(&items, b) { a } else { b };
            items.retain(|entry| entry.0 != lighter);
            savings.retain(|saving| saving.0 != lighter && saving.1 != lighter);
            best = best.max(self.sum(&items) - savings.iter().map(|saving| saving.2).sum::<i64>());
        }
        best
    }

    /// The sum of weights, all but the highest rounded up to the grain.
    fn sum(&self, items: &[(usize, i64)]) -> i64 {
        let sum: i64 = items.iter().map(|&(_, weight)| rounded(weight, self.grain)).sum();
        let padding = items.iter().map(|&(_, weight)| rounded(weight, self.grain) - weight).max();
        sum - padding.unwrap_or(0)
    }
}

/// `bytes` rounded up to a multiple of the power of two `grain`.
pub(super) fn rounded(bytes: i64, grain: i64) -> i64 {
    (bytes + grain - 1) & -grain
}

/// The most bytes that two buffers share when they keep `gap` and all offsets
/// are multiples of `grain`.
pub(super) fn shared_at_most(first: i64, second: i64, gap: Gap, grain: i64) -> i64 {
    let (first, second) = (rounded(first, grain), rounded(second, grain));
    let shared =
        |lower: i64, upper: i64, distance: i64| (lower - rounded(distance, grain)).clamp(0, lower.min(upper));
    shared(first, second, gap.below).max(shared(second, first, gap.above))
}

/// Conflicts, counted from both sides, up to which a pool is searched: above, one
/// visit to a node costs more than all of a plan should, and the sections have as many
/// members.
const MOST_CONFLICTS: i64 = 8_000_000;

/// Whether the items `chosen` are few enough to be searched.
pub(super) fn is_searchable(model: &Model<'_>, chosen: &[usize]) -> bool {
    chosen.iter().map(|&item| model.conflicts()[item]).sum::<i64>() <= MOST_CONFLICTS
}

/// Sections of the items `chosen` that together hold every pair in conflict. Where those
/// are too many to be searched, only some that bound the size.
pub(super) fn sections(model: &Model<'_>, chosen: &[usize]) -> Vec<Section> {
    let live_sets = model.live_sets(is_searchable(model, chosen));
    let chosen: BTreeSet<usize> = chosen.iter().copied().collect();
    let mut cliques: Vec<Clique> = Vec::new();
    for mut clique in live_sets.into_iter().chain(declared_cliques(model)) {
        clique.retain(|&buffer| chosen.contains(&model.home(buffer).0));
        let contained = |other: &Clique| clique.iter().all(|buffer| other.binary_search(buffer).is_ok());
        // Neighbours in time are the ones that lose what made them different.
        if clique.is_empty() || cliques.last().is_some_and(contained) {
            continue;
        }
        while cliques
            .last()
            .is_some_and(|last| last.iter().all(|buffer| clique.binary_search(buffer).is_ok()))
        {
            cliques.pop();
        }
        cliques.push(clique);
    }
    cliques.into_iter().map(|clique| Section::new(model, clique)).collect()
}

/// Cliques that hold every pair that conflicts by declaration alone.
fn declared_cliques(model: &Model<'_>) -> Vec<Clique> {
    let mut neighbours: BTreeMap<BufferId, BTreeSet<BufferId>> = BTreeMap::new();
    let mut open: BTreeSet<(BufferId, BufferId)> = BTreeSet::new();
    for (first, second, gap) in model.problem.gaps() {
        if gap.below.saturating_add(gap.above) > 1 && model.size(first) > 0 && model.size(second) > 0 {
            neighbours.entry(first).or_default().insert(second);
            neighbours.entry(second).or_default().insert(first);
            if !model.alive_together(first, second) {
                open.insert((first, second));
            }
        }
    }
    let mut cliques = Vec::new();
    while let Some(&(first, second)) = open.first() {
        let mut clique = BTreeSet::from([first, second]);
        let mut common: Vec<BufferId> =
            neighbours[&first].intersection(&neighbours[&second]).copied().collect();
        common.sort_by_key(|&buffer| -model.size(buffer));
        for buffer in common {
            if clique.iter().all(|member| neighbours[&buffer].contains(member)) {
                clique.insert(buffer);
            }
        }
        for &buffer in &clique {
            for &other in clique.range(buffer..).skip(1) {
                open.remove(&(buffer, other));
            }
        }
        cliques.push(clique.into_iter().collect());
    }
    cliques
}

/// Bytes that a pool needs at least for the items of `sections`, all of which
/// are among `chosen`.
pub(super) fn lower_bound(model: &Model<'_>, chosen: &[usize], sections: &[Section]) -> i64 {
    let highest = |&index: &usize| {
        let item = &model.items[index];
        if item.extent == 0 { 0 } else { item.fixed.unwrap_or(0) + item.extent }
    };
    let items = chosen.iter().map(highest).max().unwrap_or(0);
    sections.iter().map(|section| section.bound(model)).fold(items, i64::max)
}
