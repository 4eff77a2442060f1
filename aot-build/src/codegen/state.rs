//! What is kept from run to run: how it is set before the first run.

use super::literal::integer;
use super::runner::Runner;
use super::steps::Steps;
use super::writer::Code;
use crate::program::Initial;

impl Steps<'_> {
    /// Prints it, where there is a state.
    pub(super) fn reset(&self, code: &mut Code) {
        let states = &self.compiled().program.states;
        if states.is_empty() {
            return;
        }
        code.blank();
        code.doc("Sets what is kept from run to run as the model file says.");
        code.block("pub fn reset(workspace: &mut Workspace) {", "}", |code| {
            for state in states {
                let offset = self.compiled().offsets[state.view.buffer.index()] + state.view.offset;
                let (element, len) = (state.view.dtype.rust_type(), integer(state.view.len));
                match state.initial {
                    Initial::Fill(byte) => {
                        let region = format!("u8, {}, {}", integer(offset), integer(state.view.bytes()));
                        code.line(format!("workspace.write::<{region}>().fill({});", integer(byte)));
                    }
                    Initial::Constant(view) => {
                        let constant = format!("{element}, {}, {len}", integer(view.offset));
                        code.assign(
                            &format!("*workspace.write::<{element}, {}, {len}>()", integer(offset)),
                            &format!("*CONSTANTS.get::<{constant}>()"),
                        );
                    }
                }
            }
        });
    }
}

impl Runner<'_> {
    /// Whether something is kept from run to run.
    pub(super) fn has_state(&self) -> bool {
        !self.model.compiled.program.states.is_empty()
    }

    /// Resets the state before the first run.
    pub(super) fn ensure_state(&self, code: &mut Code) {
        if self.has_state() {
            code.block("if !self.has_state {", "}", |code| code.line("self.reset();"));
        }
    }

    /// Where a run may fail, the state is in doubt until it has not: the next run would start
    /// from the initial one.
    pub(super) fn doubt_state(&self, code: &mut Code) {
        if self.has_state() && self.fallible() {
            code.line("self.has_state = false; // Until all steps have run.");
        }
    }

    /// The steps have run.
    pub(super) fn trust_state(&self, code: &mut Code) {
        if self.has_state() && self.fallible() {
            code.line("self.has_state = true;");
        }
    }

    /// The function that sets the state as the model file says.
    pub(super) fn reset(&self, code: &mut Code) {
        code.blank();
        code.doc(
            "Sets what is kept from run to run as the model file says; the first run does it\n\
             by itself.",
        );
        code.block("pub fn reset(&mut self) {", "}", |code| {
            code.line("steps::reset(&mut self.workspace);");
            code.line("self.has_state = true;");
        });
    }
}
