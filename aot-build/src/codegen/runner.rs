//! The runner: its struct, its constants, and `run` in the form that the placement
//! of inputs and outputs asks for.

use aot_rt::DType;

use super::docs;
use super::environment::INSTRUMENT;
use super::literal::{array, float, integer};
use super::ports::{Port, Ports};
use super::steps::Steps;
use super::writer::{CALL_WIDTH, Code};
use crate::Model;
use crate::config::{InputPlacement, Placement};

/// Most steps that one function calls before clippy finds it long.
pub(super) const MANY_STEPS: usize = 80;

/// What the runner's items are printed from.
pub(super) struct Runner<'m> {
    pub(super) model: &'m Model,
    pub(super) ports: &'m Ports<'m>,
}

impl Runner<'_> {
    fn name(&self) -> &str {
        &self.model.type_name
    }

    /// Name of the struct of inputs, where there are several.
    pub(super) fn inputs_struct(&self) -> Option<String> {
        (self.ports.inputs.len() > 1).then(|| format!("{}Inputs", self.name()))
    }

    /// Name of the struct of outputs, where there are several.
    pub(super) fn outputs_struct(&self) -> Option<String> {
        (self.ports.outputs.len() > 1).then(|| format!("{}Outputs", self.name()))
    }

    /// The struct.
    pub(super) fn declaration(&self, code: &mut Code, attributes: &[String]) {
        for attribute in attributes {
            code.line(attribute);
        }
        if attributes.iter().any(|attribute| is_documentation(attribute)) {
            code.line("///");
        }
        code.doc(docs::runner(self.model, &self.ports.inputs, &self.ports.outputs));
        let derives = |name: &str| attributes.iter().any(|attribute| derives(attribute, name));
        let derived: Vec<_> = ["Debug", "Default"].into_iter().filter(|name| !derives(name)).collect();
        if !derived.is_empty() {
            code.line(format!("#[derive({})]", derived.join(", ")));
        }
        code.block(format!("pub struct {} {{", self.name()), "}", |code| {
            code.line(format!("workspace: ::aot_rt::Workspace<{{ {}::ARENA_BYTES }}>,", self.name()));
            if self.has_state() {
                code.line("has_state: bool,");
            }
            if let Some(layers) = self.pushed_layers() {
                code.line(format!("rows: ::aot_rt::kernels::Rows<{layers}>,"));
                code.line("pushed: usize,");
            }
        });
    }

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
            code.line(r#"#[allow(clippy::struct_field_names, reason = "the names are the model's")]"#);
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

    /// The inherent items.
    pub(super) fn implementation(&self, code: &mut Code, steps: &Steps<'_>) {
        code.block(format!("impl {} {{", self.name()), "}", |code| {
            self.constants(code);
            self.constructors(code);
            self.fill_workspace(code);
            if self.has_state() {
                reset(code);
            }
            if let (Some(pushed), [input]) = (self.model.compiled.program.pushed, &self.ports.inputs[..]) {
                self.push_rows(code, steps, input, pushed);
            } else if self.ports.input_place == InputPlacement::Workspace && !self.ports.inputs.is_empty() {
                self.run_with_copies(code);
                for port in &self.ports.inputs {
                    input_region(code, port);
                }
                self.run_steps(code, steps, "run_in_place", false);
            } else {
                self.run_steps(code, steps, "run", true);
            }
            if self.ports.output_place == Placement::Workspace {
                for port in &self.ports.outputs {
                    output_region(code, port);
                }
            }
            for port in &self.ports.inputs {
                quantize(code, port);
            }
            for port in &self.ports.outputs {
                dequantize(code, port);
            }
        });
    }

    fn constants(&self, code: &mut Code) {
        let compiled = &self.model.compiled;
        let mut constant = |doc: &str, name: &str, ty: &str, value: String| {
            code.doc(doc);
            code.line(format!("pub const {name}: {ty} = {value};"));
        };
        let constant_bytes = compiled.program.constants.bytes().len();
        constant("Bytes of RAM: the workspace.", "ARENA_BYTES", "usize", integer(compiled.arena_bytes));
        if self.has_state() {
            let bytes = integer(compiled.program.state_bytes());
            constant("Bytes of these that are kept from run to run.", "STATE_BYTES", "usize", bytes);
        }
        constant("Bytes of flash: the constants.", "CONSTANT_BYTES", "usize", integer(constant_bytes));
        let macs = if compiled.program.has_control() {
            "Multiply-accumulates of a run; of branches those of the larger one, of loops those of\none iteration."
        } else {
            "Multiply-accumulates of a run."
        };
        constant(macs, "MACS", "u64", integer(compiled.program.macs()));
        code.doc("The steps, in order; what an instrument is told of them.");
        code.line("pub const STEPS: &'static [::aot_rt::StepInfo] = &steps::STEPS;");
        let inputs = self.ports.inputs.iter().map(|port| ("input", port));
        let outputs = self.ports.outputs.iter().map(|port| ("output", port));
        for (role, port) in inputs.chain(outputs) {
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

    fn constructors(&self, code: &mut Code) {
        code.blank();
        code.doc("A runner whose memory is zero; a `static` of it takes no flash.");
        code.line("#[must_use]");
        code.block("pub const fn new() -> Self {", "}", |code| {
            code.block("Self {", "}", |code| {
                code.line("workspace: ::aot_rt::Workspace::new(),");
                if self.has_state() {
                    code.line("has_state: false,");
                }
                if self.pushed_layers().is_some() {
                    code.line("rows: ::aot_rt::kernels::Rows::new(),");
                    code.line("pushed: 0,");
                }
            });
        });
        code.blank();
        code.doc(
            "The one runner in static memory: on the first call, and `None` on every later\n\
             one. It takes no memory in a program that does not call this.",
        );
        code.line("#[must_use]");
        code.block("pub fn take() -> ::core::option::Option<&'static mut Self> {", "}", |code| {
            let name = self.name();
            code.assign(
                &format!("static RUNNER: ::aot_rt::Singleton<{name}>"),
                &format!("::aot_rt::Singleton::new({name}::new())"),
            );
            code.line("RUNNER.take()");
        });
    }

    fn fill_workspace(&self, code: &mut Code) {
        code.blank();
        code.doc(
            "Fills the workspace with `byte`: for tests, since no result depends on what it\n\
             held, and to find out later what a run has used.",
        );
        if self.has_state() {
            code.doc("\nThe next run starts from the initial state.");
        }
        code.block("pub fn fill_workspace(&mut self, byte: u8) {", "}", |code| {
            code.line("self.workspace.fill(byte);");
            if self.has_state() {
                code.line("self.has_state = false;");
            }
        });
    }

    fn run_with_copies(&self, code: &mut Code) {
        self.uninstrumented(code, "run", true, "Runs the model: copies its inputs into the workspace first.");
        self.instrumented(code, "run", true);
        code.indented(|code| {
            for port in &self.ports.inputs {
                code.line(format!("*self.{}_mut() = *{};", port.ident, self.input_array(port)));
            }
            let end = if self.ports.output_place == Placement::Caller { ";" } else { "" };
            let passed = self.passed_on(self.output_arguments());
            code.line(format!("self.run_in_place_with({passed}){end}"));
        });
        code.line("}");
    }

    /// The function that calls the steps, and the one that nothing observes.
    fn run_steps(&self, code: &mut Code, steps: &Steps<'_>, name: &str, takes_inputs: bool) {
        let doc = if takes_inputs {
            "Runs the model."
        } else {
            "Runs the model on what is in the regions of its inputs.\n\n\
             The steps use that memory, too: write the inputs again before the next run."
        };
        self.uninstrumented(code, name, takes_inputs, doc);
        let use_workspace = steps.use_workspace();
        self.instrumented_with(code, name, takes_inputs, |code| {
            if self.model.compiled.program.steps.len() > MANY_STEPS {
                code.line(r#"#[allow(clippy::too_many_lines, reason = "a line for each step")]"#);
            }
            if !use_workspace && self.ports.output_place == Placement::Caller {
                code.line(r#"#[allow(clippy::unused_self, reason = "no step needs memory of its own")]"#);
            }
        });
        code.indented(|code| {
            self.ensure_state(code);
            if use_workspace {
                code.line("let workspace = &mut self.workspace;");
            }
            if steps.steps().is_empty() {
                code.line("let _ = instrument; // There is no step.");
            }
            let unused = |port: &&Port<'_>| takes_inputs && !steps.use_port(port);
            for port in self.ports.inputs.iter().filter(unused) {
                code.line(format!("let _ = {}; // No step reads it.", self.input_array(port)));
            }
            if let (Placement::Caller, Some(outputs)) = (self.ports.output_place, self.outputs_struct()) {
                let names: Vec<_> = self.ports.outputs.iter().map(|port| port.ident.clone()).collect();
                code.wide_list(&format!("let {outputs} {{ "), &names, " } = outputs;");
            }
            steps.calls(code, 0, |port| self.array(port));
            if self.ports.output_place == Placement::Workspace {
                self.result(code);
            }
        });
        code.line("}");
    }

    /// A function `name` that runs `name_with` without an instrument.
    pub(super) fn uninstrumented(&self, code: &mut Code, name: &str, takes_inputs: bool, doc: &str) {
        code.blank();
        code.doc(doc);
        self.function(code, &format!("pub fn {name}("), &[], takes_inputs);
        let inputs = match self.inputs_struct() {
            Some(_) => vec!["inputs".to_owned()],
            None => self.ports.inputs.iter().map(|port| port.ident.clone()).collect(),
        };
        let inputs = if takes_inputs { inputs } else { Vec::new() };
        let passed = [vec!["&mut ()".to_owned()], inputs, self.output_arguments()].concat();
        let end = if self.ports.output_place == Placement::Caller { ";" } else { "" };
        code.indented(|code| {
            code.list(&format!("self.{name}_with("), &passed, &format!("){end}"), CALL_WIDTH);
        });
        code.line("}");
    }

    /// `pub fn name_with(&mut self, instrument, ..) -> .. {`.
    pub(super) fn instrumented(&self, code: &mut Code, name: &str, takes_inputs: bool) {
        self.instrumented_with(code, name, takes_inputs, |_| ());
    }

    fn instrumented_with(
        &self,
        code: &mut Code,
        name: &str,
        takes_inputs: bool,
        attributes: impl FnOnce(&mut Code),
    ) {
        code.blank();
        code.doc(format!("[`{name}`](Self::{name}), observed by `instrument`."));
        attributes(code);
        self.function(code, &format!("pub fn {name}_with("), &[INSTRUMENT], takes_inputs);
    }

    /// What a run hands on: the instrument, and `arguments`.
    pub(super) fn passed_on(&self, arguments: Vec<String>) -> String {
        [vec!["instrument".to_owned()], arguments].concat().join(", ")
    }

    pub(super) fn has_state(&self) -> bool {
        !self.model.compiled.program.states.is_empty()
    }

    /// Resets the state before the first run.
    pub(super) fn ensure_state(&self, code: &mut Code) {
        if self.has_state() {
            code.block("if !self.has_state {", "}", |code| code.line("self.reset();"));
        }
    }

    pub(super) fn result(&self, code: &mut Code) {
        match (self.outputs_struct(), self.ports.outputs.as_slice()) {
            (Some(name), outputs) => code.block(format!("{name} {{"), "}", |code| {
                for port in outputs {
                    code.line(format!("{0}: self.{0}(),", port.ident));
                }
            }),
            (None, [port]) => code.line(format!("self.{}()", port.ident)),
            (None, _) => (),
        }
    }

    /// `fn name(&mut self, instrument, ..) -> .. {`, without the inputs.
    pub(super) fn private_signature(&self, code: &mut Code, name: &str) {
        self.function(code, &format!("fn {name}("), &[INSTRUMENT], false);
    }

    fn function(&self, code: &mut Code, open: &str, environment: &[&str], takes_inputs: bool) {
        let mut arguments = vec!["&mut self".to_owned()];
        arguments.extend(environment.iter().map(ToString::to_string));
        if takes_inputs {
            match (self.inputs_struct(), self.ports.inputs.as_slice()) {
                (Some(name), _) => arguments.push(format!("inputs: {name}<'_>")),
                (None, inputs) => {
                    arguments.extend(inputs.iter().map(|port| format!("{}: &{}", port.ident, port.array())));
                }
            }
        }
        arguments.extend(self.output_parameters());
        let result = match (self.ports.output_place, self.outputs_struct(), &self.ports.outputs[..]) {
            (Placement::Workspace, Some(name), _) => format!(" -> {name}<'_>"),
            (Placement::Workspace, None, [port]) => format!(" -> &{}", port.array()),
            _ => String::new(),
        };
        code.wide_list(open, &arguments, &format!("){result} {{"));
    }

    /// The parameters for outputs, where they are the caller's.
    pub(super) fn output_parameters(&self) -> Vec<String> {
        match (self.ports.output_place, self.outputs_struct()) {
            (Placement::Workspace, _) => Vec::new(),
            (Placement::Caller, Some(name)) => vec![format!("outputs: {name}<'_>")],
            (Placement::Caller, None) => {
                let parameter = |port: &Port<'_>| format!("{}: &mut {}", port.ident, port.array());
                self.ports.outputs.iter().map(parameter).collect()
            }
        }
    }

    fn input_array(&self, port: &Port<'_>) -> String {
        let field = if self.inputs_struct().is_some() { "inputs." } else { "" };
        format!("{field}{}", port.ident)
    }

    /// How `run` reaches a caller's array.
    pub(super) fn array(&self, port: &Port<'_>) -> String {
        let is_input = self.ports.inputs.iter().any(|input| input.ident == port.ident);
        if is_input { self.input_array(port) } else { port.ident.clone() }
    }

    /// The arguments for outputs, where they are the caller's.
    pub(super) fn output_arguments(&self) -> Vec<String> {
        match (self.ports.output_place, self.outputs_struct()) {
            (Placement::Workspace, _) => Vec::new(),
            (Placement::Caller, Some(_)) => vec!["outputs".into()],
            (Placement::Caller, None) => self.ports.outputs.iter().map(|port| port.ident.clone()).collect(),
        }
    }
}

/// Whether a user's attribute is documentation, to be set apart from ours.
fn is_documentation(attribute: &str) -> bool {
    let attribute = attribute.trim_start();
    attribute.starts_with("///") || attribute.trim_start_matches(['#', '[', ' ']).starts_with("doc")
}

/// Whether a user's attribute derives the trait `name`, so that we must not.
fn derives(attribute: &str, name: &str) -> bool {
    attribute.contains("derive") && attribute.split(|c: char| !c.is_alphanumeric()).any(|word| word == name)
}

/// The function that sets the state as the model file says.
fn reset(code: &mut Code) {
    code.blank();
    code.doc(
        "Sets what is kept from run to run as the model file says; the first run does it\n\
         by itself.",
    );
    code.block("pub fn reset(&mut self) {", "}", |code| {
        code.line("steps::reset(&mut self.workspace);");
        code.line("self.has_state = true;");
    });
}

fn input_region(code: &mut Code, port: &Port<'_>) {
    code.blank();
    code.doc(format!(
        "{}\n\nIts region in the workspace, to be written before\n[`run_in_place`](Self::run_in_place).",
        docs::port("Input", port)
    ));
    code.block(format!("pub fn {}_mut(&mut self) -> &mut {} {{", port.ident, port.array()), "}", |code| {
        code.line(format!("self.workspace.write::<{}>()", port.region()))
    });
}

fn output_region(code: &mut Code, port: &Port<'_>) {
    code.blank();
    code.doc(format!(
        "{}\n\nAs the last run left it; writing an input may destroy it.",
        docs::port("Output", port)
    ));
    code.line("#[must_use]");
    code.block(format!("pub fn {}(&self) -> &{} {{", port.ident, port.array()), "}", |code| {
        code.line(format!("self.workspace.read::<{}>()", port.region()));
    });
}

fn quantize(code: &mut Code, port: &Port<'_>) {
    let element = port.element();
    // There is no helper for 64 bits: no operator takes such numbers as quantized.
    if port.quantization().is_none() || port.ty().dtype == DType::I64 {
        return;
    }
    code.blank();
    code.doc(format!("The integer of input {} nearest to `real`.", docs::code_span(&port.port.name)));
    code.line("#[must_use]");
    code.block(format!("pub fn quantize_{}(real: f32) -> {element} {{", port.ident), "}", |code| {
        code.line(format!("Self::{}_QUANTIZATION.quantize_{element}(real)", port.upper));
    });
}

fn dequantize(code: &mut Code, port: &Port<'_>) {
    let element = port.element();
    if port.quantization().is_none() || port.ty().dtype == DType::I64 {
        return;
    }
    code.blank();
    code.doc(format!("The real value of an integer of output {}.", docs::code_span(&port.port.name)));
    code.line("#[must_use]");
    code.block(format!("pub fn dequantize_{}(q: {element}) -> f32 {{", port.ident), "}", |code| {
        let q = if port.ty().dtype == DType::I32 { "q" } else { "q.into()" };
        code.line(format!("Self::{}_QUANTIZATION.dequantize({q})", port.upper));
    });
}
