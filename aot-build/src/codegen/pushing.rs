//! The runner of a model whose input is pushed row by row.

use super::docs;
use super::environment::INSTRUMENT;
use super::literal::integer;
use super::ports::Port;
use super::runner::Runner;
use super::steps::Steps;
use super::writer::{CALL_WIDTH, Code};
use crate::config::Placement;
use crate::program::Pushed;

impl Runner<'_> {
    /// Layers of the run that reads the pushed rows, where there are such.
    pub(super) fn pushed_layers(&self) -> Option<usize> {
        let program = &self.model.compiled.program;
        program.pushed.and_then(|_| program.runs.first()).map(|run| run.layers.len())
    }

    /// `run`, `feed_row`, `restart` and what they share.
    pub(super) fn push_rows(&self, code: &mut Code, steps: &Steps<'_>, input: &Port<'_>, pushed: Pushed) {
        let (rows, row_len) = (integer(pushed.rows), integer(input.ty().shape.elements() / pushed.rows));
        let row = format!("row: &[{}; {row_len}]", input.element());
        self.uninstrumented(code, "run", true, "Runs the model: pushes all rows of its input.");
        self.instrumented(code, "run", true);
        code.indented(|code| {
            code.line("self.restart();");
            code.block(format!("for row in {}.as_chunks::<{row_len}>().0 {{", input.ident), "}", |code| {
                code.line("self.take_row(instrument, row);");
            });
            code.line(format!("self.finish({}){}", self.passed_on(self.output_arguments()), self.end()));
        });
        code.line("}");
        self.feed_row(code, input, &rows, &row);
        code.blank();
        code.doc("Forgets the rows that have been pushed: the next one is the first.");
        code.block("pub const fn restart(&mut self) {", "}", |code| {
            code.line("self.pushed = 0;");
            code.line("self.rows = ::aot_rt::kernels::Rows::new();");
        });
        code.blank();
        code.doc("Takes a row, and computes as far as that reaches.");
        code.wide_list("fn take_row(", &["&mut self".into(), INSTRUMENT.into(), row], ") {");
        code.indented(|code| {
            self.ensure_state(code);
            code.line("let workspace = &mut self.workspace;");
            code.line("steps::input_row(workspace, self.pushed, row);");
            code.line("self.pushed += 1;");
            code.line("steps::rows_0(workspace, &mut self.rows, self.pushed, instrument);");
        });
        code.line("}");
        self.finish(code, steps);
    }

    fn feed_row(&self, code: &mut Code, input: &Port<'_>, rows: &str, row: &str) {
        let place = self.ports.output_place;
        let (result, unready, what) = match (place, self.outputs_struct(), &self.ports.outputs[..]) {
            (Placement::Workspace, Some(name), _) => {
                (format!("::core::option::Option<{name}<'_>>"), "None", "gives the outputs")
            }
            (Placement::Workspace, None, [port]) => {
                (format!("::core::option::Option<&{}>", port.array()), "None", "gives the output")
            }
            _ => ("bool".into(), "false", "writes the outputs and returns `true`"),
        };
        code.blank();
        code.doc(format!(
            "Pushes the next of {rows} rows of input {}; the last one {what}, and the next\nis the first again.",
            docs::code_span(&input.port.name)
        ));
        let outputs = self.output_parameters();
        self.errors_doc(code);
        let (result, given) = (self.returns(&result), [vec![row.to_owned()], outputs].concat());
        let open = |code: &Code, name: &str| format!("pub fn {name}{}(", self.devices.bounds(code, name));
        let this = || vec!["&mut self".to_owned()];
        let arguments = [this(), self.devices_given(), given.clone()].concat();
        code.wide_list(&open(code, "feed_row"), &arguments, &format!("){result} {{"));
        let passed = [self.passed_unobserved(), vec!["row".to_owned()], self.output_arguments()].concat();
        code.indented(|code| code.list("self.feed_row_with(", &passed, ")", CALL_WIDTH));
        code.line("}");
        code.blank();
        code.doc("The same, observed by `instrument`.");
        self.errors_doc(code);
        let arguments = [this(), self.environment(), given].concat();
        code.wide_list(&open(code, "feed_row_with"), &arguments, &format!("){result} {{"));
        code.indented(|code| {
            let ok =
                |value: &str| if self.devices.is_used() { format!("Ok({value})") } else { value.to_owned() };
            code.line("self.take_row(instrument, row);");
            code.block(format!("if self.pushed < {rows} {{"), "}", |code| {
                code.line(format!("return {};", ok(unready)));
            });
            code.line("self.restart();");
            let finish = format!("self.finish({})", self.passed_on(self.output_arguments()));
            match (unready, self.devices.is_used()) {
                ("None", false) => code.line(format!("Some({finish})")),
                ("None", true) => code.line(format!("{finish}.map(Some)")),
                (_, used) => {
                    code.line(format!("{finish}{};", if used { "?" } else { "" }));
                    code.line(ok("true"));
                }
            }
        });
        code.line("}");
    }

    /// The function that runs the steps behind the first run.
    fn finish(&self, code: &mut Code, steps: &Steps<'_>) {
        code.blank();
        code.doc("The steps that follow when all rows are there.");
        self.private_signature(code, "finish");
        if self.devices.is_used() {
            self.managed(code, false);
            self.private_steps(code, false, |_| ());
        }
        code.indented(|code| {
            let first = self.model.compiled.program.runs.first().map_or(0, |run| run.steps().end);
            if first == steps.steps().len() {
                code.line("let _ = instrument; // No step follows.");
            }
            if steps.use_workspace_from(first) {
                code.line("let workspace = &mut self.workspace;");
            }
            if let (Placement::Caller, Some(outputs)) = (self.ports.output_place, self.outputs_struct()) {
                let names: Vec<_> = self.ports.outputs.iter().map(|port| port.ident.clone()).collect();
                code.wide_list(&format!("let {outputs} {{ "), &names, " } = outputs;");
            }
            steps.calls(code, first, |port| self.array(port));
            self.end_of_steps(code);
        });
        code.line("}");
    }
}
