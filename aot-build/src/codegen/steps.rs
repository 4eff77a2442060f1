//! The steps: a function for each, which borrows its regions by type, gets its
//! constants and calls its kernel.

mod operands;

use std::collections::{BTreeSet, HashMap};

use aot_rt::Access;
use aot_rt::kernels::{Kernel, Kind, Mode};

use super::device_memory::DeviceRegion;
use super::devices::Devices;
use super::docs;
use super::literal::{integer, params};
use super::memories::{ConstantPlace, Memories, Memory, Region};
use super::ports::{Port, Ports};
use super::sites::Site;
use super::specialise::specialises;
use super::writer::{CALL_WIDTH, Code};
use crate::config::{Calls, Optimize};
use crate::error::spaced;
use crate::program::{ConstantView, Flow, Operand, Step, Storage, View, Work, overlapped};
use crate::{Compiled, Model};

/// How a step reaches one of its operands.
pub(super) enum Place<'p> {
    /// In memory that the step is handed.
    Memory(Region),
    /// In memory of a device that the CPU does not reach.
    Device(DeviceRegion<'p>),
    /// In the caller's array.
    Caller(View, &'p Port<'p>),
    /// In the constants.
    Constant(ConstantView),
}

/// An operand of a step, as its function names it.
pub(super) struct Argument<'p> {
    pub(super) name: &'p str,
    pub(super) access: Access,
    pub(super) place: Place<'p>,
}

/// How a kernel is given its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Form {
    /// As a struct.
    Shared,
    /// As constants that it is compiled for.
    Specialised,
    /// As a `Kernel`, whatever the kernel is.
    Described,
}

/// Prints the module `steps`, and the calls in it.
pub(super) struct Steps<'m> {
    model: &'m Model,
    ports: &'m Ports<'m>,
    pub(super) devices: &'m Devices<'m>,
    /// What the module imports from the runtime.
    pub(super) imports: BTreeSet<&'static str>,
    /// What it imports from there beside the kernels.
    pub(super) kernel_imports: BTreeSet<&'static str>,
    /// Parameters already printed: kernel's name and parameters to their name.
    params: HashMap<(&'static str, Form, String), String>,
    /// Whether behind one of the steps comes that of the next position, without a word on it.
    pub(super) falls_through: bool,
    /// Positions in the table of steps, by name.
    indices: HashMap<&'m str, usize>,
}

impl<'m> Steps<'m> {
    pub(super) fn new(model: &'m Model, ports: &'m Ports<'m>, devices: &'m Devices<'m>) -> Self {
        let steps = model.compiled.program.steps.iter().flat_map(Step::with_nested);
        Self {
            model,
            ports,
            devices,
            imports: BTreeSet::new(),
            kernel_imports: BTreeSet::new(),
            params: HashMap::new(),
            falls_through: false,
            indices: steps.enumerate().map(|(i, step)| (step.name.as_str(), i)).collect(),
        }
    }

