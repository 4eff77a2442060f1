//! How a step's function reaches its operands: regions of memory, constants, the caller's arrays.

use aot_rt::Access;

use super::{Argument, Place, Steps};
use crate::codegen::literal::integer;
use crate::codegen::memories::{ConstantPlace, Region};
use crate::codegen::writer::Code;
use crate::program::ConstantView;

impl Steps<'_> {
    /// Borrows the step's regions, those of a memory together.
    pub(in crate::codegen) fn regions(&mut self, code: &mut Code, arguments: &[Argument<'_>]) {
        for (i, memory) in self.memories().memories.iter().enumerate() {
            let regions = arguments.iter().filter_map(|argument| match &argument.place {
                Place::Memory(region) if region.memory == i => Some((argument, region)),
                Place::Memory(_) | Place::Device(_) | Place::Caller(..) | Place::Constant(_) => None,
            });
            self.regions_of(code, &memory.name, &regions.collect::<Vec<_>>());
        }
    }

    fn regions_of(&mut self, code: &mut Code, memory: &str, regions: &[(&Argument<'_>, &Region)]) {
        match regions {
            [] => (),
            [(argument, region)] => {
                let method = if argument.access == Access::Write { "write" } else { "read" };
                let region = region.arguments();
                code.line(format!("let {} = {memory}.{method}::<{region}>();", argument.name));
            }
            regions => {
                let names: Vec<_> = regions.iter().map(|(argument, _)| argument.name).collect();
                let mut types = Vec::new();
                for (argument, region) in regions {
                    self.imports.insert(if argument.access == Access::Write { "Write" } else { "Read" });
                    types.push(region.of(argument.access));
                }
                let open = format!("let ({}) = {memory}.borrow::<(", names.join(", "));
                code.wide_list(&open, &types, ")>();");
            }
        }
    }

    /// Names a constant, or the part of a caller's array that the step works on.
    pub(in crate::codegen) fn binding(&mut self, code: &mut Code, argument: &Argument<'_>) {
        let name = argument.name;
        match &argument.place {
            Place::Memory(_) => (),
            Place::Device(region) => {
                self.imports.insert("DeviceTensor");
                region.bind(code, name);
            }
            Place::Constant(ConstantView { len: 0, .. }) if !self.describe_any() => {
                code.line(format!("let {name} = &[];"));
            }
            Place::Constant(view) => {
                if view.len == 0 {
                    return code.line(format!("let {name}: &[{}; 0] = &[];", view.dtype.rust_type()));
                }
                if let Some(ConstantPlace::Static(constants, offset)) = self.memories().constant(*view) {
                    code.line(format!("let {name} = {};", constants.get(*view, offset)));
                }
            }
            Place::Caller(view, port) => {
                let (whole, from, to) = (port.units(), port.element(), view.dtype.rust_type());
                if (view.offset, to, view.len) == (0, from, whole) {
                    return;
                }
                let function = if argument.access == Access::Write { "part_mut" } else { "part" };
                self.imports.insert(function);
                let [offset, len, whole] = [view.offset, view.len, whole].map(integer);
                code.line(format!(
                    "let {name} = {function}::<{from}, {to}, {offset}, {len}, {whole}>({name});"
                ));
            }
        }
    }
}
