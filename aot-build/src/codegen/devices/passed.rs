//! How methods of devices are given their operands: as slices, or where the CPU does not reach them,
//! by name.

use super::{Device, Devices};
use crate::config::Calls;
use crate::program::{Call, Step};

/// How a method is given an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codegen) enum Passed {
    /// All steps that call the method have it where the CPU reaches it.
    Slice,
    /// None of them has.
    Tensor,
    /// Some have, and some have not.
    Either,
}

impl<'m> Devices<'m> {
    /// The steps that devices of a kind run by methods of a trait, with what they call.
    pub(super) fn calls(&self, kind: &str) -> impl Iterator<Item = (&'m Step, &'m Call)> {
        let steps = self.model.compiled.program.steps.iter().flat_map(Step::with_nested);
        let calls = steps.filter_map(|step| Some((step, step.call()?)));
        calls.filter(move |(_, call)| {
            let is_of_kind = |device: &Device<'_>| device.calls == Calls::Direct && device.kind == kind;
            self.list.iter().any(|device| device.index == call.device && is_of_kind(device))
        })
    }

    /// How the method of a call is given each of its operands.
    pub(in crate::codegen) fn passed(&self, device: &Device<'_>, call: &Call) -> Vec<Passed> {
        let name = call.name();
        let steps: Vec<_> = self.calls(device.kind).filter(|(_, other)| other.name() == name).collect();
        let passed = |i: usize| {
            let is_away = |(step, _): &&(&Step, &Call)| {
                self.model.compiled.in_device_memory(step.operands[i]).is_some()
            };
            match steps.iter().filter(is_away).count() {
                0 => Passed::Slice,
                count if count == steps.len() => Passed::Tensor,
                _ => Passed::Either,
            }
        };
        (0..call.operands.len()).map(passed).collect()
    }
}
