//! The steps that hold steps: a function for each, with an `if` or a loop that calls the
//! functions of those.

use aot_rt::{Access, DType};

use super::literal::integer;
use super::memories::{ConstantPlace, Region};
use super::ports::Port;
use super::sites::Site;
use super::steps::{Argument, Place, Steps, description};
use super::writer::Code;
use crate::program::{ConstantView, Control, Flow, Operand, Step};

impl<'m> Steps<'m> {
    /// What a step decides by, if it does.
    pub(super) fn decides(&self, step: &Step) -> Option<Argument<'m>> {
        let operand = match &step.control()?.flow {
            Flow::If { .. } => *step.operands.first()?,
            Flow::While { test, .. } => Operand::Buffer(*test),
        };
        Some(Argument { name: "condition", access: Access::Read, place: self.place(&operand) })
    }

    /// The function of such a step.
    pub(super) fn control(&mut self, code: &mut Code, site: Site<'m>, control: &'m Control) {
        let family = site.with_nested();
        let array = |(port, written): (&Port<'_>, bool)| {
            let reference = if written { "&mut " } else { "&" };
            format!("{}: {reference}{}", port.ident, port.array())
        };
        let arrays: Vec<_> = self.ports(&family).into_iter().map(array).collect();
        let condition = self.truth(site.step);
        code.doc(description(site.step));
        self.open(code, &site.step.name, &family, arrays);
        code.indented(|code| {
            self.before(code, site);
            match &control.flow {
                Flow::If { then, otherwise } => self.branches(code, &condition, then, otherwise),
                Flow::While { condition: steps, body, .. } => code.block("loop {", "}", |code| {
                    self.block(code, steps);
                    code.block(format!("if {condition} == 0 {{"), "}", |code| code.line("break;"));
                    self.block(code, body);
                }),
            }
            self.after(code, site);
            self.success(code, &family);
        });
        code.line("}");
    }

    fn branches(&self, code: &mut Code, condition: &str, then: &'m [Step], otherwise: &'m [Step]) {
        if otherwise.is_empty() {
            return code.block(format!("if {condition} != 0 {{"), "}", |code| self.block(code, then));
        }
        code.line(format!("if {condition} == 0 {{"));
        code.indented(|code| self.block(code, otherwise));
        if !then.is_empty() {
            code.line("} else {");
            code.indented(|code| self.block(code, then));
        }
        code.line("}");
    }

    /// The byte that a step decides by.
    pub(super) fn truth(&self, step: &Step) -> String {
        let Some(Argument { place, .. }) = self.decides(step) else { return String::new() };
        match place {
            Place::Memory(region) => {
                let memory = &self.memories().memories[region.memory].name;
                format!("{memory}.read::<{}>()[0]", Region { dtype: DType::U8, len: 1, ..region }.arguments())
            }
            Place::Constant(view) => {
                let view = ConstantView { dtype: DType::U8, len: 1, ..view };
                match self.memories().constant(view) {
                    Some(ConstantPlace::Static(constants, offset)) => {
                        format!("{}[0]", constants.get(view, offset))
                    }
                    Some(ConstantPlace::Copied(_)) | None => String::new(),
                }
            }
            // Where it is a part of an array, that is one of truth values as well.
            Place::Caller(view, port) => format!("{}[{}]", port.ident, integer(view.offset)),
        }
    }

    fn block(&self, code: &mut Code, steps: &'m [Step]) {
        for step in steps {
            let site = Site { step, layer: None };
            self.call(code, "", site, &|port| port.ident.clone(), &[], ";");
        }
    }
}
