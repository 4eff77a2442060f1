//! How a run goes on: the methods that run its steps, and what deactivates devices behind them.

use super::{STEP, arrow};
use crate::codegen::literal::integer;
use crate::codegen::ports::Port;
use crate::codegen::runner::Runner;
use crate::codegen::steps::Steps;
use crate::codegen::writer::{CALL_WIDTH, Code};

impl Runner<'_> {
    /// The methods of a run.
    pub(in crate::codegen) fn run_implementation(&self, code: &mut Code, steps: &Steps<'_>, run: &str) {
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
                    code.line(format!("{} = true;", self.flag("self.runner", "has_state")));
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
    pub(super) fn active(&self) -> String {
        format!("{}Active", self.model.type_name)
    }

    /// What deactivates the devices when a run is given up.
    pub(in crate::codegen) fn active_items(&self, code: &mut Code) {
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
