//! The walk over the search tree.
//!
//! The path is kept in a list, not on the call stack: a network of thousands
//! of tensors must not overflow the stack of the thread that compiles it.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::instance::Instance;
use super::state::{DeadEnd, State};
use super::strategy::{ItemRank, Random, SectionRank, Strategy};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// All items are placed.
    Found,
    /// There is no packing.
    Exhausted,
    /// The nodes ran out.
    OutOfNodes,
}

/// The search for one capacity; what has failed is kept from run to run.
pub(super) struct Tree<'a> {
    state: State<'a>,
    failed: HashSet<u128>,
    random: Random,
    scratch: Scratch,
}

/// States remembered as failed, at most.
const TABLE_LIMIT: usize = 4_000_000;

/// Items that depend on no other item, and the sections that they are in.
#[derive(Default)]
struct Component {
    items: Vec<usize>,
    sections: Vec<usize>,
}

/// A node of the current path.
struct Node {
    component: Component,
    key: u128,
    /// The trail when the node was opened.
    mark: usize,
    /// Items to try at `level`, the next one last.
    children: Vec<usize>,
    /// Items that the last child lifts; taken when it was tried.
    lifted: Option<Vec<usize>>,
    /// What the current child leaves to be solved.
    pending: Vec<Component>,
}

#[derive(Default)]
struct Scratch {
    seen_items: Vec<bool>,
    seen_sections: Vec<bool>,
    candidates: Vec<Option<u32>>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(instance: &'a Instance, capacity: i64) -> Self {
        let scratch = Scratch {
            seen_items: vec![false; instance.extent.len()],
            seen_sections: vec![false; instance.sections.len()],
            candidates: vec![None; instance.sections.len()],
        };
        Self { state: State::new(instance, capacity), failed: HashSet::new(), random: Random::new(), scratch }
    }

    /// Of each item: its offset, once a packing is found.
    pub(super) fn offsets(&self) -> &[i64] {
        &self.state.low
    }

    /// Searches from the start; returns the nodes visited too.
    pub(super) fn run(&mut self, strategy: &Strategy, limit: u64) -> (Verdict, u64) {
        for failures in &mut self.state.failures {
            *failures *= 0.9;
        }
        if self.state.reset().is_err() {
            return (Verdict::Exhausted, 0);
        }
        let all: Vec<usize> = (0..self.state.placed.len()).collect();
        let pending = self.components(&all);
        let root = Node {
            component: Component::default(),
            key: 0,
            mark: self.state.mark(),
            children: Vec::new(),
            lifted: None,
            pending,
        };
        let mut path = vec![root];
        let mut visited = 0;
        while let Some(node) = path.last_mut() {
            let Some(component) = node.pending.pop() else {
                path.pop();
                continue;
            };
            visited += 1;
            if visited > limit {
                return (Verdict::OutOfNodes, visited);
            }
            if let Some(node) = self.open(component, strategy) {
                path.push(node);
            }
            // A node whose children all failed fails its parent's child.
            while !path.last_mut().is_some_and(|node| self.next_child(node)) {
                let failed = path.pop();
                if path.is_empty() {
                    return (Verdict::Exhausted, visited);
                }
                if let Some(node) = failed {
                    self.remember(node.key);
                }
            }
        }
        (Verdict::Found, visited)
    }

    fn remember(&mut self, key: u128) {
        if self.failed.len() < TABLE_LIMIT {
            self.failed.insert(key);
        }
    }

    /// Chooses where to branch; `None` when the state is known to fail.
    fn open(&mut self, component: Component, strategy: &Strategy) -> Option<Node> {
        let key = self.key(&component);
        if self.failed.contains(&key) {
            return None;
        }
        let section = self.choose_section(&component, strategy)?;
        let candidates = self.candidates(section);
        let mut children: Vec<(i64, usize)> =
            candidates.iter().map(|&item| (self.rank(item, strategy), item)).collect();
        // The next child is taken from the end.
        children.sort_unstable_by_key(|&(rank, item)| (rank, Reverse(item)));
        let mut children: Vec<usize> = children.into_iter().map(|(_, item)| item).collect();
        let class = &self.state.instance.class;
        let mut kept = std::collections::BTreeSet::new();
        children.reverse();
        children.retain(|&item| kept.insert(class[item]));
        children.reverse();
        let mark = self.state.mark();
        Some(Node { component, key, mark, children, lifted: Some(candidates), pending: Vec::new() })
    }

    /// Moves on to the next child of a node that is not a dead end at once.
    fn next_child(&mut self, node: &mut Node) -> bool {
        loop {
            self.state.undo(node.mark);
            let outcome = if let Some(item) = node.children.pop() {
                self.state.place(item)
            } else if let Some(items) = node.lifted.take() {
                self.lift(&items)
            } else {
                return false;
            };
            if outcome.is_ok() {
                node.pending = self.components(&node.component.items);
                return true;
            }
        }
    }

