//! The walk over the search tree.
//!
//! The path is kept in a list, not on the call stack: a network of thousands
//! of tensors must not overflow the stack of the thread that compiles it.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use super::super::random::Random;
use super::choice;
use super::component::Component;
use super::instance::Instance;
use super::state::{DeadEnd, State};
use super::strategy::Strategy;

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

/// The search; what has failed is kept from run to run.
pub(super) struct Tree<'a> {
    state: State<'a>,
    failed: HashSet<u128, BuildHasherDefault<KeyHasher>>,
    /// Offsets of a packing that is a little too high.
    guide: Vec<i64>,
    random: Random,
}

/// States remembered as failed, at most: 64 MiB and what a hash table adds.
const TABLE_LIMIT: usize = 4_000_000;

/// Of failures counted in one run, the share that counts in the next.
const FADING: f64 = 0.9;

/// A node of the current path.
struct Node {
    component: Component,
    key: u128,
    /// The trail when the node was opened.
    mark: usize,
    /// Items to try at the floor, the next one last.
    children: Vec<usize>,
    /// Items that the last child lifts; gone once it was tried.
    candidates: Option<Vec<usize>>,
    /// What the current child leaves to be solved.
    pending: Vec<Component>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(instance: &'a Instance) -> Self {
        Self {
            state: State::new(instance, i64::MAX),
            failed: HashSet::default(),
            random: Random::new(),
            guide: Vec::new(),
        }
    }

    /// Sets what the next runs look for: a packing of at most `capacity`, like that of
    /// `guide`.
    pub(super) fn aim(&mut self, capacity: i64, guide: Vec<i64>) {
        // What fails within a capacity fails within any that is less.
        if capacity > self.state.capacity {
            self.failed.clear();
        }
        self.state.capacity = capacity;
        self.guide = guide;
    }

    /// Of each item: its offset, once a packing is found.
    pub(super) fn offsets(&self) -> &[i64] {
        self.state.lows()
    }

    /// Searches from the start; returns the nodes visited too.
    pub(super) fn run(&mut self, strategy: &Strategy, limit: u64) -> (Verdict, u64) {
        for failures in &mut self.state.failures {
            *failures *= FADING;
        }
        if self.state.reset().is_err() {
            return (Verdict::Exhausted, 0);
        }
        let mut path = vec![self.root()];
        let mut visited = 0;
        while let Some(node) = path.last_mut() {
            // All that a child left is solved: so is the node.
            let Some(component) = node.pending.pop() else {
                path.pop();
                continue;
            };
            if visited == limit {
                return (Verdict::OutOfNodes, visited);
            }
            visited += 1;
            path.extend(self.open(component, strategy));
            while !path.last_mut().is_some_and(|node| self.next_child(node)) {
                // All children failed: so does the node.
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

    /// The node above all others, with one child that places nothing.
    fn root(&self) -> Node {
        let component = Component::whole(self.state.instance);
        Node {
            pending: component.split(&self.state),
            component,
            key: 0,
            mark: self.state.mark(),
            children: Vec::new(),
            candidates: None,
        }
    }

    fn remember(&mut self, key: u128) {
        if self.failed.len() < TABLE_LIMIT {
            self.failed.insert(key);
        }
    }

    /// Chooses where to branch; `None` when the state is known to fail.
    fn open(&mut self, component: Component, strategy: &Strategy) -> Option<Node> {
        let key = self.state.key(&component.items);
        if self.failed.contains(&key) {
            return None;
        }
        let branching = choice::branch(&self.state, &component, strategy, &self.guide, &mut self.random)?;
        Some(Node {
            component,
            key,
            mark: self.state.mark(),
            children: branching.children,
            candidates: Some(branching.candidates),
            pending: Vec::new(),
        })
    }

    /// Moves on to the next child of a node that is not a dead end at once.
    fn next_child(&mut self, node: &mut Node) -> bool {
        loop {
            self.state.undo(node.mark);
            let outcome = if let Some(item) = node.children.pop() {
                self.state.place(item)
            } else if let Some(candidates) = node.candidates.take() {
                self.lift(&candidates)
            } else {
                return false;
            };
            if outcome.is_ok() {
                node.pending = node.component.split(&self.state);
                return true;
            }
        }
    }

    /// Lifts items from their lowest offsets to where something can carry them.
    fn lift(&mut self, items: &[usize]) -> Result<(), DeadEnd> {
        let carried: Option<Vec<i64>> = items.iter().map(|&item| self.state.next_support(item)).collect();
        for (&item, offset) in items.iter().zip(carried.ok_or(DeadEnd)?) {
            self.state.raise(item, offset)?;
        }
        self.state.settle()
    }
}

/// Keys are hashes already.
#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }
}
