//! The traits that drivers implement.

use std::collections::BTreeMap;

use aot_rt::{Access, DType};

use super::{Device, Devices};
use crate::codegen::writer::Code;
use crate::config::Calls;
use crate::program::{Call, CallOperand, Step};

/// A method: the name of a call, with one that has it, and the steps that make it.
type Methods<'m> = BTreeMap<String, (&'m Call, Vec<&'m str>)>;

impl<'m> Devices<'m> {
    /// A trait for each kind.
    pub(super) fn interfaces(&self, code: &mut Code) {
        let mut done: Vec<&str> = Vec::new();
        for device in &self.list {
            if device.calls != Calls::Direct || done.contains(&device.kind) {
                continue;
            }
            done.push(device.kind);
            let methods = self.methods(device.kind);
            self.interface(code, device.kind, &device.interface, &methods);
            by_reference(code, &device.interface, &methods);
        }
    }

    fn methods(&self, kind: &str) -> Methods<'m> {
        let is_of_kind = |device: &Device<'_>| device.calls == Calls::Direct && device.kind == kind;
        let of_kind =
            |call: &Call| self.list.iter().any(|device| device.index == call.device && is_of_kind(device));
        let steps = self.model.compiled.program.steps.iter().flat_map(Step::with_nested);
        let mut methods = Methods::new();
        for (step, call) in
            steps.filter_map(|step| Some((step, step.call()?))).filter(|(_, call)| of_kind(call))
        {
            methods.entry(call.name()).or_insert((call, Vec::new())).1.push(&step.name);
        }
        methods
    }

    fn interface(&self, code: &mut Code, kind: &str, interface: &str, methods: &Methods<'_>) {
        code.blank();
        code.doc(format!(
            "What [`{}`] has a device of kind `{kind}` compute.\n\n\
             Lengths follow from the parameters. Operands are those of the functions in\n\
             `aot_rt::kernels` with the same names, but constants are as the model file has them:\n\
             filters stand one after the other.",
            self.model.type_name
        ));
        code.block(format!("pub trait {interface}: ::aot_rt::Device {{"), "}", |code| {
            for (i, (name, (call, steps))) in methods.iter().enumerate() {
                if i > 0 {
                    code.blank();
                }
                let steps: Vec<_> = steps.iter().map(|step| format!("`{step}`")).collect();
                code.doc(format!(
                    "Of {} {}.\n\n# Errors\n\nWhat keeps the device from it; the run ends with that.",
                    if steps.len() == 1 { "step" } else { "steps" },
                    steps.join(", ")
                ));
                let signature = signature(call);
                code.block(format!("fn {name}("), ") -> ::core::result::Result<(), Self::Error>;", |code| {
                    signature.iter().for_each(|(name, ty)| code.line(parameter(name, ty)));
                });
            }
        });
    }
}

/// The trait for references to devices.
fn by_reference(code: &mut Code, interface: &str, methods: &Methods<'_>) {
    code.blank();
    code.block(format!("impl<D: {interface} + ?Sized> {interface} for &mut D {{"), "}", |code| {
        for (i, (name, (call, _))) in methods.iter().enumerate() {
            if i > 0 {
                code.blank();
            }
            let signature = signature(call);
            code.block(format!("fn {name}("), ") -> ::core::result::Result<(), Self::Error> {", |code| {
                signature.iter().for_each(|(name, ty)| code.line(parameter(name, ty)));
            });
            code.indented(|code| {
                let names: Vec<_> = signature[1..].iter().map(|(name, _)| name.clone()).collect();
                code.list(&format!("(**self).{name}("), &names, ")", super::CALL_WIDTH);
            });
            code.line("}");
        }
    });
}

fn parameter(name: &str, ty: &str) -> String {
    if ty.is_empty() { format!("{name},") } else { format!("{name}: {ty},") }
}

/// Names and types of a method's parameters.
fn signature(call: &Call) -> Vec<(String, String)> {
    let mut signature =
        vec![("&mut self".into(), String::new()), ("step".into(), "&'static ::aot_rt::StepInfo".into())];
    for (i, kernel) in call.kernels.iter().enumerate() {
        let name = if i == 0 { "params".to_owned() } else { format!("params_{}", i + 1) };
        signature.push((name, format!("&'static ::aot_rt::kernels::{}", kernel.params().name())));
    }
    signature.extend(call.operands.iter().map(|operand| (operand.name.clone(), slice(operand))));
    signature
}

fn slice(operand: &CallOperand) -> String {
    // Half precision is no type of the language's own.
    let path = if operand.dtype == DType::F16 { "::aot_rt::" } else { "" };
    let reference = if operand.access == Access::Write { "&mut " } else { "&" };
    format!("{reference}[{path}{}]", operand.dtype.rust_type())
}
