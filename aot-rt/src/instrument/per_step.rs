//! A value for each step of a model.

use super::StepInfo;

/// The steps of a model, and a value for each.
#[derive(Clone, Debug)]
pub(super) struct PerStep<T, const STEPS: usize> {
    steps: &'static [StepInfo; STEPS],
    values: [T; STEPS],
}

impl<T: Copy, const STEPS: usize> PerStep<T, STEPS> {
    pub(super) const fn new(steps: &'static [StepInfo; STEPS], value: T) -> Self {
        Self { steps, values: [value; STEPS] }
    }

    pub(super) fn fill(&mut self, value: T) {
        self.values = [value; STEPS];
    }

    /// The value of `step`; `None` for a step of another model.
    pub(super) fn get_mut(&mut self, step: &'static StepInfo) -> Option<&mut T> {
        let own = self.steps.get(step.index)?;
        if core::ptr::eq(own, step) { self.values.get_mut(step.index) } else { None }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static StepInfo, T)> + Clone {
        self.steps.iter().zip(self.values.iter().copied())
    }

    /// The length of the longest name, and of `title`.
    pub(super) fn name_width(&self, title: &str) -> usize {
        self.steps.iter().fold(title.len(), |width, step| width.max(step.name.len()))
    }
}