    pub(super) fn compiled(&self) -> &'m Compiled {
        &self.model.compiled
    }

    pub(super) fn calls_by(&self) -> Calls {
        self.model.config.calls
    }

    /// Most multiply-accumulates of a step, if they are limited.
    pub(super) fn most_macs(&self) -> Option<u64> {
        self.model.config.max_step_macs.map(std::num::NonZeroU64::get)
    }

    pub(super) fn place(&self, operand: &Operand) -> Place<'m> {
        let view = match operand {
            Operand::Constant(view) => {
                return match self.memories().constant(*view) {
                    Some(ConstantPlace::Copied(region)) if view.len > 0 => Place::Memory(region),
                    _ => Place::Constant(*view),
                };
            }
            Operand::Buffer(view) => *view,
        };
        if let Some((pool, offset)) = self.compiled().in_device_memory(*operand) {
            let View { dtype, len, .. } = view;
            return Place::Device(DeviceRegion { pool: &pool.name, dtype, offset, len });
        }
        match self.compiled().program.buffer(view.buffer).storage {
            Storage::Workspace => Place::Memory(self.region(view)),
            Storage::Input(i) => Place::Caller(view, &self.ports.inputs[i]),
            Storage::Output(i) => Place::Caller(view, &self.ports.outputs[i]),
        }
    }

    /// The memory that an input or output is in.
    pub(super) fn memory(&self, port: &Port<'_>) -> &'m Memory {
        self.ports.memory(port)
    }

    pub(super) fn memories(&self) -> &'m Memories {
        &self.ports.memories
    }

    /// Where a view of the workspace is.
    pub(super) fn region(&self, view: View) -> Region {
        let address = self.compiled().offsets[view.buffer.index()] + view.offset;
        self.memories().region(address, view.dtype, view.len)
    }

    /// Where a view starts in the workspace, all pools one behind the other, if that is where it is.
    fn start(&self, view: View) -> Option<usize> {
        let in_workspace = self.compiled().program.buffer(view.buffer).storage == Storage::Workspace;
        in_workspace.then(|| self.compiled().offsets[view.buffer.index()] + view.offset)
    }

    /// Position in the table of steps.
    pub(super) fn index(&self, site: Site<'m>) -> usize {
        self.indices[site.step.name.as_str()]
    }

    pub(super) fn steps(&self) -> &'m [Step] {
        &self.compiled().program.steps
    }

    /// How a step calls its kernel. Elementwise kernels of a run are given rows as
    /// they are given whole tensors.
    pub(super) fn mode(&self, Site { step, layer }: Site<'_>) -> Mode {
        match (layer, step.kind()) {
            (None, _) | (_, Kind::Elementwise) => step.mode(|view| self.start(view)),
            (Some(layer), _) => Mode::Row { rings: [layer.rings[0], layer.rings[1]], row: 0 },
        }
    }

    /// The operands of a step's kernel; where `x` and `y` share a region, that stands for both.
    pub(super) fn arguments(&self, site: Site<'m>) -> Vec<Argument<'m>> {
        let step = site.step;
        let operands = step.operands.iter().zip(step.operand_infos());
        let mut arguments: Vec<_> = operands
            .map(|(operand, (name, access))| Argument { name, access, place: self.place(operand) })
            .collect();
        match (self.mode(site), &step.operands[..]) {
            (Mode::InPlace, _) => drop(arguments.remove(0)),
            (Mode::Overlapping(_), [Operand::Buffer(x), Operand::Buffer(y), ..]) => {
                let start = |view: View| self.compiled().offsets[view.buffer.index()] + view.offset;
                let [first, bytes] = overlapped([*x, *y], start);
                let place = Place::Memory(self.memories().region(first, y.dtype, bytes / y.dtype.size()));
                arguments.splice(..2, [Argument { name: "memory", access: Access::Write, place }]);
            }
            _ => (),
        }
        arguments
    }

    /// Channels of the largest cell that a step computes on the stack, if any does.
    pub(super) fn largest_cell(&self) -> Option<usize> {
        let overlapping = self.sites(0).filter(|site| matches!(self.mode(*site), Mode::Overlapping(_)));
        overlapping.filter_map(|site| site.step.window()).map(|(_, channels)| channels[1]).max()
    }

    /// Whether any step reads or writes the caller's array `port`.
    pub(super) fn use_port(&self, port: &Port<'_>) -> bool {
        self.sites(0).any(|site| self.ports(&[site]).iter().any(|(found, _)| found.ident == port.ident))
    }

    /// The calls of all steps from `first` on; `array` is how a caller's array is reached
    /// there.
    pub(super) fn calls(&self, code: &mut Code, first: usize, array: impl Fn(&Port<'_>) -> String) {
        let mut steps = first..self.steps().len();
        while let Some(i) = steps.next() {
            if let Some(run) = self.compiled().program.runs.iter().find(|run| run.first == i) {
                self.rows_call(code, run, &array);
                steps.start = run.steps().end;
            } else {
                self.call(code, "steps::", self.site(i), &array, &[], ";");
            }
        }
    }

    /// What a step's kernel works on in the caller's arrays.
    fn arrays(&self, site: Site<'m>) -> Vec<(Argument<'m>, &'m Port<'m>)> {
        let arguments = self.arguments(site).into_iter();
        let caller = arguments.filter_map(|argument| match argument.place {
            Place::Caller(_, port) => Some((argument, port)),
            Place::Memory(_) | Place::Device(_) | Place::Constant(_) => None,
        });
        caller.collect()
    }

    /// The call of a step, with `more` arguments behind the caller's arrays, and `end` behind
    /// the call.
    pub(super) fn call(
        &self,
        code: &mut Code,
        path: &str,
        site: Site<'m>,
        array: &impl Fn(&Port<'_>) -> String,
        more: &[&str],
        end: &str,
    ) {
        let (family, mut arrays) = match site.step.control() {
            Some(_) => {
                let family = site.with_nested();
                let arrays = self.ports(&family).iter().map(|(port, _)| array(port)).collect();
                (family, arrays)
            }
            None => (vec![site], self.arrays(site).iter().map(|(_, port)| array(port)).collect::<Vec<_>>()),
        };
        arrays.extend(more.iter().map(ToString::to_string));
        let arguments = self.passed(&family, arrays);
        let close = format!("){}{end}", self.propagated(&family));
        code.list(&format!("{path}{}(", site.step.name), &arguments, &close, CALL_WIDTH);
    }

    /// Whether any step has a kernel, on the CPU or on a device.
    fn have_parameters(&self) -> bool {
        let calls = |step: &Step| step.call().is_some_and(|call| !call.kernels.is_empty());
        self.sites(0).any(|site| site.step.kernel().is_some() || calls(site.step))
    }

    /// The module.
    pub(super) fn module(mut self, code: &mut Code) {
        let mut functions = Code::new(code.indent() + 1);
        for i in 0..self.steps().len() {
            if let Some(run) = self.compiled().program.runs.iter().find(|run| run.first == i) {
                self.rows_function(&mut functions, run);
            }
            for site in self.site(i).with_nested() {
                self.step(&mut functions, site);
            }
        }
        self.load_constants(&mut functions);
        self.reset(&mut functions);
        if let (Some(pushed), [input]) = (self.compiled().program.pushed, &self.ports.inputs[..]) {
            self.input_row(&mut functions, input, pushed);
        } else {
            self.step_function(&mut functions);
        }
        self.table(&mut functions);
        self.kernel_table(&mut functions);
        let mut modes = Code::new(code.indent() + 1);
        self.used_modes(&mut modes);
        if !self.steps().is_empty() {
            self.imports.extend(["Action", "Elements", "Instrument"]);
        }
        self.imports.insert("StepInfo");
        code.doc("The steps of a run, in order.");
        code.block("mod steps {", "}", |code| {
            let names = |set: &BTreeSet<&str>| set.iter().map(ToString::to_string).collect::<Vec<_>>();
            match names(&self.kernel_imports) {
                names if names.is_empty() && !self.have_parameters() => (),
                names if names.is_empty() => code.line("use ::aot_rt::kernels;"),
                names => {
                    let names = [vec!["self".to_owned()], names].concat();
                    code.wide_list("use ::aot_rt::kernels::{", &names, "};");
                }
            }
            match names(&self.imports).as_slice() {
                [] => (),
                [import] => code.line(format!("use ::aot_rt::{import};")),
                imports => code.wide_list("use ::aot_rt::{", imports, "};"),
            }
            self.device_names(code);
            self.workspace_type(code);
            if self.binds() {
                code.blank();
                code.line(format!("type Kernels = super::{}Kernels;", self.model.type_name));
            }
            code.append(modes);
            if let Some(channels) = self.largest_cell() {
                code.blank();
                code.doc("Channels of the largest cell that is computed on the stack, for a result that overlaps its operand.");
                code.line(format!("const CELL: usize = {};", integer(channels)));
            }
            if !self.memories().owner.is_shared {
                self.memories().statics(code, "super::");
            }
            code.append(functions);
        });
    }

    /// Prints a step's function, and what that needs.
    fn step(&mut self, code: &mut Code, site: Site<'m>) {
        code.blank();
        match &site.step.work {
            Work::Kernel(kernel) => {
                let parameters = self.parameters(code, &site.step.name, kernel, self.form(kernel));
                self.function(code, site, kernel, &parameters);
            }
            Work::Call(call) => self.call_function(code, site, call),
            Work::Control(control) => self.control(code, site, control),
        }
    }

    /// Prints a kernel's parameters, unless an earlier step has equal ones; gives their name,
    /// which is `step` where they are printed.
    pub(super) fn parameters(&mut self, code: &mut Code, step: &str, kernel: &Kernel, form: Form) -> String {
        let mut text = Code::new(code.indent());
        params(&mut text, "", kernel.params(), "");
        let key = (kernel.name(), form, text.into_text());
        if let Some(name) = self.params.get(&key) {
            return name.clone();
        }
        let ty = kernel.params().name();
        let name = if form == Form::Described {
            self.kernel_imports.insert("Kernel");
            let name = step.to_ascii_uppercase();
            let open = format!("static {name}: Kernel = Kernel::{}(", kernel.variant());
            params(code, &open, kernel.params(), ");");
            name
        } else if form == Form::Specialised {
            self.imports.insert("specialise");
            let name = type_of_step(step);
            params(code, &format!("specialise!({name}: kernels::{ty} = "), kernel.params(), ");");
            name
        } else {
            let name = step.to_ascii_uppercase();
            params(code, &format!("static {name}: kernels::{ty} = "), kernel.params(), ";");
            name
        };
        code.blank();
        self.params.insert(key, name.clone());
        name
    }

    fn function(&mut self, code: &mut Code, site: Site<'m>, kernel: &Kernel, parameters: &str) {
        let step = site.step;
        code.doc(description(step));
        let arguments = self.arguments(site);
        let mut arrays = self.array_parameters(site);
        if site.layer.is_some() {
            arrays.push("row: usize".to_owned());
        }
        let mut body = Code::new(code.indent() + 1);
        self.before(&mut body, site);
        self.regions(&mut body, &arguments);
        for argument in &arguments {
            self.binding(&mut body, argument);
        }
        if self.described() {
            self.described_call(&mut body, site, kernel, parameters, &arguments);
        } else {
            self.direct_call(&mut body, site, kernel, parameters, &arguments);
        }
        self.after(&mut body, site);
        self.success(&mut body, &[site]);
        // A frame of its own: a run takes the stack of its deepest step, not that of all.
        code.line("#[inline(never)]");
        self.open(code, &step.name, &[site], arrays);
        code.append(body);
        code.line("}");
    }

    /// Calls a step's kernel by its typed function.
    fn direct_call(
        &mut self,
        code: &mut Code,
        site: Site<'m>,
        kernel: &Kernel,
        parameters: &str,
        arguments: &[Argument<'_>],
    ) {
        let mut call = vec![format!("&{parameters}")];
        let tensors = self.tensors(code, site, kernel, parameters);
        let rest = arguments.iter().filter(|argument| !["x", "y", "memory"].contains(&argument.name));
        call.extend(tensors);
        call.extend(rest.map(|argument| self.operand(site, argument.name)));
        let function = self.memories().owner.blocked.function(site.step, kernel);
        code.list(&format!("kernels::{function}("), &call, ");", CALL_WIDTH);
    }

    /// The parameters for the caller's arrays.
    pub(super) fn array_parameters(&self, site: Site<'m>) -> Vec<String> {
        let array = |(argument, port): &(Argument<'_>, &Port<'_>)| {
            let reference = if argument.access == Access::Write { "&mut " } else { "&" };
            format!("{}: {reference}{}", argument.name, port.array())
        };
        self.arrays(site).iter().map(array).collect()
    }

    /// The arguments that `x` and `y` become.
    fn tensors(&mut self, code: &mut Code, site: Site<'m>, kernel: &Kernel, parameters: &str) -> Vec<String> {
        match (self.mode(site), kernel.kind(), kernel.window()) {
            (Mode::InPlace, ..) => {
                self.kernel_imports.insert("InPlace");
                vec![format!("InPlace({})", self.operand(site, "y"))]
            }
            (Mode::Overlapping(overlap), _, Some((_, channels))) => {
                self.kernel_imports.extend(["Overlap", "Overlapping"]);
                let params = if self.specialised(kernel) { "::PARAMS" } else { "" };
                let [x, y] = overlap.starts().map(integer);
                let [x_channels, y_channels] = channels.map(integer);
                code.line(format!(
                    "let overlap = const {{ Overlap::new(&{parameters}{params}.window, [{x_channels}, {y_channels}], {x}, {y}) }};"
                ));
                vec!["Overlapping::<_, CELL>::new(memory, overlap)".into()]
            }
            (Mode::Row { rings, .. }, ..) => {
                self.kernel_imports.insert("Row");
                code.line(format!("let rings = [{}, {}];", integer(rings[0]), integer(rings[1])));
                vec!["Row { x, y, rings, row }".into()]
            }
            (_, Kind::Plain, _) => vec!["x".into(), "y".into()],
            _ => {
                self.kernel_imports.insert("Apart");
                if site.elementwise_rings().is_none() {
                    return vec!["Apart { x, y }".into()];
                }
                let [x, y] = ["x", "y"].map(|name| self.operand(site, name));
                vec![format!("Apart {{ x: {x}, y: {y} }}")]
            }
        }
    }

    pub(super) fn ring_row(&mut self, ring: &str, rows: usize) -> String {
        self.kernel_imports.insert("ring_row");
        format!("ring_row({ring}, {}, row)", integer(rows))
    }

    pub(super) fn ring_row_mut(&mut self, ring: &str, rows: usize) -> String {
        self.kernel_imports.insert("ring_row_mut");
        format!("ring_row_mut({ring}, {}, row)", integer(rows))
    }

    /// How the CPU's kernels are given their parameters.
    fn form(&self, kernel: &Kernel) -> Form {
        match (self.described(), self.specialised(kernel)) {
            (true, _) => Form::Described,
            (_, true) => Form::Specialised,
            _ => Form::Shared,
        }
    }

    /// Whether the kernel is compiled for its parameters.
    fn specialised(&self, kernel: &Kernel) -> bool {
        self.model.config.optimize == Optimize::Speed && specialises(kernel)
    }
}

/// `relu_0` becomes `Relu0`. Unlike names of a file, those of steps may be long.
fn type_of_step(name: &str) -> String {
    let capital = |word: &str| word[..1].to_ascii_uppercase() + &word[1..];
    name.split('_').filter(|word| !word.is_empty()).map(capital).collect()
}

/// `` `conv2d/Conv2D`: 10×4, stride 2×2, 1 → 64 channels, relu; 320 000 MACs. ``
pub(super) fn description(step: &Step) -> String {
    let mut text = docs::code_span(&step.node);
    if !step.description.is_empty() {
        text.push_str(": ");
        text.push_str(&docs::plain(&step.description));
    }
    if step.macs > 0 {
        text.push_str(&format!("; {} MACs", spaced(step.macs)));
        text.push_str(match step.control().map(|control| &control.flow) {
            None => "",
            Some(Flow::If { .. }) => " at most",
            Some(Flow::While { .. }) => " for each iteration",
        });
    }
    text + "."
}
