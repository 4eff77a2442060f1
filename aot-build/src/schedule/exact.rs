//! The best order of a section, by best-first search over the sets of done steps.
//!
//! The peak of a way to a set is the largest load on it. Sets are looked at in the
//! order of their peaks, so the first way found to the set of all steps has the
//! least.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::rc::Rc;

use super::position::Position;
use super::sections::Section;
use super::settle::settle;
use super::step_set::StepSet;
use super::{Goal, Order};

/// What came of the search.
pub(super) enum Outcome {
    /// An order whose peak is the least, or at the goal's floor.
    Least(Order),
    /// No order has a peak below what the goal asks for.
    NoneBetter,
    /// The limit ended the search.
    Unknown {
        /// No order has a lower peak.
        lower_bound: usize,
    },
}

/// Looks for the best order until `limit` steps have been tried in the section.
pub(super) fn search(section: &Section, goal: Goal, limit: u64) -> Outcome {
    let mut search = Search::new(section, goal);
    while let Some(Reverse(Entry { peak, node, .. })) = search.queue.pop() {
        if section.tried.get() > limit {
            return Outcome::Unknown { lower_bound: peak };
        }
        let state = Rc::clone(&search.nodes[node].state);
        if search.peaks.get(&state).is_some_and(|best| *best < peak) {
            // Reached on a better way since.
            continue;
        }
        search.position.go_to(&state);
        search.nodes[node].steps.extend(settle(&mut search.position, peak));
        if search.position.is_complete() {
            return Outcome::Least(Order { steps: search.steps_to(node), peak });
        }
        if *search.position.done() == *state || search.reach(peak) {
            search.expand(node, peak);
        }
    }
    Outcome::NoneBetter
}

/// A set of done steps that was reached.
struct Node {
    state: Rc<StepSet>,
    /// The node that it was reached from.
    parent: usize,
    /// The steps from there on, and those that were taken here without a choice.
    steps: Vec<usize>,
}

/// A node to look at; the least comes first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    peak: usize,
    /// Of equal peaks, the one that is nearest to the end.
    steps_done: Reverse<usize>,
    live: usize,
    node: usize,
}

struct Search<'s> {
    goal: Goal,
    position: Position<'s>,
    nodes: Vec<Node>,
    queue: BinaryHeap<Reverse<Entry>>,
    /// The least peak with which each set was reached.
    peaks: HashMap<Rc<StepSet>, usize>,
}

impl<'s> Search<'s> {
    fn new(section: &'s Section, goal: Goal) -> Self {
        let position = Position::start(section);
        let state = Rc::new(position.done().clone());
        let entry = Entry { peak: goal.floor, steps_done: Reverse(0), live: position.live(), node: 0 };
        Self {
            goal,
            position,
            nodes: vec![Node { state: Rc::clone(&state), parent: 0, steps: Vec::new() }],
            queue: BinaryHeap::from([Reverse(entry)]),
            peaks: HashMap::from([(state, goal.floor)]),
        }
    }

    /// Notes that the present set can be reached with this peak; `false` when it
    /// has been reached with as little.
    fn reach(&mut self, peak: usize) -> bool {
        let state = self.position.done();
        match self.peaks.get_mut(state) {
            Some(best) if *best <= peak => false,
            Some(best) => {
                *best = peak;
                true
            }
            None => {
                self.peaks.insert(Rc::new(state.clone()), peak);
                true
            }
        }
    }

    /// Queues all sets that are one step away.
    fn expand(&mut self, parent: usize, peak: usize) {
        let mut state = self.position.done().clone();
        for step in self.position.ready().iter() {
            let trial = self.position.try_step(step);
            let peak = peak.max(trial.load);
            if peak >= self.goal.below {
                continue;
            }
            state.insert(step);
            let best = self.peaks.get_mut(&state);
            if best.as_ref().is_none_or(|best| **best > peak) {
                let state = Rc::new(state.clone());
                self.peaks.insert(Rc::clone(&state), peak);
                let node = self.nodes.len();
                self.nodes.push(Node { state, parent, steps: vec![step] });
                let steps_done = Reverse(self.position.steps_done() + 1);
                self.queue.push(Reverse(Entry { peak, steps_done, live: trial.live, node }));
            }
            state.remove(step);
        }
    }

    /// The steps on the way to a node.
    fn steps_to(&self, node: usize) -> Vec<usize> {
        let parent = |node: &usize| (*node != 0).then(|| self.nodes[*node].parent);
        let mut nodes: Vec<usize> = std::iter::successors(Some(node), parent).collect();
        nodes.reverse();
        nodes.iter().flat_map(|node| &self.nodes[*node].steps).copied().collect()
    }
}
