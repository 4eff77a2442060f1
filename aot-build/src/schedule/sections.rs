//! Divides a problem where every order passes.
//!
//! A step that comes before or after every other is at the same place in all
//! orders, and the same steps are done when its turn comes. What is before it, the
//! step itself, and what is after it are problems of their own: the peak of the
//! whole is the largest of theirs.

use std::cell::Cell;
use std::ops::Range;

use super::problem::{Problem, Share, Span};

/// The ranges of the given order that may be ordered one by one.
pub(super) fn divide(problem: &Problem) -> Vec<Range<usize>> {
    let steps = problem.steps.len();
    let mut cuts = vec![0];
    for fixed in fixed_steps(problem) {
        cuts.extend([fixed, fixed + 1]);
    }
    cuts.push(steps);
    cuts.dedup();
    cuts.windows(2).map(|cut| cut[0]..cut[1]).collect()
}

/// The steps that come after all before them in the given order, and before all
/// after them.
fn fixed_steps(problem: &Problem) -> Vec<usize> {
    let steps = problem.steps.len();
    // The nearest step that must come after each.
    let mut follower = vec![usize::MAX; steps];
    for (position, step) in problem.steps.iter().enumerate() {
        for &before in &step.after {
            follower[before] = follower[before].min(position);
        }
    }
    // All before a step lead to it when each has a follower that is not beyond it.
    let mut leads = vec![true; steps];
    let mut farthest = 0;
    for position in 0..steps {
        leads[position] = farthest <= position;
        farthest = farthest.max(follower[position]);
    }
    // And all after it follow from it when each comes after one that is not before it.
    let mut fixed = Vec::new();
    let mut earliest = usize::MAX;
    for (position, step) in problem.steps.iter().enumerate().rev() {
        if leads[position] && earliest >= position {
            fixed.push(position);
        }
        // Nothing is fixed before a step that waits for none.
        let Some(&last) = step.after.iter().max() else { break };
        earliest = earliest.min(last);
    }
    fixed.reverse();
    fixed
}

/// A range of steps with what is alive around it, prepared for the search.
/// Positions of steps and tensors count from the start of the section.
#[derive(Debug)]
pub(super) struct Section {
    /// Bytes that are alive all the time and that no step touches.
    pub(super) resident: usize,
    pub(super) tensors: Vec<SectionTensor>,
    pub(super) steps: Vec<SectionStep>,
    /// Steps tried so far, and steps of states copied or built again: the effort of
    /// the search.
    pub(super) tried: Cell<u64>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct SectionTensor {
    pub(super) bytes: usize,
    /// Alive when the section starts.
    pub(super) before: bool,
    /// Alive when the section ends.
    pub(super) after: bool,
    /// Number of steps that use it.
    pub(super) uses: u32,
}

#[derive(Debug)]
pub(super) struct SectionStep {
    /// The tensors that it reads or writes.
    pub(super) tensors: Vec<usize>,
    pub(super) scratch: usize,
    pub(super) shares: Vec<Share>,
    /// Number of steps that must come before it.
    pub(super) waits_for: u32,
    /// The steps that must come after it.
    pub(super) successors: Vec<usize>,
}

impl SectionStep {
    /// Bytes that its result shares with an operand where that is possible.
    pub(super) fn most_shared(&self) -> usize {
        self.shares.iter().map(|share| share.bytes).max().unwrap_or(0)
    }
}

impl Section {
    pub(super) fn new(problem: &Problem, spans: &[Span], range: Range<usize>) -> Self {
        let Range { start, end } = range;
        let used: Vec<Vec<usize>> = problem.steps[range].iter().map(super::Step::tensors).collect();
        let mut ids = used.concat();
        ids.sort_unstable();
        ids.dedup();

        let before = |id: usize| problem.tensors[id].input || spans[id].first.is_some_and(|at| at < start);
        let after = |id: usize| problem.tensors[id].output || spans[id].last.is_some_and(|at| at >= end);
        let mut tensors: Vec<SectionTensor> = ids
            .iter()
            .map(|&id| SectionTensor {
                bytes: problem.tensors[id].bytes,
                before: before(id),
                after: after(id),
                uses: 0,
            })
            .collect();
        let around = (0..problem.tensors.len()).filter(|&id| before(id) && after(id));
        let resident = around.filter(|id| ids.binary_search(id).is_err()).map(|id| problem.tensors[id].bytes);
        let resident = resident.sum();

        // What a step uses is in `ids`.
        let local = |id: &usize| ids.partition_point(|other| other < id);
        let mut steps: Vec<SectionStep> = Vec::new();
        for (step, used) in problem.steps[start..end].iter().zip(&used) {
            let used: Vec<usize> = used.iter().map(local).collect();
            used.iter().for_each(|tensor| tensors[*tensor].uses += 1);
            let mut inside: Vec<usize> =
                step.after.iter().filter_map(|before| before.checked_sub(start)).collect();
            inside.sort_unstable();
            inside.dedup();
            let position = steps.len();
            inside.iter().for_each(|before| steps[*before].successors.push(position));
            let shares = step.shares.iter().filter(|share| {
                step.reads.contains(&share.read)
                    && step.writes.contains(&share.written)
                    && share.read != share.written
            });
            let shares = shares.map(|share| {
                let [read, written] = [local(&share.read), local(&share.written)];
                let most = tensors[read].bytes.min(tensors[written].bytes);
                Share { read, written, bytes: share.bytes.min(most) }
            });
            let shares = shares.collect();
            let waits_for = inside.len() as u32;
            steps.push(SectionStep {
                tensors: used,
                scratch: step.scratch,
                shares,
                waits_for,
                successors: Vec::new(),
            });
        }
        Self { resident, tensors, steps, tried: Cell::new(0) }
    }

    /// Adds to the effort.
    pub(super) fn count(&self, steps: usize) {
        self.tried.set(self.tried.get() + steps as u64);
    }
}
