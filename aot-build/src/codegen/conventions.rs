//! How steps call their kernels, other than by typed functions: with descriptions of the
//! tensors, and perhaps through pointers that were bound by name.

use std::collections::BTreeMap;

use aot_rt::Access;
use aot_rt::kernels::{Kernel, Kind, Mode};

use super::literal::integer;
use super::runner::Runner;
use super::sites::Site;
use super::steps::{Argument, Steps};
use super::writer::{CALL_WIDTH, Code, STRUCT_WIDTH};
use crate::config::Calls;
use crate::program::Step;

impl<'m> Steps<'m> {
    /// Whether kernels are given descriptions of their tensors.
    pub(super) fn described(&self) -> bool {
        self.calls_by() != Calls::Direct
    }

    /// Whether kernels are bound by name.
    pub(super) fn binds(&self) -> bool {
        self.calls_by() == Calls::Registry
    }

    /// Whether some step may fail.
    pub(super) fn fallible(&self) -> bool {
        self.binds() || self.devices.is_used()
    }

    /// Whether one of these steps, or of those within them, calls a kernel that is bound by name.
    pub(super) fn call_bound(&self, sites: &[Site<'m>]) -> bool {
        let calls = |step: &Step| step.with_nested().iter().any(|step| step.kernel().is_some());
        self.binds() && sites.iter().any(|site| calls(site.step))
    }

    /// Whether one of these steps, or of those within them, may fail: functions that were bound
    /// by name may refuse, and so may devices.
    pub(super) fn can_fail(&self, sites: &[Site<'m>]) -> bool {
        self.call_bound(sites) || self.call_devices(sites)
    }

    /// The end of a signature: the result, where steps may fail.
    pub(super) fn returns(&self, sites: &[Site<'m>]) -> String {
        match (self.call_devices(sites), self.call_bound(sites)) {
            (true, _) => format!(" -> Result{}", self.devices.errors()),
            // `Result` is something else in that module.
            (_, true) if self.devices.is_used() => " -> ::core::result::Result<(), CallError>".into(),
            (_, true) => " -> Result<(), CallError>".into(),
            _ => String::new(),
        }
    }

    /// What follows the call of a function that runs these steps.
    pub(super) fn propagated(&self, sites: &[Site<'m>]) -> &'static str {
        if self.can_fail(sites) { "?" } else { "" }
    }

    /// Leaves a step's function early.
    pub(super) fn return_early(&self, code: &mut Code, site: Site<'m>) {
        code.line(if self.can_fail(&[site]) { "return Ok(());" } else { "return;" });
    }

    /// The end of a function that may fail.
    pub(super) fn success(&self, code: &mut Code, sites: &[Site<'m>]) {
        if self.can_fail(sites) {
            code.line("Ok(())");
        }
    }

    /// Calls a step's kernel with descriptions of its tensors.
    pub(super) fn described_call(
        &mut self,
        code: &mut Code,
        site: Site<'m>,
        kernel: &Kernel,
        parameters: &str,
        arguments: &[Argument<'_>],
    ) {
        self.kernel_imports.insert("Mode");
        let mode = self.described_mode(code, site, parameters);
        self.described_tensors(code, site, arguments);
        if self.binds() {
            self.imports.insert("CallError");
            let open = format!("let called = (kernels.{})(", kernel.name());
            let given = [format!("&{parameters}"), mode, "tensors".to_owned()];
            code.list(&open, &given, ");", CALL_WIDTH);
            code.line(format!("CallError::check(&STEPS[{}], called)?;", self.index(site)));
        } else {
            let given = [self.packed_function(kernel), mode, "tensors".to_owned()];
            code.list(&format!("{parameters}.call("), &given, ");", CALL_WIDTH);
        }
    }

    /// The descriptions of a step's tensors.
    pub(super) fn described_tensors(&mut self, code: &mut Code, site: Site<'m>, arguments: &[Argument<'_>]) {
        self.imports.insert("Tensor");
        let tensors: Vec<_> = arguments.iter().map(|argument| self.tensor(site, argument)).collect();
        code.list("let tensors = &mut [", &tensors, "];", CALL_WIDTH);
    }

    /// The mode of a call, and what it is made of.
    fn described_mode(&mut self, code: &mut Code, site: Site<'m>, parameters: &str) -> String {
        match self.mode(site) {
            Mode::Apart => "Mode::Apart".into(),
            Mode::InPlace => "Mode::InPlace".into(),
            Mode::Overlapping(overlap) => {
                self.kernel_imports.insert("Overlap");
                let [x, y] = overlap.starts().map(integer);
                code.line(format!("let overlap = const {{ Overlap::of(&{parameters}, {x}, {y}) }};"));
                "Mode::Overlapping(overlap)".into()
            }
            Mode::Row { rings: [x, y], .. } => {
                code.line(format!("let rings = [{}, {}];", integer(x), integer(y)));
                "Mode::Row { rings, row }".into()
            }
        }
    }

    /// The description of a tensor: of a row of it, where an elementwise kernel runs row by row.
    fn tensor(&mut self, site: Site<'m>, Argument { name, access, .. }: &Argument<'_>) -> String {
        let elements = match (*name, site.elementwise_rings()) {
            ("x", Some([ring, ..])) | ("b", Some([_, _, ring])) => self.ring_row(name, ring),
            ("y", Some([_, ring, _])) => self.ring_row_mut(name, ring),
            _ => (*name).to_owned(),
        };
        match access {
            Access::Read => format!("Tensor::read({elements})"),
            Access::Write => format!("Tensor::write({elements})"),
        }
    }

    /// The function of a kernel, for the modes that this model uses.
    fn packed_function(&mut self, kernel: &Kernel) -> String {
        self.kernel_imports.insert("packed");
        let name = kernel.name();
        match kernel.kind() {
            Kind::Plain | Kind::Reducing => format!("packed::{name}"),
            Kind::Elementwise | Kind::Accumulating | Kind::Widening => format!("packed::{name}::<Used>"),
            Kind::Window if self.largest_cell().is_some() => format!("packed::{name}::<Used, CELL>"),
            Kind::Window => format!("packed::{name}::<Used, 0>"),
        }
    }

    /// The modes that this model uses, where its kernels are compiled for these.
    pub(super) fn used_modes(&mut self, code: &mut Code) {
        let several = |kind: Kind| !matches!(kind, Kind::Plain | Kind::Reducing);
        let sites = self.sites(0).filter(|site| site.step.kernel().is_some() && several(site.step.kind()));
        let modes: Vec<_> = sites.map(|site| self.mode(site)).collect();
        if !self.described() || modes.is_empty() {
            return;
        }
        self.kernel_imports.insert("Modes");
        code.blank();
        code.doc("How tensors lie in this model: code for other ways is left out.");
        code.line("struct Used;");
        code.blank();
        code.block("impl Modes for Used {", "}", |code| {
            for (name, used) in [
                ("APART", modes.contains(&Mode::Apart)),
                ("IN_PLACE", modes.contains(&Mode::InPlace)),
                ("ROWS", modes.iter().any(|mode| matches!(mode, Mode::Row { .. }))),
            ] {
                code.line(format!("const {name}: bool = {used};"));
            }
        });
    }

    /// The table of the model's own kernels, where these are bound by name.
    pub(super) fn kernel_table(&mut self, code: &mut Code) {
        if !self.binds() {
            return;
        }
        self.imports.insert("KernelEntry");
        let kernels = self.kernels();
        let entries: Vec<_> =
            kernels.iter().map(|(name, kernel)| (*name, self.packed_function(kernel))).collect();
        code.blank();
        code.doc("The kernels that this model needs.");
        let open = format!("pub static KERNELS: [KernelEntry; {}] = [", entries.len());
        let fields = |code: &mut Code, name: &str, function: &str| {
            code.line(format!("name: {name:?},"));
            code.line(format!("function: {function},"));
        };
        match entries.as_slice() {
            [] => code.line(open + "];"),
            [(name, function)] => {
                code.block(open + "KernelEntry {", "}];", |code| fields(code, name, function))
            }
            entries => code.block(open, "];", |code| {
                for (name, function) in entries {
                    code.block("KernelEntry {", "},", |code| fields(code, name, function));
                }
            }),
        }
    }

    /// A kernel for each name that steps call, in order of the names.
    fn kernels(&self) -> BTreeMap<&'static str, &'m Kernel> {
        let kernels = self.sites(0).filter_map(|site| site.step.kernel());
        kernels.map(|kernel| (kernel.name(), kernel)).collect()
    }
}

impl Runner<'_> {
    /// Whether a run may fail.
    pub(super) fn fallible(&self) -> bool {
        self.binds() || self.devices.is_used()
    }

    /// Whether kernels are bound by name.
    pub(super) fn binds(&self) -> bool {
        self.model.config.calls == Calls::Registry
    }

    /// The type of a run's result, from what it gives.
    pub(super) fn result_type(&self, gives: &str) -> String {
        match (self.devices.is_used(), self.binds(), gives) {
            (true, ..) => format!(" -> {}", self.devices.result(gives)),
            (_, true, _) => format!(" -> ::core::result::Result<{gives}, ::aot_rt::CallError>"),
            (.., "()") => String::new(),
            _ => format!(" -> {gives}"),
        }
    }

    /// What follows a call that may fail.
    pub(super) fn propagated(&self) -> &'static str {
        if self.fallible() { "?" } else { "" }
    }

    /// Documentation of how a run may fail.
    pub(super) fn doc_errors(&self, code: &mut Code) {
        if !self.fallible() {
            return;
        }
        code.doc(match (self.devices.is_used(), self.binds()) {
            (true, true) => {
                "\n# Errors\n\nThe first error of a device or of a kernel that refuses its tensors, which ends the\nrun."
            }
            (true, false) => "\n# Errors\n\nThe first error of a device, which ends the run.",
            (false, _) => "\n# Errors\n\nWhen a kernel refuses its tensors: the step, and why.",
        });
        if self.has_state() {
            code.doc("The next run starts from the initial state.");
        }
        if self.pushed_layers().is_some() {
            code.doc("The next row is the first again.");
        }
    }

    /// Name of the struct of kernels, where they are bound by name.
    pub(super) fn kernels_struct(&self) -> Option<String> {
        self.binds().then(|| format!("{}Kernels", self.model.type_name))
    }

    /// The struct of kernels, where they are bound by name.
    pub(super) fn kernels(&self, code: &mut Code, steps: &Steps<'_>) {
        let Some(name) = self.kernels_struct() else { return };
        let kernels: Vec<_> = steps.kernels().into_keys().collect();
        code.blank();
        code.doc(format!("The kernels of [`{}`], bound by name.", self.model.type_name));
        code.line("#[derive(Clone, Copy, Debug)]");
        match kernels.as_slice() {
            [] => code.line(format!("pub struct {name} {{}}")),
            kernels => code.block(format!("pub struct {name} {{"), "}", |code| {
                for kernel in kernels {
                    code.line(format!("{kernel}: ::aot_rt::PackedKernel,"));
                }
            }),
        }
        code.blank();
        code.doc("The model's own.");
        code.block(format!("impl ::core::default::Default for {name} {{"), "}", |code| {
            code.block("fn default() -> Self {", "}", |code| {
                let names: Vec<_> = kernels.iter().map(|kernel| (*kernel).to_owned()).collect();
                code.list("let [", &names, "] = &steps::KERNELS;", CALL_WIDTH);
                fields(code, "Self", kernels.iter().map(|kernel| format!("{kernel}: {kernel}.function")));
            });
        });
    }

    /// The table of the model's own kernels, and the function that binds others.
    pub(super) fn bind(&self, code: &mut Code, steps: &Steps<'_>) {
        let Some(name) = self.kernels_struct() else { return };
        let kernels = steps.kernels();
        let len = integer(kernels.len());
        code.blank();
        code.doc(
            "The model's own kernels. Another's table may stand before this one in\n\
             [`bind`](Self::bind).",
        );
        code.line("pub const KERNELS: &'static [::aot_rt::KernelEntry] = &steps::KERNELS;");
        code.blank();
        code.doc(
            "The kernels for a run, each from the first of `tables` that has its name.\n\n\
             # Errors\n\n\
             When kernels are in no table: their names.",
        );
        let result = format!("::core::result::Result<{name}, ::aot_rt::Missing<{len}>>");
        code.line("pub fn bind(");
        code.line("    tables: &[&[::aot_rt::KernelEntry]],");
        code.block(format!(") -> {result} {{"), "}", |code| {
            let names: Vec<_> = kernels.keys().map(|kernel| (*kernel).to_owned()).collect();
            let quoted: Vec<_> = names.iter().map(|name| format!("{name:?}")).collect();
            code.list("let names = [", &quoted, "];", CALL_WIDTH);
            code.list("let [", &names, "] = ::aot_rt::bind(names, tables)?;", CALL_WIDTH);
            fields(code, &format!("Ok({name}"), names.into_iter());
        });
    }
}

/// A struct with `fields`; closes the parenthesis that `open` opens.
fn fields(code: &mut Code, open: &str, fields: impl Iterator<Item = String>) {
    let close = if open.contains('(') { "})" } else { "}" };
    let fields: Vec<_> = fields.collect();
    if fields.is_empty() {
        return code.line(format!("{open} {{{close}"));
    }
    code.list(&format!("{open} {{ "), &fields, &format!(" {close}"), STRUCT_WIDTH);
}
