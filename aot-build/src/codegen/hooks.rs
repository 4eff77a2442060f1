//! What lets an instrument observe the steps: the table of steps, and the calls before and
//! after each.

use aot_rt::kernels::Kind;
use aot_rt::{Access, DType};

use super::literal::integer;
use super::ports::Port;
use super::sites::Site;
use super::steps::{Argument, Place, Steps};
use super::writer::{CALL_WIDTH, Code};
use crate::program::{Operand, View};

impl<'m> Steps<'m> {
    /// The table of the steps, and of those that they hold.
    pub(super) fn table(&self, code: &mut Code) {
        let sites: Vec<_> = self.sites(0).collect();
        code.blank();
        code.doc("What an instrument is told of the steps, in order; those within a step follow it.");
        let open = format!("pub static STEPS: [StepInfo; {}] = [", sites.len());
        match sites.as_slice() {
            [] => code.line(open + "];"),
            [site] => code.block(open + "StepInfo {", "}];", |code| self.fields(code, 0, *site)),
            sites => code.block(open, "];", |code| {
                for (index, site) in sites.iter().enumerate() {
                    code.block("StepInfo {", "},", |code| self.fields(code, index, *site));
                }
            }),
        }
    }

    fn fields(&self, code: &mut Code, index: usize, Site { step, layer }: Site<'_>) {
        code.line(format!("index: {},", integer(index)));
        code.line(format!("name: {:?},", step.name));
        code.line(format!("operator: {:?},", step.operator));
        match step.kernel_name() {
            Some(kernel) => code.line(format!("kernel: Some({kernel:?}),")),
            None => code.line("kernel: None,"),
        }
        code.line(format!("node: {:?},", step.node));
        code.line(format!("macs: {},", integer(step.macs)));
        code.line(format!("bytes: {},", integer(step.bytes())));
        code.line(format!("rows: {},", integer(layer.map_or(1, |layer| layer.rows.rows))));
        match step.call().and_then(|call| self.compiled().program.devices.get(call.device)) {
            Some(device) => code.line(format!("device: Some({:?}),", device.name)),
            None => code.line("device: None,"),
        }
    }

    /// Leaves the function of a step that an instrument skips.
    pub(super) fn before(&self, code: &mut Code, site: Site<'m>) {
        let open = format!("if instrument.before(&STEPS[{}]) == Action::Skip {{", self.index(site));
        code.block(open, "}", |code| self.return_early(code, site));
    }

    /// Shows an instrument what a step has written.
    pub(super) fn after(&mut self, code: &mut Code, site: Site<'m>) {
        let outputs: Vec<_> = self.written(site).iter().map(|output| self.elements(site, output)).collect();
        let [step, list] = [format!("&STEPS[{}]", self.index(site)), format!("&[{}]", outputs.join(", "))];
        if list.len() <= CALL_WIDTH {
            return code.list("instrument.after(", &[step, list], ");", CALL_WIDTH);
        }
        code.block("instrument.after(", ");", |code| {
            code.line(format!("{step},"));
            code.list("&[", &outputs, "],", CALL_WIDTH);
        });
    }

    /// What a step writes, its result first.
    fn written(&self, site: Site<'m>) -> Vec<Argument<'m>> {
        let operands = site.step.operands.iter();
        match site.step.control() {
            Some(control) => {
                // The last one may be memory for the steps within.
                let results = site.step.operands.len() - usize::from(control.least_scratch.is_some());
                // What has no element is no argument either.
                let written = operands.take(results).skip(control.reads).filter(|operand| operand.len() > 0);
                written.map(|operand| self.result(operand)).collect()
            }
            None => {
                let infos = site.step.operand_infos();
                let written = operands.zip(infos).filter(|(_, (_, access))| *access == Access::Write);
                written.map(|(operand, (name, _))| Argument { name, ..self.result(operand) }).collect()
            }
        }
    }

    fn result(&self, operand: &Operand) -> Argument<'m> {
        Argument { name: "y", access: Access::Write, place: self.place(operand) }
    }

    /// What an operand holds: in a run, the row that has just been computed.
    fn elements(&mut self, site: Site<'m>, Argument { name, place, .. }: &Argument<'m>) -> String {
        let (dtype, array) = match place {
            Place::Memory(region) => {
                let memory = &self.memories().memories[region.memory].name;
                (region.dtype, format!("{memory}.read::<{}>()", region.arguments()))
            }
            // A step of the caller's own names its array, one that holds steps the port.
            Place::Caller(view, port) if site.step.control().is_some() => self.part_of_port(*view, port),
            Place::Caller(view, _) => (view.dtype, (*name).to_owned()),
            Place::Constant(_) => unreachable!("constants are not written"),
        };
        let elements = match site.layer {
            Some(layer) if *name == "y" && site.step.kind() != Kind::Reducing => {
                self.ring_row(&array, layer.rings[1])
            }
            _ => array,
        };
        format!("Elements::{}({elements})", variant(dtype))
    }

    /// What a view is of the caller's array.
    fn part_of_port(&mut self, view: View, port: &Port<'_>) -> (DType, String) {
        let whole = port.units();
        // What holds two integers of four bits is shown as the step has it.
        if (view.offset, view.bytes()) == (0, port.ty().bytes()) && port.ty().dtype != DType::I4 {
            return (port.ty().dtype, port.ident.clone());
        }
        self.imports.insert("part");
        let (from, to) = (port.element(), view.dtype.rust_type());
        let [offset, len, whole] = [view.offset, view.len, whole].map(integer);
        (view.dtype, format!("part::<{from}, {to}, {offset}, {len}, {whole}>({})", port.ident))
    }
}

/// Variant of `aot_rt::DType` and of `aot_rt::Elements`.
pub(super) fn variant(dtype: DType) -> &'static str {
    match dtype {
        DType::I4 => "I4",
        DType::I8 => "I8",
        DType::U8 => "U8",
        DType::I16 => "I16",
        DType::I32 => "I32",
        DType::U32 => "U32",
        DType::I64 => "I64",
        DType::U64 => "U64",
        DType::F16 => "F16",
        DType::BF16 => "BF16",
        DType::F32 => "F32",
        DType::Bool => "Bool",
    }
}
