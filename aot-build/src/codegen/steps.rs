//! The steps: a function for each, which borrows its regions by type, gets its
//! constants and calls its kernel.

use std::collections::{BTreeSet, HashMap};

use aot_rt::Access;
use aot_rt::kernels::{Kernel, OperandInfo};

use super::docs;
use super::literal::{integer, params};
use super::ports::{Port, Ports};
use super::writer::{CALL_WIDTH, Code};
use crate::config::Optimize;
use crate::error::spaced;
use crate::program::{ConstantView, Operand, Step, Storage, View};
use crate::{Compiled, Model};

/// Whether a kernel is compiled for the extents of each layer under `optimize =
/// "speed"`: where a measurement on x86-64 says that it pays.
///
/// Known extents make pools 2 to 17 times as fast, means 2, float depthwise
/// convolutions 1.4, sums 1.4 to 2, whole int8 networks of convolutions 1.03 to 1.3.
/// Matrix products, tables and conversions gain nothing: they share one instance.
fn specialises(kernel: &Kernel) -> bool {
    match kernel {
        Kernel::AddF32(_)
        | Kernel::AddI8(_)
        | Kernel::AveragePool2dF32(_)
        | Kernel::AveragePool2dI8(_)
        | Kernel::ClampF32(_)
        | Kernel::Conv2dF32(_)
        | Kernel::Conv2dI8(_)
        | Kernel::DepthwiseConv2dF32(_)
        | Kernel::DepthwiseConv2dI8(_)
        | Kernel::MaxPool2dF32(_)
        | Kernel::MaxPool2dI8(_)
        | Kernel::MeanF32(_)
        | Kernel::MeanI8(_) => true,
        Kernel::CopyI8(_)
        | Kernel::DequantizeI8F32(_)
        | Kernel::FullyConnectedF32(_)
        | Kernel::FullyConnectedI8(_)
        | Kernel::GatherI8(_)
        | Kernel::LogisticF32(_)
        | Kernel::LookupI8(_)
        | Kernel::PadF32(_)
        | Kernel::PadI8(_)
        | Kernel::QuantizeF32I8(_)
        | Kernel::SoftmaxF32(_)
        | Kernel::SoftmaxI8(_)
        | Kernel::StridedCopyI8(_) => false,
    }
}

/// How a step reaches one of its operands.
enum Place<'p> {
    /// In the workspace, at this byte.
    Workspace(View, usize),
    /// In the caller's array.
    Caller(View, &'p Port<'p>),
    /// In the constants.
    Constant(ConstantView),
}

/// Prints the module `steps`, and the calls in it.
pub(super) struct Steps<'m> {
    model: &'m Model,
    ports: &'m Ports<'m>,
    /// What the module imports from the runtime.
    imports: BTreeSet<&'static str>,
    /// Parameters already printed: kernel's name and parameters to their name.
    params: HashMap<(&'static str, String), String>,
}

impl<'m> Steps<'m> {
    pub(super) fn new(model: &'m Model, ports: &'m Ports<'m>) -> Self {
        Self { model, ports, imports: BTreeSet::from(["kernels"]), params: HashMap::new() }
    }

