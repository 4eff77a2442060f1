//! The traits that drivers implement.

use std::collections::{BTreeMap, BTreeSet};

use aot_rt::Access;

use super::{Device, Devices, Passed};
use crate::codegen::reference;
use crate::codegen::writer::Code;
use crate::config::Calls;
use crate::program::{Call, CallOperand};

/// A method: a call of it, its parameters, and the steps that call it.
struct Method<'m> {
    call: &'m Call,
    signature: Vec<(String, String)>,
    steps: Vec<&'m str>,
}

/// Methods by name.
type Methods<'m> = BTreeMap<String, Method<'m>>;

impl<'m> Devices<'m> {
    /// A trait for each kind.
    pub(super) fn interfaces(&self, code: &mut Code) {
        let mut done: Vec<&str> = Vec::new();
        for device in &self.list {
            if device.calls != Calls::Direct || done.contains(&device.kind) {
                continue;
            }
            done.push(device.kind);
            let methods = self.methods(device);
            self.interface(code, device, &methods);
            by_reference(code, &device.interface, &methods);
        }
    }

    /// What a test has instead of devices: the traits, implemented by `Reference`, and the entries
    /// of kernels that are bound by name.
    pub(in crate::codegen) fn implementations(&self, code: &mut Code) {
        let direct = self.list.iter().filter(|device| device.calls == Calls::Direct);
        let kinds: BTreeMap<&str, &Device<'_>> = direct.map(|device| (device.kind, device)).collect();
        for device in kinds.into_values() {
            code.blank();
            code.block(format!("impl {} for Reference {{", device.interface), "}", |code| {
                implemented(code, &self.methods(device), |code, method| {
                    reference::computed(code, method.call);
                });
            });
        }
        let bound = self.list.iter().filter(|device| device.calls == Calls::Registry);
        let names: BTreeSet<_> = bound.flat_map(|device| self.called(device)).collect();
        if !names.is_empty() {
            reference::bound(code, &names);
        }
    }

    /// Those of a device's kind.
    fn methods(&self, device: &Device<'_>) -> Methods<'m> {
        let mut methods = Methods::new();
        for (step, call) in self.calls(device.kind).filter(|(_, call)| call.transfer.is_none()) {
            let new = || Method { call, signature: self.signature(device, call), steps: Vec::new() };
            methods.entry(call.name()).or_insert_with(new).steps.push(&step.name);
        }
        methods
    }

    fn interface(&self, code: &mut Code, device: &Device<'_>, methods: &Methods<'_>) {
        let Device { kind, interface, .. } = device;
        let copies = self.calls(kind).any(|(_, call)| call.transfer.is_some());
        let base = if copies { "DeviceMemory" } else { "Device" };
        let is_away =
            |method: &Method<'_>| method.signature.iter().any(|(_, ty)| ty.starts_with("::aot_rt::Device"));
        code.blank();
        code.doc(format!("What [`{}`] has a device of kind `{kind}` compute.", self.model.type_name));
        if !methods.is_empty() {
            code.doc(
                "\nLengths follow from the parameters. Operands are those of the functions in\n\
                 `aot_rt::kernels` with the same names, but constants are as the model file has them:\n\
                 filters stand one after the other.",
            );
        }
        if methods.values().any(is_away) {
            code.doc(
                "\nWhere the CPU does not reach an operand, a method is given a\n\
                 [`DeviceTensor`](::aot_rt::DeviceTensor) in place of a slice; where only some steps have\n\
                 it there, a [`DeviceOperand`](::aot_rt::DeviceOperand).",
            );
        }
        let open = format!("pub trait {interface}: ::aot_rt::{base} {{");
        if methods.is_empty() {
            return code.line(open + "}");
        }
        code.block(open, "}", |code| {
            for (i, (name, Method { signature, steps, .. })) in methods.iter().enumerate() {
                if i > 0 {
                    code.blank();
                }
                let steps: Vec<_> = steps.iter().map(|step| format!("`{step}`")).collect();
                code.doc(format!(
                    "Of {} {}.\n\n# Errors\n\nWhat keeps the device from it; the run ends with that.",
                    if steps.len() == 1 { "step" } else { "steps" },
                    steps.join(", ")
                ));
                code.block(format!("fn {name}("), ") -> ::core::result::Result<(), Self::Error>;", |code| {
                    signature.iter().for_each(|(name, ty)| code.line(parameter(name, ty)));
                });
            }
        });
    }

    /// Names and types of a method's parameters.
    fn signature(&self, device: &Device<'_>, call: &Call) -> Vec<(String, String)> {
        let mut signature =
            vec![("&mut self".into(), String::new()), ("step".into(), "&'static ::aot_rt::StepInfo".into())];
        for (i, kernel) in call.kernels.iter().enumerate() {
            let name = if i == 0 { "params".to_owned() } else { format!("params_{}", i + 1) };
            signature.push((name, format!("&'static ::aot_rt::kernels::{}", kernel.params().name())));
        }
        let operands = call.operands.iter().zip(self.passed(device, call));
        signature.extend(operands.map(|(operand, passed)| (operand.name.clone(), ty(operand, passed))));
        signature
    }
}

/// The trait for references to devices.
fn by_reference(code: &mut Code, interface: &str, methods: &Methods<'_>) {
    code.blank();
    let open = format!("impl<D: {interface} + ?Sized> {interface} for &mut D {{");
    if methods.is_empty() {
        return code.line(open + "}");
    }
    code.block(open, "}", |code| {
        implemented(code, methods, |code, Method { call, signature, .. }| {
            let names: Vec<_> = signature[1..].iter().map(|(name, _)| name.clone()).collect();
            code.list(&format!("(**self).{}(", call.name()), &names, ")", super::CALL_WIDTH);
        });
    });
}

/// Methods that do what `body` prints.
fn implemented(code: &mut Code, methods: &Methods<'_>, body: impl Fn(&mut Code, &Method<'_>)) {
    for (i, (name, method)) in methods.iter().enumerate() {
        if i > 0 {
            code.blank();
        }
        code.block(format!("fn {name}("), ") -> ::core::result::Result<(), Self::Error> {", |code| {
            method.signature.iter().for_each(|(name, ty)| code.line(parameter(name, ty)));
        });
        code.indented(|code| body(code, method));
        code.line("}");
    }
}

fn parameter(name: &str, ty: &str) -> String {
    if ty.is_empty() { format!("{name},") } else { format!("{name}: {ty},") }
}

fn ty(operand: &CallOperand, passed: Passed) -> String {
    let slice = slice(operand);
    match passed {
        Passed::Slice => slice,
        Passed::Tensor => "::aot_rt::DeviceTensor".into(),
        Passed::Either => format!("::aot_rt::DeviceOperand<{slice}>"),
    }
}

fn slice(operand: &CallOperand) -> String {
    let reference = if operand.access == Access::Write { "&mut " } else { "&" };
    format!("{reference}[{}]", operand.dtype.rust_type())
}
