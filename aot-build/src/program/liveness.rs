//! From which step to which a buffer holds something that is still needed.

use super::{BufferId, Program};

/// Steps `start..end` during which a buffer is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// The step that writes it first; 0 for inputs.
    pub start: usize,
    /// One past the step that uses it last; one past all steps for outputs.
    pub end: usize,
}

impl Program {
    /// The lifetime of every buffer.
    ///
    /// Operands of one step, or of one run, are alive together. Inputs are alive from the start,
    /// outputs and what can be read besides until after the end, states from the start until after the end.
    #[must_use]
    pub fn lifetimes(&self) -> Vec<Lifetime> {
        let mut lifetimes: Vec<Option<Lifetime>> = vec![None; self.buffers.len()];
        let mut touch = |BufferId(id): BufferId, step: usize| {
            let lifetime = lifetimes[id].get_or_insert(Lifetime { start: step, end: step + 1 });
            lifetime.start = lifetime.start.min(step);
            lifetime.end = lifetime.end.max(step + 1);
        };
        for port in &self.inputs {
            touch(port.view.buffer, 0);
        }
        for (i, step) in self.steps.iter().enumerate() {
            // The steps of a run are one.
            let steps = self.layer(i).map_or(i..i + 1, |(run, _)| run.steps());
            for (view, _) in step.buffers() {
                touch(view.buffer, steps.start);
                touch(view.buffer, steps.end - 1);
            }
        }
        for port in self.results() {
            touch(port.view.buffer, self.steps.len());
        }
        for state in &self.states {
            touch(state.view.buffer, 0);
            touch(state.view.buffer, self.steps.len());
        }
        lifetimes.into_iter().map(|lifetime| lifetime.unwrap_or(Lifetime { start: 0, end: 0 })).collect()
    }
}
