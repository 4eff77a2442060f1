//! The function that runs one step: what a run that goes step by step is made of.
//!
//! Where such a run stands is a number: the position in the table of steps of the one that
//! comes next, behind them one for each loop, where that decides whether to go on, and
//! last the end. A step that holds steps is divided there: it is the decision, and the steps
//! that it holds are steps of the run. Layers that run row by row take a step for each row.

use aot_rt::kernels::next_row;

use super::literal::integer;
use super::ports::Port;
use super::sites::Site;
use super::steps::Steps;
use super::writer::Code;
use crate::program::{Control, Flow, Run, Step};

/// Where a run goes on.
#[derive(Clone)]
struct Next<'m> {
    /// The steps that hold steps and end first, the innermost one before the others.
    ended: Vec<Site<'m>>,
    position: usize,
}

impl<'m> Next<'m> {
    const fn new(position: usize) -> Self {
        Self { ended: Vec::new(), position }
    }

    /// The same behind the steps that `site` holds.
    fn behind(site: Site<'m>, next: &Self) -> Self {
        Self { ended: [vec![site], next.ended.clone()].concat(), position: next.position }
    }
}

impl<'m> Steps<'m> {
    /// The positions of the decisions whether loops go on, and the steps that these are.
    pub(super) fn tests(&self) -> impl Iterator<Item = (usize, usize)> {
        let loops = self
            .sites(0)
            .filter(|site| matches!(site.step.control(), Some(Control { flow: Flow::While { .. }, .. })));
        let loops: Vec<_> = loops.map(|site| self.index(site)).collect();
        loops.into_iter().enumerate().map(|(i, step)| (self.sites(0).count() + i, step))
    }

    /// The position where nothing is left to run.
    pub(super) fn end(&self) -> usize {
        self.sites(0).count() + self.tests().count()
    }

    /// The position of top-level step `i`, or the end behind the last: in a run of rows that
    /// of the layer whose row comes first.
    pub(super) fn entry(&self, i: usize) -> usize {
        if i == self.steps().len() {
            return self.end();
        }
        let position = self.index(self.site(i));
        let Some(run) = self.run_from(i) else { return position };
        let layers: Vec<_> = run.layers.iter().map(|layer| layer.rows).collect();
        let first = next_row(&mut vec![0; layers.len()], &layers, 0);
        position + first.map_or(0, |(layer, _)| layer)
    }

