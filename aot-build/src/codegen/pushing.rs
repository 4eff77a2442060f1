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
                self.take_row(code);
            });
            // The next row that is fed is a first one.
            code.line("self.restart();");
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
        // Devices run none of these steps.
        let parameters = ["&mut self".to_owned(), INSTRUMENT.into()].into_iter();
        let parameters: Vec<_> = parameters.chain(self.kernel_parameter()).chain([row]).collect();
        let result = if self.binds() { " -> ::core::result::Result<(), ::aot_rt::CallError>" } else { "" };
        code.wide_list("fn take_row(", &parameters, &format!("){result} {{"));
        code.indented(|code| {
            self.ensure_state(code);
            let run: Vec<_> =
                self.model.compiled.program.runs.first().map_or(Vec::new(), |run| steps.run_sites(run));
            let (memory, memories) = (self.ports.memory(input), self.memories());
            let borrowed = memories.borrowed(memory);
            code.line(format!("steps::input_row({borrowed}, self.pushed, row);"));
            code.line("self.pushed += 1;");
            steps.borrow_memories(code, "self", &run);
            let given = ["&mut self.rows", "self.pushed"].map(str::to_owned).to_vec();
            let passed = steps.passed(&run, given);
            if self.binds() {
                code.list("let done = steps::rows_0(", &passed, ");", CALL_WIDTH);
                code.block("if done.is_err() {", "}", |code| code.line("self.restart();"));
                if self.has_state() {
                    code.line(format!("{} = done.is_ok();", self.flag("has_state")));
                }
                code.line("done");
            } else {
                code.list("steps::rows_0(", &passed, ");", CALL_WIDTH);
            }
        });
        code.line("}");
        self.finish(code, steps);
    }

    fn feed_row(&self, code: &mut Code, input: &Port<'_>, rows: &str, row: &str) {
        let place = self.ports.output_place;
        let (gives, unready, what) = match (place, self.outputs_struct(), &self.ports.outputs[..]) {
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
        self.doc_errors(code);
        let close = format!("){} {{", self.result_type(&gives));
        let parameters = |instrument: &[&str]| {
            let own = ["&mut self"].iter().chain(instrument).map(ToString::to_string).collect();
            [own, self.company_parameters(), vec![row.to_owned()], self.output_parameters()].concat()
        };
        let open = |code: &Code, open: &str| format!("{open}{}(", self.devices.bounds(code, open));
        code.wide_list(&open(code, "pub fn feed_row"), &parameters(&[]), &close);
        let passed = [vec!["&mut ()".to_owned()], self.company_arguments(), vec!["row".to_owned()]];
        let passed = [passed.concat(), self.output_arguments()].concat();
        code.indented(|code| code.list("self.feed_row_with(", &passed, ")", CALL_WIDTH));
        code.line("}");
        code.blank();
        code.doc("The same, observed by `instrument`.");
        self.doc_errors(code);
        code.wide_list(&open(code, "pub fn feed_row_with"), &parameters(&[INSTRUMENT]), &close);
        let [open, close] = if self.fallible() { ["Ok(", ")"] } else { ["", ""] };
        code.indented(|code| {
            self.take_row(code);
            code.block(format!("if self.pushed < {rows} {{"), "}", |code| {
                code.line(format!("return {open}{unready}{close};"));
            });
            code.line("self.restart();");
            let passed = self.passed_on(self.output_arguments());
            let finish = format!("self.finish({passed}){}", self.propagated());
            if unready == "None" {
                code.line(format!("{open}Some({finish}){close}"));
            } else {
                code.line(format!("{finish};"));
                code.line(format!("{open}true{close}"));
            }
        });
        code.line("}");
    }

    /// Takes `row`.
    fn take_row(&self, code: &mut Code) {
        let given = [vec!["instrument".to_owned()], self.kernel_argument(), vec!["row".to_owned()]].concat();
        let propagated = if self.binds() { "?" } else { "" };
        code.line(format!("self.take_row({}){propagated};", given.join(", ")));
    }

    /// The function that runs the steps behind the first run.
    fn finish(&self, code: &mut Code, steps: &Steps<'_>) {
        code.blank();
        code.doc("The steps that follow when all rows are there.");
        self.private_signature(code, "finish");
        if self.devices.is_used() {
            self.managed(code, false);
            self.private_steps(code, false);
        }
        code.indented(|code| {
            let first = self.model.compiled.program.runs.first().map_or(0, |run| run.steps().end);
            if first == steps.steps().len() {
                self.ignore_environment(code, "No step follows.");
            } else {
                self.ignore_kernels(code, steps, first);
            }
            steps.borrow_memories(code, "self", &steps.sites(first).collect::<Vec<_>>());
            self.named_outputs(code, steps);
            self.doubt_state(code);
            steps.calls(code, first, |port| self.array(port));
            self.trust_state(code);
            self.end_of_steps(code);
        });
        code.line("}");
    }
}
