//! How many results were at an end of what integers can hold.

use core::fmt;

use super::per_step::PerStep;
use super::{Elements, Instrument, StepInfo};

/// Counts the integer results of each step that are the least or the greatest number of their
/// type, int8 or int16: where many are, the scale of the tensor was chosen too small for what
/// the model sees.
///
/// What an activation limits is there on purpose: behind a `relu`, the least number usually
/// stands for 0.
///
/// ```
/// use aot_rt::{Elements, Instrument, Saturated, Saturation, StepInfo};
///
/// // As the compiler writes it; `Net::STEPS` of your model.
/// static STEPS: [StepInfo; 1] = [StepInfo {
///     index: 0,
///     name: "add_0",
///     operator: "add",
///     kernel: Some("add_i8"),
///     node: "sum",
///     macs: 0,
///     bytes: 12,
///     rows: 1,
///     device: None,
/// }];
///
/// let mut saturation = Saturation::new(&STEPS);
/// // What `net.run_with(&mut saturation, ..)` does:
/// saturation.after(&STEPS[0], &[Elements::I8(&[127, 3, -128, 127])]);
/// let (_, add) = saturation.steps().next().unwrap();
/// assert_eq!(add, Saturated { results: 4, least: 1, greatest: 2 });
/// assert_eq!(saturation.to_string(), "\
/// step       results        least     greatest
/// add_0            4            1            2
/// ");
/// ```
#[derive(Clone, Debug)]
pub struct Saturation<const STEPS: usize> {
    steps: PerStep<Saturated, STEPS>,
}

/// Results of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Saturated {
    /// All that are int8 or int16.
    pub results: u64,
    /// Those that are the least number, -128 or -32768.
    pub least: u64,
    /// Those that are the greatest number, 127 or 32767.
    pub greatest: u64,
}

impl Saturated {
    const NONE: Self = Self { results: 0, least: 0, greatest: 0 };

    fn count<T: Copy + PartialEq>(&mut self, results: &[T], [least, greatest]: [T; 2]) {
        for result in results {
            self.results = self.results.saturating_add(1);
            self.least = self.least.saturating_add((*result == least).into());
            self.greatest = self.greatest.saturating_add((*result == greatest).into());
        }
    }
}

impl<const STEPS: usize> Saturation<STEPS> {
    /// A counter for the model with these steps, `Net::STEPS`.
    #[must_use]
    pub const fn new(steps: &'static [StepInfo; STEPS]) -> Self {
        Self { steps: PerStep::new(steps, Saturated::NONE) }
    }

    /// Forgets what has been counted.
    pub fn reset(&mut self) {
        self.steps.fill(Saturated::NONE);
    }

    /// Each step with its results, in order, over all runs.
    pub fn steps(&self) -> impl Iterator<Item = (&'static StepInfo, Saturated)> + Clone {
        self.steps.iter()
    }
}

impl<const STEPS: usize> Instrument for Saturation<STEPS> {
    fn after(&mut self, step: &'static StepInfo, outputs: &[Elements<'_>]) {
        let Some(saturated) = self.steps.get_mut(step) else { return };
        for output in outputs {
            match output {
                Elements::I8(results) => saturated.count(results, [i8::MIN, i8::MAX]),
                Elements::I16(results) => saturated.count(results, [i16::MIN, i16::MAX]),
                _ => (),
            }
        }
    }
}

/// A line for each step that has int8 or int16 results.
impl<const STEPS: usize> fmt::Display for Saturation<STEPS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.steps.name_width("step");
        writeln!(f, "{:width$} {:>12} {:>12} {:>12}", "step", "results", "least", "greatest")?;
        for (step, Saturated { results, least, greatest }) in self.steps() {
            if results > 0 {
                writeln!(f, "{:width$} {results:>12} {least:>12} {greatest:>12}", step.name)?;
            }
        }
        Ok(())
    }
}
