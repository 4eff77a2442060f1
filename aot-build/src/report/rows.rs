//! What running row by row costs.

use serde::Serialize;

use super::spaced;
use crate::program::{Program, Run};

/// Steps that run together, row by row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunReport {
    /// Position of the first step.
    pub first_step: usize,
    /// Position of the last step.
    pub last_step: usize,
    /// Bytes of their weights and other constants.
    pub weight_bytes: usize,
    /// Bytes of these that a run reads: those of a layer once for each of its rows.
    pub weight_bytes_read: usize,
}

impl RunReport {
    /// All of a program.
    pub(super) fn all(program: &Program) -> Vec<Self> {
        program.runs.iter().map(|run| Self::new(program, run)).collect()
    }

    fn new(program: &Program, run: &Run) -> Self {
        let steps = run.steps();
        let weights = || program.steps[steps.clone()].iter().map(|step| step.constant_bytes());
        let rows = run.layers.iter().map(|layer| layer.rows.rows);
        Self {
            first_step: steps.start,
            last_step: steps.end - 1,
            weight_bytes: weights().sum(),
            weight_bytes_read: weights().zip(rows).map(|(bytes, rows)| bytes * rows).sum(),
        }
    }

    /// `steps 0 to 4 run row by row; they read 12 000 bytes of weights, once a row: 96 000`.
    pub(super) fn in_words(&self) -> String {
        let Self { first_step, last_step, weight_bytes, weight_bytes_read } = self;
        let steps = if first_step == last_step {
            format!("step {first_step} runs")
        } else {
            format!("steps {first_step} to {last_step} run")
        };
        let (once, read) = (spaced(weight_bytes), spaced(weight_bytes_read));
        format!("{steps} row by row and read {once} bytes of weights as {read}, those of a layer once a row")
    }
}
