//! The function that sets the state before the first run.

use super::literal::integer;
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