    /// Lifts items from their lowest offsets to where something else can carry
    /// them.
    fn lift(&mut self, items: &[usize]) -> Result<(), DeadEnd> {
        let state = &mut self.state;
        let instance = state.instance;
        let support = |state: &State<'_>, item: usize| {
            let low = state.low[item];
            let loose = instance.loose[item].iter().filter(|edge| state.placed[edge.item]);
            let open = instance.edges[item].iter().filter(|edge| !state.placed[edge.item]);
            let carried = loose.chain(open).map(|edge| state.low[edge.item] + edge.gap.above);
            carried.filter(|&offset| offset > low).min()
        };
        let mut lifts = Vec::with_capacity(items.len());
        for &item in items {
            lifts.push((item, support(state, item).ok_or(DeadEnd)?));
        }
        for (item, offset) in lifts {
            state.raise(item, offset)?;
        }
        state.settle()
    }

    fn rank(&mut self, item: usize, strategy: &Strategy) -> i64 {
        let instance = self.state.instance;
        let life = instance.life[item].len() as i64;
        let size = instance.extent[item];
        let rank = match strategy.items {
            ItemRank::Life => life.saturating_mul(1_000_000).saturating_add(size),
            ItemRank::Size => size.saturating_mul(1_000).saturating_add(life),
            ItemRank::Conflicts => {
                let conflicts = instance.edges[item].len() as i64;
                conflicts.saturating_mul(1_000_000).saturating_add(life.saturating_mul(size) / 100)
            }
        };
        if strategy.noise == 0 {
            return rank;
        }
        let share = self.random.below(1_000) as f64 / 1_000.0 * (strategy.noise as f64 / 100.0);
        rank.saturating_add((rank as f64 * share) as i64)
    }

    /// Items not yet placed that can lie at the floor of a section.
    fn candidates(&self, section: usize) -> Vec<usize> {
        let state = &self.state;
        state.unplaced(section).filter(|&item| state.low[item] == state.floor[section]).collect()
    }

    /// The section to branch at: one whose candidates have no lower neighbour.
    fn choose_section(&mut self, component: &Component, strategy: &Strategy) -> Option<usize> {
        self.count_candidates(component);
        let mut best: Option<(f64, usize)> = None;
        for &section in &component.sections {
            if let Some(candidates) = self.scratch.candidates[section] {
                let rank = self.section_rank(section, candidates, strategy);
                if best.is_none_or(|(least, _)| rank < least) {
                    best = Some((rank, section));
                }
            }
        }
        best.map(|(_, section)| section)
    }

    /// Counts the candidates of each section; `None` where one of them has a
    /// lower neighbour.
    fn count_candidates(&mut self, component: &Component) {
        let (state, counts) = (&self.state, &mut self.scratch.candidates);
        for &section in &component.sections {
            counts[section] = Some(0);
        }
        for &item in &component.items {
            let life = &state.instance.life[item];
            let grounded = life.iter().all(|&(section, _)| state.floor[section] == state.low[item]);
            for &(section, _) in life {
                if grounded {
                    counts[section] = counts[section].map(|count| count + 1);
                } else if state.floor[section] == state.low[item] {
                    counts[section] = None;
                }
            }
        }
    }

    fn section_rank(&self, section: usize, candidates: u32, strategy: &Strategy) -> f64 {
        let state = &self.state;
        let slack = state.slack(section);
        let children = f64::from(candidates + u32::from(slack >= state.instance.smallest));
        let weight = state.failures[section] + 1.0;
        let level = state.floor[section] as f64;
        let slack = (slack as f64).min(900_000.0);
        match strategy.sections {
            SectionRank::Children => children * 1e6 + slack,
            SectionRank::Level => level * 1e8 + children * 1e6 + slack,
            SectionRank::Slack => slack * 1e3 + children,
            SectionRank::Failures => children / weight,
            SectionRank::FailuresSquared => children / (weight * weight),
        }
    }

    /// Divides the items not yet placed into parts that share no section, the
    /// smallest last.
    fn components(&mut self, items: &[usize]) -> Vec<Component> {
        let state = &self.state;
        let mut components: Vec<Component> = Vec::new();
        for &first in items {
            if state.placed[first] || self.scratch.seen_items[first] {
                continue;
            }
            self.scratch.seen_items[first] = true;
            let mut component = Component { items: vec![first], sections: Vec::new() };
            let mut next = 0;
            while let Some(&item) = component.items.get(next) {
                next += 1;
                for &(section, _) in &state.instance.life[item] {
                    if std::mem::replace(&mut self.scratch.seen_sections[section], true) {
                        continue;
                    }
                    component.sections.push(section);
                    for other in state.unplaced(section) {
                        if !std::mem::replace(&mut self.scratch.seen_items[other], true) {
                            component.items.push(other);
                        }
                    }
                }
            }
            components.push(component);
        }
        for component in &mut components {
            for &item in &component.items {
                self.scratch.seen_items[item] = false;
            }
            for &section in &component.sections {
                self.scratch.seen_sections[section] = false;
            }
            component.items.sort_unstable();
            component.sections.sort_unstable();
        }
        components.sort_by_key(|component| Reverse((component.sections.len(), component.items.len())));
        components
    }

    /// Names the state of a component: what is left, and how low it may lie.
    fn key(&self, component: &Component) -> u128 {
        let state = &self.state;
        let mut key = 0_u128;
        for &item in &component.items {
            let mut hash = mixed(item as u64, state.low[item] as u64);
            for edge in state.instance.loose[item].iter().filter(|edge| state.placed[edge.item]) {
                if state.low[edge.item] + edge.gap.above > state.low[item] {
                    hash ^= mixed(edge.item as u64, !(state.low[edge.item] as u64));
                }
            }
            key = key.wrapping_add(hash);
        }
        key
    }
}

/// Two numbers made one, with all bits depending on both.
fn mixed(a: u64, b: u64) -> u128 {
    let half = |seed: u64| {
        let mut x = a.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(seed) ^ b;
        for factor in [0xff51_afd7_ed55_8ccd_u64, 0xc4ce_b9fe_1a85_ec53] {
            x = (x ^ (x >> 33)).wrapping_mul(factor);
        }
        x ^ (x >> 33)
    };
    u128::from(half(1)) << 64 | u128::from(half(0x5851_f42d_4c95_7f2d))
}
