//! Runs that go step by step: the struct of such a run, and the methods that start it.

mod advance;

use super::memories::Holding;
use super::runner::Runner;
use super::steps::Steps;
use super::writer::{CALL_WIDTH, Code, MAX_WIDTH};
use crate::config::{InputPlacement, Placement};

/// What names a step, or says that there is none.
const STEP: &str = "::core::option::Option<&'static ::aot_rt::StepInfo>";

/// What a method that starts a run is given.
#[derive(Clone, Copy)]
struct Given {
    instrument: bool,
    inputs: bool,
}

impl Runner<'_> {
    /// Name of the struct of a run, unless the input is pushed in rows.
    pub(super) fn run_struct(&self) -> Option<String> {
        self.pushed_layers().is_none().then(|| format!("{}Run", self.model.type_name))
    }

    /// Whether a run holds the caller's inputs.
    fn holds_inputs(&self) -> bool {
        self.ports.input_place == InputPlacement::Caller && !self.ports.inputs.is_empty()
    }

    /// Whether a run holds the caller's outputs.
    fn holds_outputs(&self) -> bool {
        self.ports.output_place == Placement::Caller && !self.ports.outputs.is_empty()
    }

    /// Whether a run gives the outputs when it is finished.
    fn gives_outputs(&self) -> bool {
        self.ports.output_place == Placement::Workspace && !self.ports.outputs.is_empty()
    }

    /// The struct.
    pub(super) fn run_declaration(&self, code: &mut Code, steps: &Steps<'_>, name: &str) {
        let runner = &self.model.type_name;
        if self.fallible() {
            self.aliases(code);
        }
        code.blank();
        let (has, field) = if self.holding() == Holding::Shared {
            ("has the runner, so that nothing else uses that or its memory", format!("{runner}<'a>"))
        } else {
            ("borrows the runner, so that nothing else uses that", format!("&'a mut {runner}"))
        };
        code.doc(format!(
            "A run of [`{runner}`] that goes step by step.\n\n\
             It {has} meanwhile. One that is dropped\n\
             before its end has no outputs."
        ));
        if self.has_state() {
            code.doc("\nThe run after that starts from the initial state.");
        }
        code.line("#[derive(Debug)]");
        code.line(r#"#[must_use = "a run does nothing by itself"]"#);
        let generics = [vec!["'a".to_owned()], self.drivers(), vec!["I = ()".into()]].concat();
        code.block(format!("pub struct {name}<{}> {{", generics.join(", ")), "}", |code| {
            code.line(format!("runner: {field},"));
            code.line("instrument: I,");
            if self.devices.is_used() {
                code.line(format!("active: {}<'a, {},", self.active(), &self.devices.parameters()[1..]));
            }
            if let Some(parameter) = self.kernel_parameter() {
                code.line(format!("{},", parameter.replace('&', "&'a ")));
            }
            if self.holds_inputs() {
                code.line(format!("inputs: {},", self.inputs_type("'a")));
            }
            if self.holds_outputs() {
                code.line(format!("outputs: {},", self.outputs_type("&'a mut")));
            }
            code.line("position: usize,");
            if let Some(layers) = steps.most_layers() {
                code.line(format!("rows: [usize; {layers}],"));
            }
        });
    }

    /// `Npu: NetNpu`, for each device.
    fn drivers(&self) -> Vec<String> {
        let devices = self.devices.list.iter();
        devices.map(|device| format!("{}: {}", device.parameter, device.interface)).collect()
    }

    /// The type of a run: `NetRun<'a, Npu, I>`.
    fn run_type(&self, run: &str, lifetime: &str, instrument: bool) -> String {
        let devices = self.devices.list.iter().map(|device| device.parameter.clone());
        let arguments =
            [lifetime.to_owned()].into_iter().chain(devices).chain(instrument.then(|| "I".into()));
        format!("{run}<{}>", arguments.collect::<Vec<_>>().join(", "))
    }

    /// What a run is given to hold beside the caller's arrays.
    fn held_company(&self) -> Vec<String> {
        self.company_parameters().iter().map(|parameter| parameter.replace('&', "&'a ")).collect()
    }

    fn inputs_type(&self, lifetime: &str) -> String {
        match (self.inputs_struct(), &self.ports.inputs[..]) {
            (None, [port]) if lifetime == "'_" => format!("&{}", port.array()),
            (None, [port]) => format!("&{lifetime} {}", port.array()),
            (name, _) => format!("{}<{lifetime}>", name.unwrap_or_default()),
        }
    }

    fn outputs_type(&self, reference: &str) -> String {
        match (self.outputs_struct(), &self.ports.outputs[..]) {
            (None, [port]) => format!("{reference} {}", port.array()),
            (name, _) => format!("{}<'a>", name.unwrap_or_default()),
        }
    }

    /// The methods of the runner that start a run, or await one.
    pub(super) fn starts(&self, code: &mut Code, steps: &Steps<'_>, run: &str) {
        let copies = self.ports.input_place == InputPlacement::Workspace && !self.ports.inputs.is_empty();
        if copies {
            let doc = "Starts a run that goes step by step: copies its inputs into the workspace first.";
            self.start(code, run, "start", doc, true, |code| {
                for port in &self.ports.inputs {
                    code.line(format!("*self.{}_mut() = *{};", port.ident, self.array(port)));
                }
                let passed = self.passed_on(self.output_arguments());
                code.line(format!("self.start_in_place_with({passed})"));
            });
            let doc = "Starts a run that goes step by step, on what is in the regions of its inputs.";
            self.start(code, run, "start_in_place", doc, false, |code| self.new_run(code, steps, run));
        } else {
            let doc = "Starts a run that goes step by step.";
            self.start(code, run, "start", doc, true, |code| self.new_run(code, steps, run));
        }
        self.run_async(code);
    }

    /// A method that starts a run, and the same with an instrument.
    fn start(
        &self,
        code: &mut Code,
        run: &str,
        name: &str,
        doc: &str,
        inputs: bool,
        body: impl FnOnce(&mut Code),
    ) {
        code.blank();
        code.doc(doc);
        let given = Given { instrument: false, inputs };
        self.start_signature(code, &format!("pub fn {name}"), given, |lifetime| {
            self.run_type(run, lifetime, false)
        });
        let passed = [vec!["()".to_owned()], self.company_arguments(), self.start_arguments(inputs)].concat();
        code.indented(|code| code.list(&format!("self.{name}_with("), &passed, ")", CALL_WIDTH));
        code.line("}");
        code.blank();
        code.doc(format!("[`{name}`](Self::{name}), observed by `instrument`."));
        let given = Given { instrument: true, inputs };
        self.start_signature(code, &format!("pub fn {name}_with"), given, |lifetime| {
            self.run_type(run, lifetime, true)
        });
        code.indented(body);
        code.line("}");
    }

    fn run_async(&self, code: &mut Code) {
        code.blank();
        code.doc("Runs the model, and lets other tasks of an executor run after each of its steps.");
        self.doc_errors(code);
        let given = Given { instrument: false, inputs: true };
        self.start_signature(code, "pub async fn run_async", given, |lifetime| {
            self.step_result(&self.outputs_of(lifetime))
        });
        code.indented(|code| {
            let arguments = [self.company_arguments(), self.start_arguments(true)].concat();
            code.list("let run = self.start(", &arguments, ");", CALL_WIDTH);
            code.line(format!("run.finish_async().await{}", self.end()));
        });
        code.line("}");
    }

    /// What a run gives in the end.
    fn outputs_of(&self, lifetime: &str) -> String {
        match (self.outputs_struct(), &self.ports.outputs[..]) {
            _ if !self.gives_outputs() => "()".into(),
            (None, [port]) if lifetime == "'_" => format!("&{}", port.array()),
            (None, [port]) => format!("&{lifetime} {}", port.array()),
            (name, _) => format!("{}<{lifetime}>", name.unwrap_or_default()),
        }
    }

    /// The type of a method's result that runs steps and gives something.
    fn step_result(&self, gives: &str) -> String {
        if !self.fallible() {
            return gives.to_owned();
        }
        let errors = self.devices.list.iter().map(|device| format!(", {}::Error", device.parameter));
        format!("{}Stepped<{gives}{}>", self.model.type_name, errors.collect::<String>())
    }

    /// Short names for the results of methods that run steps which may fail.
    fn aliases(&self, code: &mut Code) {
        let name = &self.model.type_name;
        let devices = self.devices.list.iter().map(|device| format!(", {}", device.parameter));
        let (parameters, error) = if self.devices.is_used() {
            (self.devices.parameters(), self.devices.error() + &self.devices.parameters())
        } else {
            (String::new(), "::aot_rt::CallError".into())
        };
        code.blank();
        code.doc("The step that has run, if one was left.");
        code.assign(&format!("type {name}Step"), STEP);
        code.blank();
        code.doc("What comes of steps, which may fail.");
        code.assign(
            &format!("type {name}Stepped<T{}>", devices.collect::<String>()),
            &format!("::core::result::Result<T, ::aot_rt::StepError<{error}>>"),
        );
        code.blank();
        code.doc("What comes of running until a step.");
        code.assign(
            &format!("type {name}Until{parameters}"),
            &format!("::core::result::Result<(), ::aot_rt::UntilError<{error}>>"),
        );
    }

    /// The signature of a method that starts a run; what the run holds is there as long as
    /// the runner is borrowed. A runner that shares its memory is one borrow already: the run takes
    /// it.
    fn start_signature(&self, code: &mut Code, open: &str, given: Given, result: impl Fn(&str) -> String) {
        let holds_inputs = given.inputs && self.holds_inputs();
        let company = self.held_company();
        let shared = self.holding() == Holding::Shared;
        let named = holds_inputs || self.holds_outputs() || !company.is_empty();
        let lifetime = if shared || named { "'a" } else { "'_" };
        let mut generics = Vec::from_iter((named && !shared).then(|| "'a".to_owned()));
        generics.extend(self.drivers());
        generics.extend(given.instrument.then(|| "I: ::aot_rt::Instrument".to_owned()));
        let receiver = match (shared, named) {
            (true, _) if given.instrument && self.prepares_run(given) => "mut self",
            (true, _) => "self",
            (false, true) => "&'a mut self",
            (false, false) => "&mut self",
        };
        let mut arguments = vec![receiver.to_owned()];
        if given.instrument {
            arguments.push("instrument: I".into());
        }
        arguments.extend(company);
        if given.inputs {
            let lifetime = if holds_inputs { "'a" } else { "'_" };
            let reference = if holds_inputs { "&'a " } else { "&" };
            match self.inputs_struct() {
                Some(name) => arguments.push(format!("inputs: {name}<{lifetime}>")),
                None => arguments.extend(
                    self.ports
                        .inputs
                        .iter()
                        .map(|port| format!("{}: {reference}{}", port.ident, port.array())),
                ),
            }
        }
        if self.holds_outputs() {
            let name = self.output_arguments().concat();
            arguments.push(format!("{name}: {}", self.outputs_type("&'a mut")));
        }
        let result = result(lifetime);
        let open = open.to_owned() + &angled(code, open, &generics) + "(";
        code.wide_list(&open, &arguments, &format!("){} {{", arrow(&result)));
    }

    /// Whether what starts a run calls methods of the runner that write its memory.
    fn prepares_run(&self, given: Given) -> bool {
        let copies = given.inputs && !self.holds_inputs() && !self.ports.inputs.is_empty();
        copies || self.has_state() || self.has_copies()
    }

    /// The arguments of a method that starts a run: the caller's arrays.
    fn start_arguments(&self, inputs: bool) -> Vec<String> {
        let inputs = match self.inputs_struct() {
            _ if !inputs => Vec::new(),
            Some(_) => vec!["inputs".to_owned()],
            None => self.ports.inputs.iter().map(|port| port.ident.clone()).collect(),
        };
        [inputs, self.output_arguments()].concat()
    }

    /// A run at its start.
    fn new_run(&self, code: &mut Code, steps: &Steps<'_>, run: &str) {
        self.ensure_state(code);
        if self.has_state() && !steps.steps().is_empty() {
            code.line(format!(
                "{} = false; // Until the run has come to its end.",
                self.flag("self", "has_state")
            ));
        }
        code.block(format!("{run} {{"), "}", |code| {
            let field = |name: &str, value: &str| {
                if name == value { format!("{name},") } else { format!("{name}: {value},") }
            };
            code.line("runner: self,");
            code.line("instrument,");
            if self.devices.is_used() {
                code.block(format!("active: {} {{", self.active()), "},", |code| {
                    code.line("devices,");
                    code.line("begun: false,");
                });
            }
            for argument in self.kernel_argument() {
                code.line(format!("{argument},"));
            }
            if self.holds_inputs() {
                code.line(field("inputs", &self.start_arguments(true)[0]));
            }
            if self.holds_outputs() {
                code.line(field("outputs", &self.output_arguments()[0]));
            }
            code.line(format!("position: {},", steps.entry(0)));
            if let Some(layers) = steps.most_layers() {
                code.line(format!("rows: [0; {layers}],"));
            }
        });
    }
}

/// `<items>`, for a function that is called `open` so far; nothing where there are none.
fn angled(code: &Code, open: &str, items: &[String]) -> String {
    let line = format!("<{}>", items.join(", "));
    if items.is_empty() {
        String::new()
    } else if code.indent() * 4 + open.len() + line.len() < MAX_WIDTH {
        line
    } else {
        let indent = "    ".repeat(code.indent());
        let lines: String = items.iter().map(|item| format!("{indent}    {item},\n")).collect();
        format!("<\n{lines}{indent}>")
    }
}

/// ` -> type`, unless that is `()`.
fn arrow(result: &str) -> String {
    if result == "()" { String::new() } else { format!(" -> {result}") }
}