    /// The run of rows that starts with top-level step `i`.
    fn run_from(&self, i: usize) -> Option<&'m Run> {
        self.compiled().program.runs.iter().find(|run| run.first == i)
    }

    /// Most layers that run row by row together.
    pub(super) fn most_layers(&self) -> Option<usize> {
        self.compiled().program.runs.iter().map(|run| run.layers.len()).max()
    }

    /// The ranges of steps that run again as long as one of them is next.
    fn repeated(&self) -> Vec<[usize; 2]> {
        let mut repeated = Vec::new();
        let mut sites: Vec<_> = (0..self.steps().len()).rev().map(|i| self.site(i)).collect();
        while let Some(site) = sites.pop() {
            let first = self.index(site);
            match site.step.control().map(|control| &control.flow) {
                Some(Flow::While { .. }) => repeated.push([first, first + site.with_nested().len() - 1]),
                Some(flow @ Flow::If { .. }) => {
                    let within = flow.blocks().into_iter().flat_map(|(_, steps)| steps);
                    let within: Vec<_> = within.map(|step| Site { step, layer: None }).collect();
                    sites.extend(within.into_iter().rev());
                }
                None => (),
            }
        }
        let runs = self.compiled().program.runs.iter().filter(|run| run.layers.len() > 1);
        let index = |i: usize| self.index(self.site(i));
        repeated.extend(runs.map(|run| [run.first, run.steps().end - 1].map(index)));
        repeated.sort_unstable();
        repeated
    }

    /// The arguments of the call of [`Self::step_function`].
    pub(super) fn step_arguments(&self, position: &str, array: impl Fn(&Port<'_>) -> String) -> Vec<String> {
        let sites: Vec<_> = self.sites(0).collect();
        let mut given = vec![position.to_owned()];
        given.extend(self.most_layers().map(|_| "&mut self.rows".into()));
        given.extend(self.ports(&sites).iter().map(|(port, _)| array(port)));
        self.passed(&sites, given)
    }

    /// Prints the function, and what else a run step by step needs.
    pub(super) fn step_function(&mut self, code: &mut Code) {
        let ranges: Vec<_> =
            self.repeated().iter().map(|[first, last]| format!("{first}..={last}")).collect();
        code.blank();
        code.doc("Steps that run again as long as one of them is next.");
        let open = format!("pub static REPEATED: [::core::ops::RangeInclusive<usize>; {}] = [", ranges.len());
        code.wide_list(&open, &ranges, "];");
        if self.steps().is_empty() {
            return;
        }
        let sites: Vec<_> = self.sites(0).collect();
        let mut given = vec!["program_counter: usize".to_owned()];
        given.extend(self.most_layers().map(|layers| format!("rows: &mut [usize; {layers}]")));
        for (port, written) in self.ports(&sites) {
            let reference = if written { "&mut " } else { "&" };
            given.push(format!("{}: {reference}{}", port.ident, port.array()));
        }
        let signature = self.signature(&sites, given);
        let mut body = Code::new(code.indent() + 1);
        let mut arms = Code::new(body.indent() + 1);
        self.arms(&mut arms);
        if self.falls_through {
            body.line("let mut next_counter = program_counter + 1;");
        } else {
            body.line("let next_counter;");
        }
        body.line("match program_counter {");
        body.append(arms);
        body.line("    _ => next_counter = program_counter,");
        body.line("}");
        body.line(if self.fallible() { "Ok(next_counter)" } else { "next_counter" });
        code.blank();
        code.doc("Runs the step at a position; gives the position of the next one.");
        let mut open = "pub fn step".to_owned();
        if self.devices.is_used() {
            open += &self.devices.bounds(code, &open);
        }
        code.wide_list(&(open + "("), &signature, &format!(") -> {} {{", self.step_result()));
        code.append(body);
        code.line("}");
    }

    /// The type of the position that [`Self::step_function`] gives.
    fn step_result(&self) -> String {
        if self.devices.is_used() {
            let error = self.devices.error() + &self.devices.errors();
            return format!("::core::result::Result<usize, {error}>");
        }
        if self.binds() { "Result<usize, CallError>".into() } else { "usize".into() }
    }

    fn arms(&mut self, code: &mut Code) {
        let mut steps = 0..self.steps().len();
        while let Some(i) = steps.next() {
            match self.run_from(i) {
                Some(run) => {
                    steps.start = run.steps().end;
                    self.rows_arm(code, run);
                }
                None => self.arm(code, self.site(i), &Next::new(self.entry(i + 1))),
            }
        }
    }

    /// What is done at the positions of a run of rows.
    fn rows_arm(&mut self, code: &mut Code, run: &'m Run) {
        self.kernel_imports.extend(["next_layer", "next_row"]);
        let (first, count, next) =
            (self.index(self.site(run.first)), run.layers.len(), self.entry(run.steps().end));
        let table = format!("ROWS_{}", run.first);
        let pattern = if count == 1 { first.to_string() } else { format!("{first}..={}", first + count - 1) };
        code.block(format!("{pattern} => {{"), "}", |code| {
            let layer = if count == 1 { "_" } else { "layer" };
            let next_row = format!("next_row(rows, &{table}, 0)");
            match self.rows_at_once(run) {
                1 => code.block(format!("if let Some(({layer}, row)) = {next_row} {{"), "}", |code| {
                    self.row(code, run);
                }),
                rows => code.block(format!("for _ in 0..{} {{", integer(rows)), "}", |code| {
                    code.block(format!("if let Some(({layer}, row)) = {next_row} {{"), "}", |code| {
                        self.row(code, run);
                    });
                }),
            }
            let next = integer(next);
            if first == 0 {
                return code.line(format!("next_counter = next_layer(rows, &{table}).unwrap_or({next});"));
            }
            code.block(format!("next_counter = match next_layer(rows, &{table}) {{"), "};", |code| {
                code.line(format!("Some(layer) => {} + layer,", integer(first)));
                code.line(format!("None => {next},"));
            });
        });
    }

    /// Rows that a step computes of a run: one, or of a layer that was divided, as many as are
    /// within the limit.
    fn rows_at_once(&self, run: &Run) -> usize {
        let row = self.compiled().program.macs_at_once(run.first);
        match (self.most_macs(), &run.layers[..]) {
            (Some(most), [layer]) => {
                let rows = usize::try_from(most / row.max(1)).unwrap_or(usize::MAX);
                rows.clamp(1, layer.rows.rows)
            }
            _ => 1,
        }
    }

    /// What is done at the position of a step, and of those that it holds.
    fn arm(&mut self, code: &mut Code, site: Site<'m>, next: &Next<'m>) {
        let position = self.index(site);
        let Some(control) = site.step.control() else {
            let name = |port: &Port<'_>| port.ident.clone();
            if next.ended.is_empty() && next.position == position + 1 {
                self.falls_through = true;
                return self.call(code, &format!("{position} => "), site, &name, &[], ",");
            }
            return code.block(format!("{position} => {{"), "}", |code| {
                self.call(code, "", site, &name, &[], ";");
                self.go_on(code, next);
            });
        };
        let behind = Next::behind(site, next);
        let condition = self.truth(site.step);
        code.block(format!("{position} => {{"), "}", |code| {
            code.line(format!("if instrument.before(&STEPS[{position}]) == Action::Skip {{"));
            code.indented(|code| self.go_on(code, next));
            match &control.flow {
                Flow::If { then, otherwise } => self.decision(code, &condition, [then, otherwise], &behind),
                Flow::While { condition, .. } => {
                    code.line("} else {");
                    code.indented(|code| self.enter(code, condition, &Next::new(self.test(site))));
                    code.line("}");
                }
            }
        });
        match &control.flow {
            Flow::If { then, otherwise } => {
                self.block_arms(code, then, &behind);
                self.block_arms(code, otherwise, &behind);
            }
            Flow::While { condition: steps, body, .. } => {
                let test = Next::new(self.test(site));
                let again = Next::new(self.first(steps).unwrap_or(test.position));
                self.block_arms(code, steps, &test);
                code.block(format!("{} => {{", test.position), "}", |code| {
                    code.line(format!("if {condition} == 0 {{"));
                    code.indented(|code| self.go_on(code, &behind));
                    code.line("} else {");
                    code.indented(|code| self.enter(code, body, &again));
                    code.line("}");
                });
                self.block_arms(code, body, &again);
            }
        }
    }

    /// Goes to one of two lists of steps, unless the step is skipped.
    fn decision(&mut self, code: &mut Code, condition: &str, lists: [&'m [Step]; 2], behind: &Next<'m>) {
        let [then, otherwise] = lists;
        if !(then.is_empty() && otherwise.is_empty()) {
            code.line(format!("}} else if {condition} == 0 {{"));
            code.indented(|code| self.enter(code, otherwise, behind));
        }
        code.line("} else {");
        code.indented(|code| self.enter(code, then, behind));
        code.line("}");
    }

    /// Where a loop decides whether to go on.
    fn test(&self, site: Site<'m>) -> usize {
        let step = self.index(site);
        let found = self.tests().find(|(_, of)| *of == step).map(|(position, _)| position);
        found.unwrap_or_else(|| unreachable!("`{}` is a loop", site.step.name))
    }

    fn first(&self, steps: &'m [Step]) -> Option<usize> {
        steps.first().map(|step| self.index(Site { step, layer: None }))
    }

    /// The arms of steps within another.
    fn block_arms(&mut self, code: &mut Code, steps: &'m [Step], next: &Next<'m>) {
        for (i, step) in steps.iter().enumerate() {
            let following = self.first(&steps[i + 1..]).map(Next::new);
            self.arm(code, Site { step, layer: None }, following.as_ref().unwrap_or(next));
        }
    }

    /// Goes to the first of `steps`, or where they lead to.
    fn enter(&mut self, code: &mut Code, steps: &'m [Step], next: &Next<'m>) {
        match self.first(steps) {
            Some(first) => code.line(format!("next_counter = {};", integer(first))),
            None => self.go_on(code, next),
        }
    }

    /// Shows an instrument what ends, and goes on.
    fn go_on(&mut self, code: &mut Code, next: &Next<'m>) {
        for site in &next.ended {
            self.after(code, *site);
        }
        code.line(format!("next_counter = {};", integer(next.position)));
    }
}
