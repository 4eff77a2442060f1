//! The runs: a function for each, which calls the functions of its steps row by row.

use aot_rt::kernels::{RowLayer, RowOrigin, RowSource};

use super::literal::integer;
use super::memories::Region;
use super::ports::Port;
use super::sites::Site;
use super::steps::Steps;
use super::writer::{CALL_WIDTH, Code};
use crate::program::{Pushed, Run};

impl<'m> Steps<'m> {
    /// How the input is pushed, where `run` is the one that reads its rows.
    fn pushed(&self, run: &Run) -> Option<Pushed> {
        self.compiled().program.pushed.filter(|_| run.first == 0)
    }

    pub(super) fn run_sites(&self, run: &Run) -> Vec<Site<'m>> {
        run.steps().map(|i| self.site(i)).collect()
    }

    /// The caller's arrays that the steps of a run use.
    fn run_ports(&self, run: &Run) -> Vec<(&'m Port<'m>, bool)> {
        self.ports(&self.run_sites(run))
    }

    /// The call of a run.
    pub(super) fn rows_call(&self, code: &mut Code, run: &Run, array: &impl Fn(&Port<'_>) -> String) {
        let arrays = self.run_ports(run).iter().map(|(port, _)| array(port)).collect();
        let arguments = self.passed(&self.run_sites(run), arrays);
        let close = format!("){};", self.propagated(&self.run_sites(run)));
        code.list(&format!("steps::rows_{}(", run.first), &arguments, &close, CALL_WIDTH);
    }

    /// The function of a run, and the table of its layers.
    pub(super) fn rows_function(&mut self, code: &mut Code, run: &Run) {
        let (name, upper) = (format!("rows_{}", run.first), format!("ROWS_{}", run.first));
        let count = run.layers.len();
        self.kernel_imports.extend(["RowLayer", "RowSource", "Rows"]);
        code.blank();
        code.block(format!("static {upper}: [RowLayer; {count}] = ["), "];", |code| {
            for layer in &run.layers {
                self.layer(code, &layer.rows);
            }
        });
        let names = [run.first, run.steps().end - 1].map(|i| self.steps()[i].name.clone());
        code.blank();
        code.doc(match self.pushed(run) {
            Some(_) if count == 1 => {
                format!("Step `{}`, row by row, as far as `pushed` rows of the input reach.", names[0])
            }
            Some(_) => format!(
                "Steps `{}` to `{}`, row by row, as far as `pushed` rows of the input reach.",
                names[0], names[1]
            ),
            None if count == 1 => format!("Step `{}`, row by row.", names[0]),
            None => format!("Steps `{}` to `{}`, row by row.", names[0], names[1]),
        });
        let mut given = Vec::new();
        let pushed = if self.pushed(run).is_some() {
            given.extend([format!("rows: &mut Rows<{count}>"), "pushed: usize".into()]);
            "pushed"
        } else {
            "0"
        };
        for (port, written) in self.run_ports(run) {
            let reference = if written { "&mut " } else { "&" };
            given.push(format!("{}: {reference}{}", port.ident, port.array()));
        }
        let signature = self.signature(&self.run_sites(run), given);
        code.wide_list(
            &format!("pub fn {name}("),
            &signature,
            &format!("){} {{", self.returns(&self.run_sites(run))),
        );
        code.indented(|code| {
            if self.pushed(run).is_none() {
                code.line("let mut rows = Rows::new();");
            }
            let layer = if count == 1 { "_" } else { "layer" };
            let open = format!("while let Some(({layer}, row)) = rows.next(&{upper}, {pushed}) {{");
            code.block(open, "}", |code| {
                self.row(code, run);
            });
            self.success(code, &self.run_sites(run));
        });
        code.line("}");
    }

    /// Computes row `row` of the layer `layer`.
    pub(super) fn row(&self, code: &mut Code, run: &Run) {
        let array = |port: &Port<'_>| port.ident.clone();
        if run.layers.len() == 1 {
            return self.call(code, "", self.site(run.first), &array, &["row"], ";");
        }
        code.block("match layer {", "}", |code| {
            for (layer, i) in run.steps().enumerate() {
                let pattern = if layer + 1 == run.layers.len() { "_".to_owned() } else { layer.to_string() };
                self.call(code, &format!("{pattern} => "), self.site(i), &array, &["row"], ",");
            }
        });
    }

    fn layer(&mut self, code: &mut Code, layer: &RowLayer) {
        code.block("RowLayer {", "},", |code| {
            code.line(format!("rows: {},", integer(layer.rows)));
            code.block("sources: [", "],", |code| {
                for source in &layer.sources {
                    self.source(code, source);
                }
            });
        });
    }

    fn source(&mut self, code: &mut Code, source: &RowSource) {
        if *source == RowSource::NONE {
            return code.line("RowSource::NONE,");
        }
        self.kernel_imports.insert("RowOrigin");
        let origin = match source.origin {
            RowOrigin::Whole => "Whole".to_owned(),
            RowOrigin::Pushed => "Pushed".to_owned(),
            RowOrigin::Layer(layer) => format!("Layer({layer})"),
        };
        code.block("RowSource {", "},", |code| {
            code.line(format!("origin: RowOrigin::{origin},"));
            code.line(format!("rows: {},", integer(source.rows)));
            code.line(format!("stride: {},", integer(source.stride)));
            code.line(format!("reach: {},", integer(source.reach)));
            code.line(format!("padding: {},", integer(source.padding)));
        });
    }

    /// The function that takes a row of the pushed input.
    pub(super) fn input_row(&mut self, code: &mut Code, port: &Port<'_>, pushed: Pushed) {
        self.kernel_imports.insert("ring_row_mut");
        let row_len = port.ty().shape.elements() / pushed.rows;
        let element = port.element();
        let region = Region { len: row_len * pushed.ring, ..port.place }.arguments();
        let memory = self.memory(port);
        code.blank();
        code.doc(format!(
            "Puts row `pushed` of the input where the steps read it.\n\nThere is room for {} rows.",
            pushed.ring
        ));
        let signature = [
            format!("{}: &mut {}", memory.name, memory.ty),
            "pushed: usize".into(),
            format!("row: &[{element}; {}]", integer(row_len)),
        ];
        code.wide_list("pub fn input_row(", &signature, ") {");
        code.indented(|code| {
            code.line(format!("let ring = {}.write::<{region}>();", memory.name));
            let ring = integer(pushed.ring);
            code.block(
                format!("for (to, from) in ring_row_mut(ring, {ring}, pushed).iter_mut().zip(row) {{"),
                "}",
                |code| {
                    code.line("*to = *from;");
                },
            );
        });
        code.line("}");
    }
}
