//! `aot run --trace`: a checksum of what each step wrote, as `aot_rt::Checksums` has them on a
//! target.

use std::collections::HashMap;

use aot_build::program::Step;
use aot_rt::Checksum;
use serde::Serialize;

use crate::console::Console;

/// The checksums, in the order in which the steps ran first.
#[derive(Default)]
pub(crate) struct Trace {
    steps: Vec<TracedStep>,
    /// Where a step is among them.
    positions: HashMap<String, usize>,
}

/// A step that ran.
#[derive(Serialize)]
pub(crate) struct TracedStep {
    step: String,
    #[serde(serialize_with = "digits")]
    checksum: Checksum,
}

fn digits<S: serde::Serializer>(checksum: &Checksum, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(checksum)
}

impl Trace {
    pub(crate) fn observe(&mut self, step: &Step, written: &[&[u8]]) {
        let position = *self.positions.entry(step.name.clone()).or_insert_with(|| {
            self.steps.push(TracedStep { step: step.name.clone(), checksum: Checksum::START });
            self.steps.len() - 1
        });
        let checksum = &mut self.steps[position].checksum;
        *checksum = written.iter().fold(*checksum, |sum, bytes| sum.bytes(bytes));
    }

    pub(crate) fn into_steps(self) -> Vec<TracedStep> {
        self.steps
    }
}

pub(crate) fn print(steps: &[TracedStep], console: &mut Console) -> std::io::Result<()> {
    let width = steps.iter().map(|step| step.step.len()).max().unwrap_or(0);
    steps.iter().try_for_each(|TracedStep { step, checksum }| {
        console.print(format_args!("{step:width$}  {checksum}\n"))
    })
}
