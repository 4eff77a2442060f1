//! The runner: its struct, its constants, and `run` in the form that the placement
//! of inputs and outputs asks for.

mod ports;

use ports::{dequantize, quantize};

use super::devices::Devices;
use super::environment::INSTRUMENT;
use super::memories::Holding;
use super::ports::{Port, Ports};
use super::steps::Steps;
use super::writer::{CALL_WIDTH, Code};
use super::{docs, metadata};
use crate::Model;
use crate::config::{InputPlacement, Placement};

/// What the runner's items are printed from.
pub(super) struct Runner<'m> {
    pub(super) model: &'m Model,
    pub(super) ports: &'m Ports<'m>,
    pub(super) devices: &'m Devices<'m>,
}

impl Runner<'_> {
    pub(super) fn name(&self) -> &str {
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
            if self.devices.is_used() {
                self.active_items(code);
            }
        }
        if self.devices.is_used() {
            self.devices.items(code);
        } else {
            // What is run without a type has no devices.
            code.blank();
            self.untyped(code);
        }
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
        let structs = structs.into_iter().flatten();
        [self.name().to_owned()].into_iter().chain(structs).chain(self.devices.exports()).collect()
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

    /// The inherent items.
    fn implementation(&self, code: &mut Code, steps: &Steps<'_>) {
        let [generics, lifetime] = match self.run_struct() {
            _ if self.holding() != Holding::Shared => ["", ""],
            Some(_) => ["<'a>", "<'a>"],
            None => ["", "<'_>"],
        };
        code.block(format!("impl{generics} {}{lifetime} {{", self.name()), "}", |code| {
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
        if self.devices.is_used() {
            self.instrumented(code, name, takes_inputs);
            self.managed(code, takes_inputs);
            self.private_steps(code, takes_inputs);
        } else {
            self.instrumented(code, name, takes_inputs);
        }
        code.indented(|code| {
            self.ensure_state(code);
            steps.borrow_memories(code, "self", &sites);
            if steps.steps().is_empty() {
                self.ignore_environment(code, "There is no step.");
            } else {
                self.ignore_kernels(code, steps, 0);
            }
            let unused = |port: &&Port<'_>| takes_inputs && !steps.use_port(port);
            for port in self.ports.inputs.iter().filter(unused) {
                code.line(format!("let _ = {}; // No step reads it.", self.input_array(port)));
            }
            self.named_outputs(code, steps);
            self.doubt_state(code);
            steps.calls(code, 0, |port| self.array(port));
            self.trust_state(code);
            self.end_of_steps(code);
        });
        code.line("}");
    }

    /// What the function that calls the steps gives.
    pub(super) fn end_of_steps(&self, code: &mut Code) {
        if self.devices.is_used() {
            code.line("Ok(())");
        } else {
            self.result(code, "self");
        }
    }

    /// The rest of a function that runs `run_steps` between the devices' activation and
    /// deactivation.
    pub(super) fn managed(&self, code: &mut Code, takes_inputs: bool) {
        let inputs = if takes_inputs { self.input_arguments() } else { Vec::new() };
        let passed = self.all_passed_on([inputs, self.output_arguments()].concat());
        code.indented(|code| {
            code.line("let mut result = devices.begin();");
            code.block("if result.is_ok() {", "}", |code| {
                code.list("result = self.run_steps(", &passed, ");", CALL_WIDTH);
            });
            if self.has_state() {
                code.line("let result = devices.end(result);");
                // It may be half of what it was and half of what it was to become.
                let forget = format!("{} = false;", self.flag("self", "has_state"));
                code.block("if result.is_err() {", "}", |code| code.line(forget));
                code.line("result?;");
            } else {
                code.line("devices.end(result)?;");
            }
            self.result(code, "self");
        });
        code.line("}");
    }

    /// `fn run_steps(..) -> .. {`
    pub(super) fn private_steps(&self, code: &mut Code, takes_inputs: bool) {
        code.blank();
        code.doc("The steps, until a device fails.");
        self.function(code, "fn run_steps", &[INSTRUMENT], takes_inputs, "()");
    }

    /// A function `name` that runs `name_with` without an instrument.
    pub(super) fn uninstrumented(&self, code: &mut Code, name: &str, takes_inputs: bool, doc: &str) {
        code.blank();
        code.doc(doc);
        self.doc_errors(code);
        self.function(code, &format!("pub fn {name}"), &[], takes_inputs, &self.value());
        let inputs = if takes_inputs { self.input_arguments() } else { Vec::new() };
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
        code.blank();
        code.doc(format!("[`{name}`](Self::{name}), observed by `instrument`."));
        self.doc_errors(code);
        self.function(code, &format!("pub fn {name}_with"), &[INSTRUMENT], takes_inputs, &self.value());
    }

    /// What a run hands on: the instrument, what else comes with it, and `arguments`.
    fn all_passed_on(&self, arguments: Vec<String>) -> Vec<String> {
        [vec!["instrument".to_owned()], self.company_arguments(), arguments].concat()
    }

    /// The same, as the arguments of a call.
    pub(super) fn passed_on(&self, arguments: Vec<String>) -> String {
        self.all_passed_on(arguments).join(", ")
    }

    /// Gives the caller's arrays for outputs their names. Those without elements are not written.
    pub(super) fn named_outputs(&self, code: &mut Code, steps: &Steps<'_>) {
        let outputs = &self.ports.outputs;
        match (self.ports.output_place, self.outputs_struct()) {
            (Placement::Workspace, _) => (),
            (Placement::Caller, Some(name)) => {
                let ignored = |port: &Port<'_>| if steps.use_port(port) { "" } else { ": _" };
                let names: Vec<_> = outputs.iter().map(|port| port.ident.clone() + ignored(port)).collect();
                code.wide_list(&format!("let {name} {{ "), &names, " } = outputs;");
            }
            (Placement::Caller, None) => {
                for port in outputs.iter().filter(|port| !steps.use_port(port)) {
                    code.line(format!("let _ = {}; // It has no element.", port.ident));
                }
            }
        }
    }

    /// What ends a call that is a function's last.
    pub(super) fn end(&self) -> &'static str {
        if self.fallible() || self.value() != "()" { "" } else { ";" }
    }

    /// Says that no step from `first` on calls a kernel that is bound by name.
    pub(super) fn ignore_kernels(&self, code: &mut Code, steps: &Steps<'_>, first: usize) {
        if self.binds() && !steps.call_bound(&steps.sites(first).collect::<Vec<_>>()) {
            code.line("let _ = kernels; // No step calls one.");
        }
    }

    /// Says that nothing in a function observes or calls anything.
    pub(super) fn ignore_environment(&self, code: &mut Code, why: &str) {
        match self.company_arguments().as_slice() {
            [] => code.line(format!("let _ = instrument; // {why}")),
            company => code.line(format!("let _ = (instrument, {}); // {why}", company.join(", "))),
        }
    }

    /// An output of `runner`, for as long as its memory is borrowed.
    fn output_of(&self, runner: &str, port: &Port<'_>) -> String {
        if runner != "self" && self.holding() == Holding::Shared {
            // By way of its method, only for as long as the runner is.
            let (memory, region) = (&self.ports.memory(port).name, port.place.arguments());
            return format!("{runner}.{memory}.read::<{region}>()");
        }
        format!("{runner}.{}()", port.ident)
    }

    /// What a run of `runner` gives, at the end of its function.
    pub(super) fn result(&self, code: &mut Code, runner: &str) {
        let [open, close] = if self.fallible() { ["Ok(", ")"] } else { ["", ""] };
        match (self.ports.output_place, self.outputs_struct(), self.ports.outputs.as_slice()) {
            (Placement::Workspace, Some(name), outputs) => {
                code.block(format!("{open}{name} {{"), &format!("}}{close}"), |code| {
                    for port in outputs {
                        code.line(format!("{}: {},", port.ident, self.output_of(runner, port)));
                    }
                });
            }
            (Placement::Workspace, None, [port]) => {
                code.line(format!("{open}{}{close}", self.output_of(runner, port)));
            }
            _ if self.fallible() => code.line("Ok(())"),
            _ => (),
        }
    }

    /// `fn name(&mut self, instrument, ..) -> .. {`, without the inputs.
    pub(super) fn private_signature(&self, code: &mut Code, name: &str) {
        self.function(code, &format!("fn {name}"), &[INSTRUMENT], false, &self.value());
    }

    /// What a run gives; nothing where the outputs are the caller's.
    fn value(&self) -> String {
        match (self.ports.output_place, self.outputs_struct(), &self.ports.outputs[..]) {
            (Placement::Workspace, Some(name), _) => format!("{name}<'_>"),
            (Placement::Workspace, None, [port]) => format!("&{}", port.array()),
            _ => "()".into(),
        }
    }

    /// The arguments for inputs.
    fn input_arguments(&self) -> Vec<String> {
        match self.inputs_struct() {
            Some(_) => vec!["inputs".to_owned()],
            None => self.ports.inputs.iter().map(|port| port.ident.clone()).collect(),
        }
    }

    /// `run` as it is declared.
    pub(super) fn declaration_of_run(&self) -> String {
        let mut code = Code::new(0);
        self.function(&mut code, "pub fn run", &[], true, &self.value());
        code.into_text().trim_end_matches(" {\n").to_owned()
    }

    fn function(&self, code: &mut Code, open: &str, environment: &[&str], takes_inputs: bool, value: &str) {
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
        let open = format!("{open}{}(", self.devices.bounds(code, open));
        code.wide_list(&open, &arguments, &format!("){} {{", self.result_type(value)));
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
