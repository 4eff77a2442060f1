//! Runs that go step by step: the struct of such a run, and the methods that start it.

use super::memories::Holding;
use super::ports::Port;
use super::runner::Runner;
use super::steps::Steps;
use super::writer::{CALL_WIDTH, Code};
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
        // Not yet where steps may fail, nor where other models share the memory.
        let stepped = self.pushed_layers().is_none() && !self.fallible() && self.holding() != Holding::Shared;
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
        code.block(format!("pub struct {name}<'a, I = ()> {{"), "}", |code| {
            code.line(format!("runner: &'a mut {runner},"));
            code.line("instrument: I,");
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
        self.start_signature(code, &format!("pub fn {name}"), given, |lifetime| format!("{run}<{lifetime}>"));
        let passed = [vec!["()".to_owned()], self.start_arguments(inputs)].concat();
        code.indented(|code| code.list(&format!("self.{name}_with("), &passed, ")", CALL_WIDTH));
        code.line("}");
        code.blank();
        code.doc(format!("[`{name}`](Self::{name}), observed by `instrument`."));
        let given = Given { instrument: true, inputs };
        self.start_signature(code, &format!("pub fn {name}_with"), given, |lifetime| {
            format!("{run}<{lifetime}, I>")
        });
        code.indented(body);
        code.line("}");
    }

    fn run_async(&self, code: &mut Code) {
        code.blank();
        code.doc("Runs the model, and lets other tasks of an executor run after each of its steps.");
        let given = Given { instrument: false, inputs: true };
        self.start_signature(code, "pub async fn run_async", given, |lifetime| self.outputs_of(lifetime));
        code.indented(|code| {
            code.list("let run = self.start(", &self.start_arguments(true), ");", CALL_WIDTH);
            let end = if self.gives_outputs() { "" } else { ";" };
            code.line(format!("run.finish_async().await{end}"));
        });
        code.line("}");
    }

    /// What a run gives in the end; nothing where it gives nothing.
    fn outputs_of(&self, lifetime: &str) -> String {
        match (self.outputs_struct(), &self.ports.outputs[..]) {
            _ if !self.gives_outputs() => String::new(),
            (None, [port]) if lifetime == "'_" => format!("&{}", port.array()),
            (None, [port]) => format!("&{lifetime} {}", port.array()),
            (name, _) => format!("{}<{lifetime}>", name.unwrap_or_default()),
        }
    }

    /// The signature of a method that starts a run; what the run holds is there as long as
    /// the runner is borrowed.
    fn start_signature(&self, code: &mut Code, open: &str, given: Given, result: impl Fn(&str) -> String) {
        let holds_inputs = given.inputs && self.holds_inputs();
        let named = holds_inputs || self.holds_outputs();
        let lifetime = if named { "'a" } else { "'_" };
        let generics: Vec<_> = named.then_some("'a").into_iter().collect();
        let generics =
            [generics, Vec::from_iter(given.instrument.then_some("I: ::aot_rt::Instrument"))].concat();
        let generics = if generics.is_empty() { String::new() } else { format!("<{}>", generics.join(", ")) };
        let mut arguments = vec![if named { "&'a mut self" } else { "&mut self" }.to_owned()];
        if given.instrument {
            arguments.push("instrument: I".into());
        }
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
        let result = if result.is_empty() { result } else { format!("-> {result} ") };
        code.wide_list(&format!("{open}{generics}("), &arguments, &format!(") {result}{{"));
    }

    /// The arguments of a method that starts a run, beside the instrument.
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
        let generics = if self.gives_outputs() { "'a, " } else { "" };
        let open = format!("impl<{generics}I: ::aot_rt::Instrument> {run}<{lifetime}, I> {{");
        code.block(open, "}", |code| {
            next_step(code, steps);
            self.step(code, steps);
            run_until(code);
            self.finishes(code);
        });
    }

    fn step(&self, code: &mut Code, steps: &Steps<'_>) {
        code.blank();
        code.doc("Runs the next step, and says which that was; `None` when all have run.");
        code.block(format!("pub fn step(&mut self) -> {STEP} {{"), "}", |code| {
            if steps.steps().is_empty() {
                return code.line("self.next_step()");
            }
            code.line("let step = self.next_step()?;");
            steps.borrow_memories(code, "self.runner", &steps.sites(0).collect::<Vec<_>>());
            code.line("let instrument = &mut self.instrument;");
            let arguments = steps.step_arguments(|port| self.held(port));
            code.list("self.position = steps::step(", &arguments, ");", CALL_WIDTH);
            if self.has_state() {
                code.block(format!("if self.position == {} {{", steps.end()), "}", |code| {
                    code.line("self.runner.has_state = true;");
                });
            }
            code.line("Some(step)");
        });
    }

    /// How a run reaches a caller's array.
    fn held(&self, port: &Port<'_>) -> String {
        let is_input = self.ports.inputs.iter().any(|input| input.ident == port.ident);
        let (field, name) =
            if is_input { ("inputs", self.inputs_struct()) } else { ("outputs", self.outputs_struct()) };
        if name.is_some() { format!("self.{field}.{}", port.ident) } else { format!("self.{field}") }
    }

    /// The methods that run what is left.
    fn finishes(&self, code: &mut Code) {
        let result = self.outputs_of("'a");
        let result = if result.is_empty() { result } else { format!(" -> {result}") };
        let end = if self.gives_outputs() { "" } else { ";" };
        code.blank();
        code.doc("Runs the steps that are left.");
        code.block(format!("pub fn finish(mut self){result} {{"), "}", |code| {
            code.line("while self.step().is_some() {}");
            if self.gives_outputs() {
                code.line("let Self { runner, .. } = self;");
                self.result(code, "runner");
            }
        });
        code.blank();
        code.doc("[`finish`](Self::finish), and lets other tasks of an executor run after each step.");
        code.block(format!("pub async fn finish_async(mut self){result} {{"), "}", |code| {
            code.block("while self.step().is_some() {", "}", |code| {
                code.line("::aot_rt::yield_now().await;");
            });
            code.line(format!("self.finish(){end}"));
        });
    }
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

fn run_until(code: &mut Code) {
    code.blank();
    code.doc(
        "Runs the steps before the one that is called `name`, or before the first one of the\n\
         model file's node that is: that is the next one then. Runs nothing where it is already.\n\n\
         # Errors\n\n\
         When there is no such step, or it does not come any more.",
    );
    code.wide_list(
        "pub fn run_until(",
        &["&mut self".into(), "name: &str".into()],
        ") -> ::core::result::Result<(), ::aot_rt::UntilError> {",
    );
    code.indented(|code| {
        code.line("loop {");
        code.indented(|code| {
            code.line("let next = self.next_step();");
            code.block("if ::aot_rt::is_next(&steps::STEPS, &steps::REPEATED, name, next)? {", "}", |code| {
                code.line("return Ok(());");
            });
            code.line("self.step();");
        });
        code.line("}");
    });
    code.line("}");
}
