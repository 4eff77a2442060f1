//! The runner: its struct, its constants, and `run` in the form that the placement
//! of inputs and outputs asks for.

use aot_rt::DType;

use super::constructors::Holder;
use super::environment::INSTRUMENT;
use super::literal::{array, float, integer};
use super::memories::{Holding, Memories};
use super::ports::{Port, Ports};
use super::steps::Steps;
use super::writer::{CALL_WIDTH, Code};
use super::{docs, metadata};
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

    /// All its items.
    pub(super) fn print(&self, code: &mut Code, attributes: &[String], steps: Steps<'_>) {
        self.declaration(code, attributes);
        self.port_structs(code);
        self.kernels(code, &steps);
        code.blank();
        self.implementation(code, &steps);
        if let Some(run) = self.run_struct() {
            self.run_declaration(code, &steps, &run);
            self.run_implementation(code, &steps, &run);
        }
        code.blank();
        self.untyped(code);
        if !self.memories().owner.is_shared {
            self.memories().aliases(code);
        }
        code.blank();
        steps.module(code);
        code.blank();
        metadata::module(code, self.model);
    }

    /// The types among them that have names for the user.
    pub(super) fn exports(&self) -> Vec<String> {
        let structs = [self.inputs_struct(), self.outputs_struct(), self.kernels_struct(), self.run_struct()];
        [self.name().to_owned()].into_iter().chain(structs.into_iter().flatten()).collect()
    }

    /// The struct.
    fn declaration(&self, code: &mut Code, attributes: &[String]) {
        for attribute in attributes {
            code.line(attribute);
        }
        if attributes.iter().any(|attribute| is_documentation(attribute)) {
            code.line("///");
        }
        code.doc(docs::runner(self.model, &self.ports.inputs, &self.ports.outputs));
        let derives = |name: &str| attributes.iter().any(|attribute| derives(attribute, name));
        // References have no default.
        let all = if self.holding() == Holding::Own { &["Debug", "Default"][..] } else { &["Debug"] };
        let derived: Vec<_> = all.iter().copied().filter(|name| !derives(name)).collect();
        if !derived.is_empty() {
            code.line(format!("#[derive({})]", derived.join(", ")));
        }
        let lifetime = if self.holding() == Holding::Shared { "<'m>" } else { "" };
        code.block(format!("pub struct {}{lifetime} {{", self.name()), "}", |code| self.fields(code));
    }

    fn fields(&self, code: &mut Code) {
        let [visible, reference, flag] = match self.holding() {
            Holding::Own => ["", "", "bool"],
            Holding::Static => ["", "&'static mut ", "bool"],
            Holding::Shared => ["pub(super) ", "&'m mut ", "&'m mut bool"],
        };
        for memory in &self.memories().memories {
            let ty = self.memories().field(memory);
            code.line(format!("{visible}{}: {reference}{ty},", memory.name));
        }
        for name in self.flags() {
            code.line(format!("{visible}{name}: {flag},"));
        }
        if let Some(layers) = self.pushed_layers() {
            code.line(format!("{visible}rows: ::aot_rt::kernels::Rows<{layers}>,"));
            code.line(format!("{visible}pushed: usize,"));
        }
    }

    /// What has been done before the first run.
    pub(super) fn flags(&self) -> Vec<&'static str> {
        let constants = self.has_copies().then_some("has_constants");
        constants.into_iter().chain(self.has_state().then_some("has_state")).collect()
    }

    pub(super) fn memories(&self) -> &Memories {
        &self.ports.memories
    }

    pub(super) fn holding(&self) -> Holding {
        self.memories().holding()
    }

    /// Whether constants are copied to memory.
    pub(super) fn has_copies(&self) -> bool {
        self.memories().copies().next().is_some()
    }

    /// `self.has_state`, as a place.
    pub(super) fn flag(&self, name: &str) -> String {
        let star = if self.holding() == Holding::Shared { "*" } else { "" };
        format!("{star}self.{name}")
    }

    /// The structs of inputs and of outputs, where there are several.
    fn port_structs(&self, code: &mut Code) {
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
    fn implementation(&self, code: &mut Code, steps: &Steps<'_>) {
        let lifetime = if self.holding() == Holding::Shared { "<'_>" } else { "" };
        code.block(format!("impl {}{lifetime} {{", self.name()), "}", |code| {
            self.constants(code);
            if self.holding() != Holding::Shared {
                self.constructors(code);
            }
            self.bind(code, steps);
            if self.holding() != Holding::Shared {
                self.fill_workspace(code);
            }
            if self.has_copies() {
                self.load_constants(code);
            }
            if self.has_state() {
                self.reset(code, steps);
            }
            if let (Some(pushed), [input]) = (self.model.compiled.program.pushed, &self.ports.inputs[..]) {
                self.push_rows(code, steps, input, pushed);
            } else if self.ports.input_place == InputPlacement::Workspace && !self.ports.inputs.is_empty() {
                self.run_with_copies(code);
                for port in &self.ports.inputs {
                    self.input_region(code, port);
                }
                self.run_steps(code, steps, "run_in_place", false);
            } else {
                self.run_steps(code, steps, "run", true);
            }
            if let Some(run) = self.run_struct() {
                self.starts(code, steps, &run);
            }
            if self.ports.output_place == Placement::Workspace {
                for port in &self.ports.outputs {
                    self.result_region(code, "Output", port);
                }
            }
            for port in &self.ports.kept {
                self.result_region(code, "Kept tensor", port);
            }
            for port in &self.ports.inputs {
                quantize(code, port);
            }
            for port in &self.ports.outputs {
                dequantize(code, "output", port);
            }
            for port in &self.ports.kept {
                dequantize(code, "kept tensor", port);
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

    fn constructors(&self, code: &mut Code) {
        let fields = |code: &mut Code| {
            self.flags().iter().for_each(|flag| code.line(format!("{flag}: false,")));
            self.new_rows(code);
        };
        Holder { name: self.name(), noun: "runner", memories: self.memories(), fields: &fields }
            .constructors(code);
    }

    /// The fields for rows that have been pushed: none has.
    pub(super) fn new_rows(&self, code: &mut Code) {
        if self.pushed_layers().is_some() {
            code.line("rows: ::aot_rt::kernels::Rows::new(),");
            code.line("pushed: 0,");
        }
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
            self.memories().fill(code);
            if self.has_state() {
                code.line("self.has_state = false;");
            }
        });
    }

    /// The function that copies constants to memory.
    fn load_constants(&self, code: &mut Code) {
        code.blank();
        code.doc(
            "Copies the constants from flash to their pools; the first run does it by itself. To\n\
             be called where that memory has lost what it held.",
        );
        code.block("pub fn load_constants(&mut self) {", "}", |code| {
            let copied = self.memories().copies().map(|(_, memory)| self.memories().borrowed(memory));
            code.list("steps::load_constants(", &copied.collect::<Vec<_>>(), ");", CALL_WIDTH);
            code.line(format!("{} = true;", self.flag("has_constants")));
        });
    }

    fn input_region(&self, code: &mut Code, port: &Port<'_>) {
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

    fn result_region(&self, code: &mut Code, title: &str, port: &Port<'_>) {
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

    fn run_with_copies(&self, code: &mut Code) {
        self.uninstrumented(code, "run", true, "Runs the model: copies its inputs into the workspace first.");
        self.instrumented(code, "run", true);
        code.indented(|code| {
            for port in &self.ports.inputs {
                code.line(format!("*self.{}_mut() = *{};", port.ident, self.input_array(port)));
            }
            let passed = self.passed_on(self.output_arguments());
            code.line(format!("self.run_in_place_with({passed}){}", self.end()));
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
        let sites: Vec<_> = steps.sites(0).collect();
        let use_workspace = !steps.memories_of(&sites).is_empty();
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
            steps.borrow_memories(code, "self", &sites);
            if steps.steps().is_empty() {
                self.ignore_environment(code, "There is no step.");
            }
            let unused = |port: &&Port<'_>| takes_inputs && !steps.use_port(port);
            for port in self.ports.inputs.iter().filter(unused) {
                code.line(format!("let _ = {}; // No step reads it.", self.input_array(port)));
            }
            if let (Placement::Caller, Some(outputs)) = (self.ports.output_place, self.outputs_struct()) {
                let names: Vec<_> = self.ports.outputs.iter().map(|port| port.ident.clone()).collect();
                code.wide_list(&format!("let {outputs} {{ "), &names, " } = outputs;");
            }
            self.doubt_state(code);
            steps.calls(code, 0, |port| self.array(port));
            self.trust_state(code);
            self.result(code, "self");
        });
        code.line("}");
    }

    /// A function `name` that runs `name_with` without an instrument.
    pub(super) fn uninstrumented(&self, code: &mut Code, name: &str, takes_inputs: bool, doc: &str) {
        code.blank();
        code.doc(doc);
        self.doc_errors(code);
        self.function(code, &format!("pub fn {name}("), &[], takes_inputs);
        let inputs = match self.inputs_struct() {
            Some(_) => vec!["inputs".to_owned()],
            None => self.ports.inputs.iter().map(|port| port.ident.clone()).collect(),
        };
        let inputs = if takes_inputs { inputs } else { Vec::new() };
        let environment = [vec!["&mut ()".to_owned()], self.company_arguments()].concat();
        let passed = [environment, inputs, self.output_arguments()].concat();
        let end = self.end();
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
        self.doc_errors(code);
        attributes(code);
        self.function(code, &format!("pub fn {name}_with("), &[INSTRUMENT], takes_inputs);
    }

    /// What a run hands on: the instrument, what else comes with it, and `arguments`.
    pub(super) fn passed_on(&self, arguments: Vec<String>) -> String {
        [vec!["instrument".to_owned()], self.company_arguments(), arguments].concat().join(", ")
    }

    /// What ends a call that is a function's last.
    pub(super) fn end(&self) -> &'static str {
        let gives = self.fallible() || self.ports.output_place == Placement::Workspace;
        if gives { "" } else { ";" }
    }

    /// Says that nothing in a function observes or calls anything.
    pub(super) fn ignore_environment(&self, code: &mut Code, why: &str) {
        match self.company_arguments().as_slice() {
            [] => code.line(format!("let _ = instrument; // {why}")),
            company => code.line(format!("let _ = (instrument, {}); // {why}", company.join(", "))),
        }
    }

    /// What a run of `runner` gives, at the end of its function.
    pub(super) fn result(&self, code: &mut Code, runner: &str) {
        let [open, close] = if self.fallible() { ["Ok(", ")"] } else { ["", ""] };
        match (self.ports.output_place, self.outputs_struct(), self.ports.outputs.as_slice()) {
            (Placement::Workspace, Some(name), outputs) => {
                code.block(format!("{open}{name} {{"), &format!("}}{close}"), |code| {
                    for port in outputs {
                        code.line(format!("{0}: {runner}.{0}(),", port.ident));
                    }
                });
            }
            (Placement::Workspace, None, [port]) => {
                code.line(format!("{open}{runner}.{}(){close}", port.ident));
            }
            _ if self.fallible() => code.line("Ok(())"),
            _ => (),
        }
    }

    /// `fn name(&mut self, instrument, ..) -> .. {`, without the inputs.
    pub(super) fn private_signature(&self, code: &mut Code, name: &str) {
        self.function(code, &format!("fn {name}("), &[INSTRUMENT], false);
    }

    /// `run` as it is declared.
    pub(super) fn declaration_of_run(&self) -> String {
        let mut code = Code::new(0);
        self.function(&mut code, "pub fn run(", &[], true);
        code.into_text().trim_end_matches(" {\n").to_owned()
    }

    fn function(&self, code: &mut Code, open: &str, environment: &[&str], takes_inputs: bool) {
        let mut arguments = vec!["&mut self".to_owned()];
        arguments.extend(environment.iter().map(ToString::to_string));
        arguments.extend(self.company_parameters());
        if takes_inputs {
            match (self.inputs_struct(), self.ports.inputs.as_slice()) {
                (Some(name), _) => arguments.push(format!("inputs: {name}<'_>")),
                (None, inputs) => {
                    arguments.extend(inputs.iter().map(|port| format!("{}: &{}", port.ident, port.array())));
                }
            }
        }
        arguments.extend(self.output_parameters());
        let gives = match (self.ports.output_place, self.outputs_struct(), &self.ports.outputs[..]) {
            (Placement::Workspace, Some(name), _) => format!("{name}<'_>"),
            (Placement::Workspace, None, [port]) => format!("&{}", port.array()),
            _ => "()".into(),
        };
        code.wide_list(open, &arguments, &format!("){} {{", self.result_type(&gives)));
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

fn dequantize(code: &mut Code, role: &str, port: &Port<'_>) {
    let element = port.element();
    if port.quantization().is_none() || port.ty().dtype == DType::I64 {
        return;
    }
    code.blank();
    code.doc(format!("The real value of an integer of {role} {}.", docs::code_span(&port.port.name)));
    code.line("#[must_use]");
    code.block(format!("pub fn dequantize_{}(q: {element}) -> f32 {{", port.ident), "}", |code| {
        let q = if port.ty().dtype == DType::I32 { "q" } else { "q.into()" };
        code.line(format!("Self::{}_QUANTIZATION.dequantize({q})", port.upper));
    });
}