    fn compiled(&self) -> &'m Compiled {
        &self.model.compiled
    }

    fn place(&self, operand: &Operand) -> Place<'m> {
        let view = match operand {
            Operand::Constant(view) => return Place::Constant(*view),
            Operand::Buffer(view) => *view,
        };
        match self.compiled().program.buffer(view.buffer).storage {
            Storage::Workspace => {
                Place::Workspace(view, self.compiled().offsets[view.buffer.index()] + view.offset)
            }
            Storage::Input(i) => Place::Caller(view, &self.ports.inputs[i]),
            Storage::Output(i) => Place::Caller(view, &self.ports.outputs[i]),
        }
    }

    fn operands(&self, step: &'m Step) -> Vec<(&'static OperandInfo, Place<'m>)> {
        let places = step.operands.iter().map(|operand| self.place(operand));
        step.kernel.operands().iter().zip(places).collect()
    }

    /// Whether any step works in the workspace.
    pub(super) fn use_workspace(&self) -> bool {
        let mut operands = self.compiled().program.steps.iter().flat_map(|step| self.operands(step));
        operands.any(|(_, place)| matches!(place, Place::Workspace(..)))
    }

    /// Whether any step reads or writes the caller's array `port`.
    pub(super) fn use_port(&self, port: &Port<'_>) -> bool {
        let mut operands = self.compiled().program.steps.iter().flat_map(|step| self.operands(step));
        operands.any(|(_, place)| matches!(place, Place::Caller(_, found) if found.ident == port.ident))
    }

    /// The calls of all steps; `array` is how a caller's array is reached there.
    pub(super) fn calls(&self, code: &mut Code, array: impl Fn(&Port<'_>) -> String) {
        for step in &self.compiled().program.steps {
            let mut arguments = Vec::new();
            for (_, place) in self.operands(step) {
                match place {
                    Place::Workspace(..) if arguments.first().is_none_or(|first| first != "workspace") => {
                        arguments.insert(0, "workspace".to_owned());
                    }
                    Place::Workspace(..) | Place::Constant(_) => (),
                    Place::Caller(_, port) => arguments.push(array(port)),
                }
            }
            code.list(&format!("steps::{}(", step.name), &arguments, ");", CALL_WIDTH);
        }
    }

    /// The module.
    pub(super) fn module(mut self, code: &mut Code) {
        let steps = &self.compiled().program.steps;
        let runner = &self.model.type_name;
        let mut functions = Code::new(code.indent() + 1);
        for step in steps {
            functions.blank();
            let parameters = self.parameters(&mut functions, step);
            self.function(&mut functions, step, &parameters);
        }
        let has_constants = !self.compiled().program.constants.bytes().is_empty();
        code.doc("The steps of a run, in order.");
        code.block("mod steps {", "}", |code| {
            let imports: Vec<_> = self.imports.iter().map(ToString::to_string).collect();
            match imports.as_slice() {
                [import] => code.line(format!("use ::aot_rt::{import};")),
                imports => code.wide_list("use ::aot_rt::{", imports, "};"),
            }
            if self.use_workspace() {
                code.blank();
                code.line(format!(
                    "type Workspace = ::aot_rt::Workspace<{{ super::{runner}::ARENA_BYTES }}>;"
                ));
            }
            if has_constants {
                code.blank();
                code.assign(
                    &format!("static CONSTANTS: ::aot_rt::Constants<{{ super::{runner}::CONSTANT_BYTES }}>"),
                    "::aot_rt::Constants::new(*super::CONSTANT_DATA)",
                );
            }
            code.append(functions);
        });
    }

    /// Prints the step's parameters, unless an earlier step has equal ones; gives
    /// their name.
    fn parameters(&mut self, code: &mut Code, step: &Step) -> String {
        let mut text = Code::new(code.indent());
        params(&mut text, "", step.kernel.params(), "");
        let key = (step.kernel.name(), text.into_text());
        if let Some(name) = self.params.get(&key) {
            return name.clone();
        }
        let ty = step.kernel.params().name();
        let specialise = self.model.config.optimize == Optimize::Speed && specialises(&step.kernel);
        let name = if specialise {
            self.imports.insert("specialise");
            let name = super::names::camel_case(&step.name);
            params(code, &format!("specialise!({name}: kernels::{ty} = "), step.kernel.params(), ");");
            name
        } else {
            let name = step.name.to_ascii_uppercase();
            params(code, &format!("static {name}: kernels::{ty} = "), step.kernel.params(), ";");
            name
        };
        code.blank();
        self.params.insert(key, name.clone());
        name
    }

    fn function(&mut self, code: &mut Code, step: &'m Step, parameters: &str) {
        code.doc(description(step));
        let operands = self.operands(step);
        let mut arguments = Vec::new();
        if operands.iter().any(|(_, place)| matches!(place, Place::Workspace(..))) {
            arguments.push("workspace: &mut Workspace".to_owned());
        }
        for (info, place) in &operands {
            if let Place::Caller(_, port) = place {
                let reference = if info.access == Access::Write { "&mut " } else { "&" };
                arguments.push(format!("{}: {reference}{}", info.name, port.array()));
            }
        }
        let mut body = Code::new(code.indent() + 1);
        self.regions(&mut body, &operands);
        for (info, place) in &operands {
            self.binding(&mut body, info, place);
        }
        let mut call = vec![format!("&{parameters}")];
        call.extend(operands.iter().map(|(info, _)| info.name.to_owned()));
        body.list(&format!("kernels::{}(", step.kernel.name()), &call, ");", CALL_WIDTH);
        code.wide_list(&format!("pub fn {}(", step.name), &arguments, ") {");
        code.append(body);
        code.line("}");
    }

    /// Borrows the step's regions from the workspace, together.
    fn regions(&mut self, code: &mut Code, operands: &[(&OperandInfo, Place<'_>)]) {
        let regions: Vec<_> = operands
            .iter()
            .filter_map(|(info, place)| match place {
                Place::Workspace(view, offset) => {
                    let (element, len) = (view.dtype.name(), integer(view.len));
                    Some((info, format!("<{element}, {}, {len}>", integer(offset))))
                }
                Place::Caller(..) | Place::Constant(_) => None,
            })
            .collect();
        match regions.as_slice() {
            [] => (),
            [(info, region)] => {
                let method = if info.access == Access::Write { "write" } else { "read" };
                code.line(format!("let {} = workspace.{method}::{region}();", info.name));
            }
            regions => {
                let names: Vec<_> = regions.iter().map(|(info, _)| info.name).collect();
                let mut types = Vec::new();
                for (info, region) in regions {
                    let ty = if info.access == Access::Write { "Write" } else { "Read" };
                    self.imports.insert(ty);
                    types.push(format!("{ty}{region}"));
                }
                let open = format!("let ({}) = workspace.borrow::<(", names.join(", "));
                code.wide_list(&open, &types, ")>();");
            }
        }
    }

    /// Names a constant, or the part of a caller's array that the step works on.
    fn binding(&mut self, code: &mut Code, info: &OperandInfo, place: &Place<'_>) {
        let name = info.name;
        match place {
            Place::Workspace(..) => (),
            Place::Constant(ConstantView { len: 0, .. }) => code.line(format!("let {name} = &[];")),
            Place::Constant(ConstantView { offset, dtype, len }) => {
                let (element, offset, len) = (dtype.name(), integer(offset), integer(len));
                code.line(format!("let {name} = CONSTANTS.get::<{element}, {offset}, {len}>();"));
            }
            Place::Caller(view, port) => {
                let whole = port.ty().shape.elements();
                if (view.offset, view.dtype, view.len) == (0, port.ty().dtype, whole) {
                    return;
                }
                let function = if info.access == Access::Write { "part_mut" } else { "part" };
                self.imports.insert(function);
                let (from, to) = (port.element(), view.dtype.name());
                let [offset, len, whole] = [view.offset, view.len, whole].map(integer);
                code.line(format!(
                    "let {name} = {function}::<{from}, {to}, {offset}, {len}, {whole}>({name});"
                ));
            }
        }
    }
}

/// `` `conv2d/Conv2D`: 10×4, stride 2×2, 1 → 64 channels, relu; 320 000 MACs. ``
fn description(step: &Step) -> String {
    let mut text = docs::code_span(&step.node);
    if !step.description.is_empty() {
        text.push_str(": ");
        text.push_str(&docs::plain(&step.description));
    }
    if step.macs > 0 {
        text.push_str(&format!("; {} MACs", spaced(step.macs)));
    }
    text + "."
}
