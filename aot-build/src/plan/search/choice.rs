//! Where to branch, and in which order to try what fits there.

use super::super::random::Random;
use super::component::Component;
use super::state::State;
use super::strategy::{ItemRank, SectionRank, Strategy};

/// Items that can lie at the floor of one section.
pub(super) struct Branching {
    /// The items to try, the first one last; of items that differ in nothing,
    /// one.
    pub(super) children: Vec<usize>,
    /// All of them.
    pub(super) candidates: Vec<usize>,
}

/// Chooses the section of a component to branch at, and orders its candidates.
///
/// `guide` holds the offsets of a packing that is a little too high.
pub(super) fn branch(
    state: &State<'_>,
    component: &Component,
    strategy: &Strategy,
    guide: &[i64],
    random: &mut Random,
) -> Option<Branching> {
    let section = choose_section(state, component, strategy.sections)?;
    let candidates: Vec<usize> = state.at_floor(section).collect();
    let mut ranked: Vec<(i64, i64, usize)> = Vec::with_capacity(candidates.len());
    for &item in &candidates {
        let rank = rank(state, item, strategy.items);
        let rank = rank.saturating_add(random.share(rank, strategy.noise));
        let guided = strategy.wander.map_or(0, |percent| guide[item] + random.share(state.capacity, percent));
        ranked.push((guided, -rank, item));
    }
    ranked.sort_unstable();
    let mut classes = Vec::with_capacity(ranked.len());
    let mut children = Vec::with_capacity(ranked.len());
    for (_, _, item) in ranked {
        let class = state.instance.class[item];
        if !classes.contains(&class) {
            classes.push(class);
            children.push(item);
        }
    }
    children.reverse();
    Some(Branching { children, candidates })
}

/// Of the sections whose floor is a local minimum, the one of least rank.
///
/// Only there is it certain that what is placed later lies higher. In a
/// neighbour of a lower section it could be certain too, but leaving those out
/// takes far fewer nodes.
fn choose_section(state: &State<'_>, component: &Component, rank: SectionRank) -> Option<usize> {
    let mut best: Option<(f64, usize)> = None;
    let mut section = component.first;
    let mut before = i64::MAX;
    while section < component.end {
        let first = section;
        let floor = state.floor(first);
        while section < component.end && state.floor(section) == floor {
            section += 1;
        }
        let after = if section < component.end { state.floor(section) } else { i64::MAX };
        if floor < before && floor < after && floor < i64::MAX {
            for section in first..section {
                if let Some(candidates) = grounded(state, section) {
                    let rank = section_rank(state, section, candidates, rank);
                    if best.is_none_or(|(least, _)| rank < least) {
                        best = Some((rank, section));
                    }
                }
            }
        }
        before = floor;
    }
    best.map(|(_, section)| section)
}

/// The number of items at the floor of a section, if none of them is in a
/// section whose floor is lower.
fn grounded(state: &State<'_>, section: usize) -> Option<i64> {
    // Items of consecutive sections cannot leave a local minimum.
    let scattered = &state.instance.scattered;
    let leaves = |item: usize| scattered[item] && !state.is_grounded(item);
    if state.instance.has_scattered && state.at_floor(section).any(leaves) {
        return None;
    }
    Some(state.standing(section))
}

fn section_rank(state: &State<'_>, section: usize, candidates: i64, rank: SectionRank) -> f64 {
    let slack = state.slack(section);
    // Lifting all candidates is a child only if something can lie below them.
    let children = (candidates + i64::from(slack >= state.instance.smallest)) as f64;
    let weight = state.failures[section] + 1.0;
    let level = state.floor(section) as f64;
    let slack = (slack as f64).min(900_000.0);
    match rank {
        SectionRank::Children => children * 1e6 + slack,
        SectionRank::Level => level * 1e8 + children * 1e6 + slack,
        SectionRank::Failures => children / weight,
        SectionRank::FailuresSquared => children / (weight * weight),
    }
}

fn rank(state: &State<'_>, item: usize, rank: ItemRank) -> i64 {
    let life = state.instance.life[item].len() as i64;
    let size = state.instance.extent[item];
    match rank {
        ItemRank::Life => life.saturating_mul(1_000_000).saturating_add(size),
        ItemRank::Size => size.saturating_mul(1_000).saturating_add(life),
        ItemRank::Conflicts => {
            let conflicts = state.instance.edges(item).count() as i64;
            let area = life.saturating_mul(size);
            conflicts.saturating_mul(1_000_000).saturating_add(area / 100)
        }
    }
}
