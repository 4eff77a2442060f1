//! Steps that run together, row by row.

use std::ops::Range;

use aot_rt::kernels::RowLayer;

use super::{BufferId, Lifetime, Program, View};
use crate::plan::Gap;

/// Steps that run together, row by row; rings of rows lie between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first of the steps.
    pub first: usize,
    /// A layer for each of them.
    pub layers: Vec<Layer>,
    /// How far results of the run may grow into its operands.
    pub overlaps: Vec<RunOverlap>,
}

/// A step of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Its rows, and what they need.
    pub rows: RowLayer,
    /// Rows that there is room for, of the operands 0, 1 and 2: `x`, `y` and the second
    /// operand of a sum.
    pub rings: [usize; 3],
}

/// A result of a run that may grow into an operand that dies in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOverlap {
    /// The operand.
    pub operand: BufferId,
    /// The result.
    pub result: BufferId,
    /// Bytes that the result must start below the operand.
    pub distance: i64,
}

/// An input that the caller pushes in rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// Its rows.
    pub rows: usize,
    /// Rows that there is room for.
    pub ring: usize,
}

impl Run {
    /// The steps.
    #[must_use]
    pub fn steps(&self) -> Range<usize> {
        self.first..self.first + self.layers.len()
    }

    /// The pairs of an operand and a result that may overlap, and the gap that the result
    /// and the operand keep.
    pub(crate) fn gaps(
        &self,
        program: &Program,
        lifetimes: &[Lifetime],
    ) -> impl Iterator<Item = ([BufferId; 2], Gap)> {
        let steps = self.steps();
        let overlaps = self.overlaps.iter().filter(move |overlap| {
            let (operand, result) = (lifetimes[overlap.operand.0], lifetimes[overlap.result.0]);
            // A step hands out its regions together: they must not overlap there.
            let uses = |view: View, id: BufferId| view.buffer == id;
            let apart = program.steps[steps.clone()].iter().all(|step| {
                let both = [overlap.operand, overlap.result];
                !both.iter().all(|id| step.buffers().any(|(view, _)| uses(view, *id)))
            });
            let planned = [overlap.operand, overlap.result].iter().all(|id| program.in_workspace(*id));
            planned && apart && operand.end <= steps.end && result.start >= steps.start
        });
        overlaps.map(|overlap| {
            let above = program.buffer(overlap.operand).bytes as i64;
            ([overlap.operand, overlap.result], Gap { below: overlap.distance, above })
        })
    }
}

impl Program {
    /// The run that a step is in, and its layer there.
    pub(crate) fn layer(&self, step: usize) -> Option<(&Run, &Layer)> {
        let after = self.runs.partition_point(|run| run.first <= step);
        let run = &self.runs[after.checked_sub(1)?];
        Some((run, run.layers.get(step - run.first)?))
    }
}
