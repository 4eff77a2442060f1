//! Runs that go step by step: the struct of such a run, and the methods that start it.

use super::literal::integer;
use super::memories::Holding;
use super::ports::Port;
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
        // Not yet where other models share the memory.
        let stepped = self.pushed_layers().is_none() && self.holding() != Holding::Shared;
        stepped.then(|| format!("{}Run", self.model.type_name))
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
        code.doc(format!(
            "A run of [`{runner}`] that goes step by step.\n\n\
             It borrows the runner, so that nothing else uses that meanwhile. One that is dropped\n\
             before its end has no outputs."
        ));
        if self.has_state() {
            code.doc("\nThe run after that starts from the initial state.");
        }
        code.line("#[derive(Debug)]");
        code.line(r#"#[must_use = "a run does nothing by itself"]"#);
        let generics = [vec!["'a".to_owned()], self.drivers(), vec!["I = ()".into()]].concat();
        code.block(format!("pub struct {name}<{}> {{", generics.join(", ")), "}", |code| {
            code.line(format!("runner: &'a mut {runner},"));
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
    /// the runner is borrowed.
    fn start_signature(&self, code: &mut Code, open: &str, given: Given, result: impl Fn(&str) -> String) {
        let holds_inputs = given.inputs && self.holds_inputs();
        let company = self.held_company();
        let named = holds_inputs || self.holds_outputs() || !company.is_empty();
        let lifetime = if named { "'a" } else { "'_" };
        let mut generics = Vec::from_iter(named.then(|| "'a".to_owned()));
        generics.extend(self.drivers());
        generics.extend(given.instrument.then(|| "I: ::aot_rt::Instrument".to_owned()));
        let mut arguments = vec![if named { "&'a mut self" } else { "&mut self" }.to_owned()];
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
            code.line("self.has_state = false; // Until the run has come to its end.");
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

    /// The methods of a run.
    pub(super) fn run_implementation(&self, code: &mut Code, steps: &Steps<'_>, run: &str) {
        code.blank();
        let lifetime = if self.gives_outputs() { "'a" } else { "'_" };
        let mut generics = Vec::from_iter(self.gives_outputs().then(|| "'a".to_owned()));
        generics.extend(self.drivers());
        generics.push("I: ::aot_rt::Instrument".into());
        let open = format!("impl<{}> {} {{", generics.join(", "), self.run_type(run, lifetime, true));
        code.block(open, "}", |code| {
            next_step(code, steps);
            self.step(code, steps);
            self.run_until(code);
            self.finishes(code);
        });
    }

    fn step(&self, code: &mut Code, steps: &Steps<'_>) {
        code.blank();
        code.doc("Runs the next step, and says which that was; `None` when all have run.");
        self.doc_step_errors(code);
        let short = format!("{}Step", self.model.type_name);
        let result = arrow(&self.step_result(if self.fallible() { &short } else { STEP }));
        code.block(format!("pub fn step(&mut self){result} {{"), "}", |code| {
            if steps.steps().is_empty() {
                let [open, close] = self.success();
                return code.line(format!("{open}self.next_step(){close}"));
            }
            self.check_ended(code, "::aot_rt::StepError::Ended");
            if self.fallible() {
                code.line("let Some(step) = self.next_step() else {");
                code.line("    return Ok(None);");
                code.line("};");
            } else {
                code.line("let step = self.next_step()?;");
            }
            self.run_step(code, steps);
            if self.has_state() {
                code.block(format!("if self.position == {} {{", steps.end()), "}", |code| {
                    code.line("self.runner.has_state = true;");
                });
            }
            code.line(if self.fallible() { "Ok(Some(step))" } else { "Some(step)" });
        });
    }

    /// Runs the step at the position; one that fails leaves the run at no position.
    fn run_step(&self, code: &mut Code, steps: &Steps<'_>) {
        if self.fallible() {
            code.line("let position = ::core::mem::replace(&mut self.position, usize::MAX);");
        }
        if self.devices.is_used() {
            code.line("self.active.begin().map_err(::aot_rt::StepError::Failed)?;");
        }
        steps.borrow_memories(code, "self.runner", &steps.sites(0).collect::<Vec<_>>());
        code.line("let instrument = &mut self.instrument;");
        if self.devices.is_used() {
            code.line("let devices = &mut *self.active.devices;");
        }
        for argument in self.kernel_argument() {
            code.line(format!("let {argument} = self.{argument};"));
        }
        let arguments = |position: &str| steps.step_arguments(position, |port| self.held(port));
        if !self.fallible() {
            return code.list("self.position = steps::step(", &arguments("self.position"), ");", CALL_WIDTH);
        }
        code.list("let result = steps::step(", &arguments("position"), ");", CALL_WIDTH);
        if self.devices.is_used() {
            let end = integer(steps.end());
            code.block("let result = match result {", "};", |code| {
                code.line(format!("Ok(position) if position < {end} => Ok(position),"));
                code.line(format!("result => self.active.end(result.map(|_| ())).map(|()| {end}),"));
            });
        }
        code.line("self.position = result.map_err(::aot_rt::StepError::Failed)?;");
    }

    /// Name of the struct that knows whether a run has devices active.
    fn active(&self) -> String {
        format!("{}Active", self.model.type_name)
    }

    /// What deactivates the devices when a run is given up.
    pub(super) fn active_items(&self, code: &mut Code) {
        let (name, parameters) = (self.active(), self.devices.parameters());
        let drivers = self.drivers().join(", ");
        let ty = format!("{name}<'_, {}", &parameters[1..]);
        let result = self.devices.result("()");
        code.blank();
        code.doc("Devices, and whether a run has to deactivate them.");
        code.line("#[derive(Debug)]");
        code.block(format!("struct {name}<'a, {drivers}> {{"), "}", |code| {
            code.line(format!("devices: &'a mut {}{parameters},", self.devices.holder()));
            code.line("begun: bool,");
        });
        code.blank();
        code.block(format!("impl<{drivers}> {ty} {{"), "}", |code| {
            code.doc("Activates what the run has to, before its first step.");
            code.wide_list("fn begin(", &["&mut self".into()], &format!(") -> {result} {{"));
            code.indented(|code| {
                code.block("if self.begun {", "}", |code| code.line("return Ok(());"));
                code.line("self.begun = true;");
                code.block("match self.devices.begin() {", "}", |code| {
                    code.line("Ok(()) => Ok(()),");
                    code.line("failed => self.end(failed),");
                });
            });
            code.line("}");
            code.blank();
            code.doc("Deactivates what is not to stay active behind a run that ended with `result`.");
            let arguments = ["&mut self".into(), format!("result: {result}")];
            code.wide_list("fn end(", &arguments, &format!(") -> {result} {{"));
            code.indented(|code| {
                code.line("self.begun = false;");
                code.line("self.devices.end(result)");
            });
            code.line("}");
        });
        code.blank();
        code.block(format!("impl<{drivers}> ::core::ops::Drop for {ty} {{"), "}", |code| {
            code.block("fn drop(&mut self) {", "}", |code| {
                code.block("if self.begun {", "}", |code| {
                    code.line("let _ = self.end(Ok(())); // Nobody is there to be told.");
                });
            });
        });
    }

    /// Returns early where the run has failed.
    fn check_ended(&self, code: &mut Code, error: &str) {
        if self.fallible() {
            code.block("if self.position == usize::MAX {", "}", |code| {
                code.line(format!("return Err({error});"));
            });
        }
    }

    /// What stands around the result of a method that runs steps.
    fn success(&self) -> [&'static str; 2] {
        if self.fallible() { ["Ok(", ")"] } else { ["", ""] }
    }

    /// Documentation of how a method fails that runs steps.
    fn doc_step_errors(&self, code: &mut Code) {
        if self.fallible() {
            code.doc("\n# Errors\n\nWhen a step fails, which ends the run, and at every call after that.");
        }
    }

    /// How a run reaches a caller's array.
    fn held(&self, port: &Port<'_>) -> String {
        let is_input = self.ports.inputs.iter().any(|input| input.ident == port.ident);
        let (field, name) =
            if is_input { ("inputs", self.inputs_struct()) } else { ("outputs", self.outputs_struct()) };
        if name.is_some() { format!("self.{field}.{}", port.ident) } else { format!("self.{field}") }
    }

    fn run_until(&self, code: &mut Code) {
        code.blank();
        code.doc(
            "Runs the steps before the one that is called `name`, or before the first one of the\n\
             model file's node that is: that is the next one then. Runs nothing where it is already.\n\n\
             # Errors\n\n\
             When there is no such step, or it does not come any more.",
        );
        let mut result = "::core::result::Result<(), ::aot_rt::UntilError>".to_owned();
        if self.fallible() {
            code.doc("When a step fails, which ends the run, and at every call after that.");
            let errors = if self.devices.is_used() { self.devices.errors() } else { String::new() };
            result = format!("{}Until{errors}", self.model.type_name);
        }
        code.wide_list(
            "pub fn run_until(",
            &["&mut self".into(), "name: &str".into()],
            &format!(") -> {result} {{"),
        );
        code.indented(|code| {
            self.check_ended(code, "::aot_rt::UntilError::Step(::aot_rt::StepError::Ended)");
            code.line("loop {");
            code.indented(|code| {
                code.line("let next = self.next_step();");
                let open = "match ::aot_rt::is_next(&steps::STEPS, &steps::REPEATED, name, next) {";
                code.block(open, "}", |code| {
                    code.line("Ok(false) => (),");
                    code.line("result => return result.map(|_| ()),");
                });
                code.line(if self.fallible() {
                    "self.step().map_err(::aot_rt::UntilError::Step)?;"
                } else {
                    "self.step();"
                });
            });
            code.line("}");
        });
        code.line("}");
    }

    /// The methods that run what is left.
    fn finishes(&self, code: &mut Code) {
        let result = arrow(&self.step_result(&self.outputs_of("'a")));
        let step = format!("self.step(){}", self.propagated());
        code.blank();
        code.doc("Runs the steps that are left.");
        self.doc_step_errors(code);
        let close = format!("){result} {{");
        code.wide_list("pub fn finish(", &["mut self".into()], &close);
        code.indented(|code| {
            code.line(format!("while {step}.is_some() {{}}"));
            if self.gives_outputs() {
                code.line("let Self { runner, .. } = self;");
            }
            self.result(code, "runner");
        });
        code.line("}");
        code.blank();
        code.doc("[`finish`](Self::finish), and lets other tasks of an executor run after each step.");
        self.doc_step_errors(code);
        code.wide_list("pub async fn finish_async(", &["mut self".into()], &close);
        code.indented(|code| {
            code.block(format!("while {step}.is_some() {{"), "}", |code| {
                code.line("::aot_rt::yield_now().await;");
            });
            code.line(format!("self.finish(){}", self.end()));
        });
        code.line("}");
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

fn next_step(code: &mut Code, steps: &Steps<'_>) {
    code.doc("The step that comes next; `None` when all have run.");
    code.line("#[must_use]");
    code.block(format!("pub fn next_step(&self) -> {STEP} {{"), "}", |code| {
        let tests: Vec<_> = steps.tests().collect();
        if tests.is_empty() {
            return code.line("steps::STEPS.get(self.position)");
        }
        code.block("let step = match self.position {", "};", |code| {
            for (position, step) in tests {
                code.line(format!("{position} => {step},"));
            }
            code.line("position => position,");
        });
        code.line("steps::STEPS.get(step)");
    });
}
