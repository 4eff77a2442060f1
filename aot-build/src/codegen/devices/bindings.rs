//! Kernels of devices that are bound by name.

use std::collections::BTreeSet;

use super::{Device, Devices};
use crate::codegen::literal::integer;
use crate::codegen::writer::{CALL_WIDTH, Code};
use crate::config::Calls;
use crate::program::Step;

impl Devices<'_> {
    /// The functions that bind them.
    pub(super) fn bindings(&self, code: &mut Code) {
        let bound: Vec<_> = self.list.iter().filter(|device| device.calls == Calls::Registry).collect();
        if bound.is_empty() {
            return;
        }
        // Any type does: they belong to no devices that there are already.
        let types = self.each(|_| "()".to_owned());
        code.blank();
        code.block(format!("impl {}{types} {{", self.holder()), "}", |code| {
            for (i, device) in bound.into_iter().enumerate() {
                if i > 0 {
                    code.blank();
                }
                self.binding(code, device);
            }
        });
    }

    fn binding(&self, code: &mut Code, device: &Device<'_>) {
        let names: Vec<_> = self.called(device).iter().map(|name| format!("{name:?}")).collect();
        let len = integer(names.len());
        code.doc(format!(
            "A driver for device `{}`: `device`, and for each kernel the function of the first of\n\
             `tables` that has its name.\n\n\
             # Errors\n\n\
             When kernels are in no table: their names.",
            device.name
        ));
        code.block(
            format!("pub fn bind_{}<D: ::aot_rt::Device>(", device.name),
            ") -> ::core::result::Result<",
            |code| {
                code.line("device: D,");
                code.line("tables: &[&[::aot_rt::DeviceEntry<D>]],");
            },
        );
        code.line(format!("    ::aot_rt::BoundDevice<D, {len}>,"));
        code.line(format!("    ::aot_rt::Missing<{len}>,"));
        code.block("> {", "}", |code| {
            code.list("let names = [", &names, "];", CALL_WIDTH);
            code.line("::aot_rt::BoundDevice::bind(device, names, tables)");
        });
    }

    /// Names of what steps call on a device.
    fn called(&self, device: &Device<'_>) -> BTreeSet<String> {
        let steps = self.model.compiled.program.steps.iter().flat_map(Step::with_nested);
        let calls = steps.filter_map(|step| step.call().filter(|call| call.device == device.index));
        calls.map(crate::program::Call::name).collect()
    }
}
