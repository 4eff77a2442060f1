//! Tensors in memory of devices that the CPU does not reach: what steps name them by, and the steps
//! that copy to it and from it.

use aot_rt::{Access, DType};

use super::devices::{Device, Passed};
use super::literal::integer;
use super::sites::Site;
use super::steps::{Argument, Place, Steps, description};
use super::writer::{CALL_WIDTH, Code};
use crate::program::Transfer;

/// Elements in such memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeviceRegion<'m> {
    pub(super) pool: &'m str,
    pub(super) dtype: DType,
    /// First byte in the pool.
    pub(super) offset: usize,
    pub(super) len: usize,
}

impl DeviceRegion<'_> {
    /// Names the tensor.
    pub(super) fn bind(&self, code: &mut Code, name: &str) {
        let open = format!("let {name} = DeviceTensor::of::<{}>(", self.dtype.rust_type());
        let arguments = [format!("{:?}", self.pool), integer(self.offset), integer(self.len)];
        code.list(&open, &arguments, ");", CALL_WIDTH);
    }
}

impl<'m> Steps<'m> {
    /// The function of a step that copies.
    pub(super) fn transfer_function(
        &mut self,
        code: &mut Code,
        site: Site<'m>,
        device: &Device<'_>,
        transfer: Transfer,
    ) {
        code.doc(format!("{} By `{}`.", description(site.step), device.name));
        let arguments = self.arguments(site);
        self.open(code, &site.step.name, &[site], self.array_parameters(site));
        code.indented(|code| {
            self.before(code, site);
            self.regions(code, &arguments);
            arguments.iter().for_each(|argument| self.binding(code, argument));
            let given = match transfer {
                Transfer::In => "y, x",
                Transfer::Out => "x, y",
            };
            let (step, method) = (self.index(site), transfer.name());
            code.line(format!("let copied = devices.{}.{method}(&STEPS[{step}], {given});", device.name));
            code.line(format!("copied.map_err({}::{})?;", self.devices.error(), device.parameter));
            self.after(code, site);
            self.success(code, &[site]);
        });
        code.line("}");
    }

    /// What a device's method is given for an operand that `passed` says how it takes.
    pub(super) fn passed_operand(&mut self, argument: &Argument<'_>, passed: Passed) -> String {
        let name = argument.name;
        let variant = match (passed, &argument.place) {
            (Passed::Slice | Passed::Tensor, _) => return name.to_owned(),
            (Passed::Either, Place::Device(_)) => "Tensor",
            (Passed::Either, _) => "Slice",
        };
        self.imports.insert("DeviceOperand");
        format!("DeviceOperand::{variant}({name})")
    }

    /// The description of a tensor there.
    pub(super) fn device_tensor(name: &str, access: Access) -> String {
        match access {
            Access::Read => format!("Tensor::read_device(&{name})"),
            Access::Write => format!("Tensor::write_device(&{name})"),
        }
    }
}
