//! Constants of the runner, and what it has for each input and output: structs, regions, conversions.

use aot_rt::DType;

use super::Runner;
use crate::codegen::literal::{array, float, integer};
use crate::codegen::memories::Holding;
use crate::codegen::ports::Port;
use crate::codegen::writer::Code;
use crate::codegen::{docs, metadata};
use crate::config::Placement;

impl Runner<'_> {
    /// The structs of inputs and of outputs, where there are several.
    pub(super) fn port_structs(&self, code: &mut Code) {
        let groups = [
            (self.inputs_struct(), "input", &self.ports.inputs, Placement::Workspace),
            (self.outputs_struct(), "output", &self.ports.outputs, self.ports.output_place),
        ];
        for (name, role, ports, place) in groups {
            let Some(name) = name else { continue };
            // Results in the workspace are read, the caller's arrays are written.
            let written = role == "output" && place == Placement::Caller;
            code.blank();
            code.doc(format!("The {role}s of [`{}`].", self.name()));
            code.line(if written { "#[derive(Debug)]" } else { "#[derive(Clone, Copy, Debug)]" });
            code.block(format!("pub struct {name}<'a> {{"), "}", |code| {
                for port in ports {
                    let reference = if written { "&'a mut" } else { "&'a" };
                    let title = if role == "input" { "Input" } else { "Output" };
                    code.doc(docs::port(title, port));
                    code.line(format!("pub {}: {reference} {},", port.ident, port.array()));
                }
            });
        }
    }

    pub(super) fn constants(&self, code: &mut Code) {
        let compiled = &self.model.compiled;
        let mut constant = |doc: &str, name: &str, ty: &str, value: String| {
            code.doc(doc);
            code.line(format!("pub const {name}: {ty} = {value};"));
        };
        let constant_bytes = compiled.program.constants.bytes().len();
        let arena = match (self.holding(), compiled.workspaces.len()) {
            (Holding::Shared, _) => "Bytes of RAM: the workspace that it shares.",
            (_, 1) => "Bytes of RAM: the workspace.",
            _ => "Bytes of RAM: the workspace, all its pools.",
        };
        constant(arena, "ARENA_BYTES", "usize", integer(compiled.arena_bytes));
        if self.has_state() {
            let bytes = integer(compiled.program.state_bytes());
            constant("Bytes of these that are kept from run to run.", "STATE_BYTES", "usize", bytes);
        }
        let flash = match self.holding() {
            Holding::Shared => "Bytes of flash: the constants that it shares.",
            Holding::Own | Holding::Static => "Bytes of flash: the constants.",
        };
        constant(flash, "CONSTANT_BYTES", "usize", integer(constant_bytes));
        if self.holding() != Holding::Shared {
            self.memories().bytes(|doc, name, value| constant(&doc, &name, "usize", value));
        }
        let macs = if compiled.program.has_control() {
            "Multiply-accumulates of a run; of branches those of the larger one, of loops those of\none iteration."
        } else {
            "Multiply-accumulates of a run."
        };
        constant(macs, "MACS", "u64", integer(compiled.program.macs()));
        code.doc("The steps, in order; what an instrument is told of them.");
        let steps: usize = compiled.program.steps.iter().map(|step| step.with_nested().len()).sum();
        code.line(format!("pub const STEPS: &'static [::aot_rt::StepInfo; {steps}] = &steps::STEPS;"));
        metadata::constant(code);
        let inputs = self.ports.inputs.iter().map(|port| ("input", port));
        let outputs = self.ports.outputs.iter().map(|port| ("output", port));
        let kept = self.ports.kept.iter().map(|port| ("kept tensor", port));
        for (role, port) in inputs.chain(outputs).chain(kept) {
            code.blank();
            let name = docs::code_span(&port.port.name);
            let (upper, shape) = (&port.upper, &port.ty().shape);
            code.doc(format!("Extents of {role} {name}, outermost first."));
            code.line(format!("pub const {upper}_SHAPE: [usize; {}] = {};", shape.len(), array(shape)));
            code.doc(format!("Number of elements of {role} {name}."));
            code.line(format!("pub const {upper}_LEN: usize = {};", integer(shape.elements())));
            if let Some(quantization) = port.quantization() {
                code.doc(format!("Scale and zero point of {role} {name}."));
                let ty = "::aot_rt::Quantization";
                code.block(format!("pub const {upper}_QUANTIZATION: {ty} = {ty} {{"), "};", |code| {
                    code.line(format!("scale: {},", float(quantization.scale)));
                    code.line(format!("zero_point: {},", integer(quantization.zero_point)));
                });
            }
        }
    }

    pub(super) fn input_region(&self, code: &mut Code, port: &Port<'_>) {
        code.blank();
        code.doc(format!(
            "{}\n\nIts region in the workspace, to be written before\n[`run_in_place`](Self::run_in_place).",
            docs::port("Input", port)
        ));
        code.block(
            format!("pub fn {}_mut(&mut self) -> &mut {} {{", port.ident, port.array()),
            "}",
            |code| {
                let (memory, region) = (&self.ports.memory(port).name, port.place.arguments());
                code.line(format!("self.{memory}.write::<{region}>()"));
            },
        );
    }

    pub(super) fn result_region(&self, code: &mut Code, title: &str, port: &Port<'_>) {
        code.blank();
        code.doc(format!(
            "{}\n\nAs the last run left it; writing an input may destroy it.",
            docs::port(title, port)
        ));
        code.line("#[must_use]");
        code.block(format!("pub fn {}(&self) -> &{} {{", port.ident, port.array()), "}", |code| {
            let (memory, region) = (&self.ports.memory(port).name, port.place.arguments());
            code.line(format!("self.{memory}.read::<{region}>()"));
        });
    }
}

pub(super) fn quantize(code: &mut Code, port: &Port<'_>) {
    let number = port.number();
    // There is no helper for 64 bits: no operator takes such numbers as quantized.
    if port.quantization().is_none() || port.ty().dtype == DType::I64 {
        return;
    }
    code.blank();
    code.doc(format!("The integer of input {} nearest to `real`.", docs::code_span(&port.port.name)));
    code.line("#[must_use]");
    code.block(format!("pub fn quantize_{}(real: f32) -> {number} {{", port.ident), "}", |code| {
        code.line(format!("Self::{}_QUANTIZATION.quantize_{}(real)", port.upper, port.ty().dtype.name()));
    });
}

pub(super) fn dequantize(code: &mut Code, role: &str, port: &Port<'_>) {
    let number = port.number();
    if port.quantization().is_none() || port.ty().dtype == DType::I64 {
        return;
    }
    code.blank();
    code.doc(format!("The real value of an integer of {role} {}.", docs::code_span(&port.port.name)));
    code.line("#[must_use]");
    code.block(format!("pub fn dequantize_{}(q: {number}) -> f32 {{", port.ident), "}", |code| {
        let q = if port.ty().dtype == DType::I32 { "q" } else { "q.into()" };
        code.line(format!("Self::{}_QUANTIZATION.dequantize({q})", port.upper));
    });
}
