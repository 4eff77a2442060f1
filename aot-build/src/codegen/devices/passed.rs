//! How methods of devices are given their operands: as slices, or where the CPU does not reach them,
//! by name.

use std::collections::btree_map::{BTreeMap, Entry};

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

/// By kind of device and name of the method.
pub(super) type Operands<'m> = BTreeMap<(&'m str, String), Vec<Passed>>;

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
        self.operands.get(&(device.kind, call.name())).cloned().unwrap_or_default()
    }

    /// How all methods are given their operands.
    pub(super) fn find_operands(&mut self) {
        let mut operands = Operands::new();
        for kind in self.list.iter().map(|device| device.kind) {
            for (step, call) in self.calls(kind) {
                let of_step = step.operands.iter().map(|operand| {
                    let is_away = self.model.compiled.in_device_memory(*operand).is_some();
                    if is_away { Passed::Tensor } else { Passed::Slice }
                });
                match operands.entry((kind, call.name())) {
                    Entry::Vacant(entry) => drop(entry.insert(of_step.collect())),
                    Entry::Occupied(mut entry) => {
                        let known = entry.get_mut().iter_mut().zip(of_step);
                        known
                            .filter(|(known, new)| **known != *new)
                            .for_each(|(known, _)| *known = Passed::Either);
                    }
                }
            }
        }
        self.operands = operands;
    }
}
