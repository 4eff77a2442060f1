//! A good order of a section where the exact search did not end.
//!
//! From each of the best sets of done steps, one step is taken in all ways, and of
//! what is reached the best are kept: those with the lowest peak, then those with
//! the fewest bytes alive. The number kept is doubled until the effort is spent.

use std::collections::HashSet;

use super::position::Position;
use super::sections::Section;
use super::settle::settle;
use super::{Goal, Order};

/// The best order that the beams find; `None` where none reaches the goal. Ends
/// when `limit` steps have been tried in the section.
pub(super) fn search(section: &Section, goal: Goal, limit: u64) -> Option<Order> {
    let mut best: Option<Order> = None;
    let mut width = 1;
    loop {
        let below = best.as_ref().map_or(goal.below, |order| order.peak);
        if below <= goal.floor {
            return best;
        }
        let start = section.tried.get();
        best = sweep(section, Goal { below, ..goal }, width, limit).or(best);
        // A beam twice as wide takes twice the effort.
        let spent = section.tried.get() - start;
        if section.tried.get() + 2 * spent > limit {
            return best;
        }
        width *= 2;
    }
}

/// A set of done steps, and the best way found to it.
struct State<'s> {
    position: Position<'s>,
    order: Order,
}

/// A step from one of the states kept; the least is the best.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    peak: usize,
    live: usize,
    state: usize,
    step: usize,
}

fn sweep(section: &Section, mut goal: Goal, width: usize, limit: u64) -> Option<Order> {
    let order = Order { steps: Vec::new(), peak: goal.floor };
    let mut kept = vec![State { position: Position::start(section), order }];
    let mut best = None;
    while !kept.is_empty() && section.tried.get() <= limit {
        let mut candidates: Vec<Candidate> = kept.iter().enumerate().flat_map(candidates_of).collect();
        candidates.sort_unstable();
        let mut seen = HashSet::new();
        let mut reached = Vec::new();
        for candidate in &candidates {
            if candidate.peak >= goal.below || reached.len() == width {
                break;
            }
            let from = &kept[candidate.state];
            let mut done = from.position.done().clone();
            done.insert(candidate.step);
            if !seen.insert(done) {
                continue;
            }
            let state = from.after(candidate);
            if state.position.is_complete() {
                goal.below = candidate.peak;
                best = Some(state.order);
            } else {
                reached.push(state);
            }
        }
        kept = reached;
    }
    best
}

fn candidates_of<'a>((state, from): (usize, &'a State<'_>)) -> impl Iterator<Item = Candidate> + 'a {
    from.position.ready().iter().map(move |step| {
        let trial = from.position.try_step(step);
        Candidate { peak: from.order.peak.max(trial.load), live: trial.live, state, step }
    })
}

impl State<'_> {
    /// The state after a step, and after all that follow without a choice.
    fn after(&self, candidate: &Candidate) -> Self {
        let mut position = self.position.clone();
        position.section().count(position.section().steps.len());
        position.run(candidate.step);
        let mut steps = self.order.steps.clone();
        steps.push(candidate.step);
        steps.extend(settle(&mut position, candidate.peak));
        Self { position, order: Order { steps, peak: candidate.peak } }
    }
}
