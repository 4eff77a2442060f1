//! What happens before the first run: constants are copied, and states set.

use std::collections::BTreeSet;

use super::literal::integer;
use super::memories::Memory;
use super::runner::Runner;
use super::steps::Steps;
use super::writer::{CALL_WIDTH, Code};
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
        let memories = self.state_memories();
        let parameters: Vec<_> =
            memories.iter().map(|memory| format!("{}: &mut {}", memory.name, memory.ty)).collect();
        code.block(format!("pub fn reset({}) {{", parameters.join(", ")), "}", |code| {
            for state in states {
                let region = self.region(state.view);
                let memory = &self.memories().memories[region.memory].name;
                match state.initial {
                    Initial::Fill(byte) => {
                        let region = region.bytes();
                        code.line(format!("{memory}.write::<{region}>().fill({});", integer(byte)));
                    }
                    Initial::Constant(view) => code.assign(
                        &format!("*{memory}.write::<{}>()", region.arguments()),
                        &format!("*{}", self.memories().in_flash(view)),
                    ),
                }
            }
        });
    }

    /// The memories that states are in.
    pub(super) fn state_memories(&self) -> Vec<&Memory> {
        let states = &self.compiled().program.states;
        let used: BTreeSet<usize> = states.iter().map(|state| self.region(state.view).memory).collect();
        used.into_iter().map(|memory| &self.memories().memories[memory]).collect()
    }

    /// Prints the function that copies constants, where there are pools for copies.
    pub(super) fn load_constants(&self, code: &mut Code) {
        let copies: Vec<_> = self.memories().copies().collect();
        if copies.is_empty() {
            return;
        }
        code.blank();
        code.doc("Copies constants from flash to the pools that ask for it.");
        let parameters = copies.iter().map(|(_, memory)| format!("{}: &mut {}", memory.name, memory.ty));
        code.wide_list("pub fn load_constants(", &parameters.collect::<Vec<_>>(), ") {");
        code.indented(|code| {
            for (constants, memory) in copies {
                let bytes = integer(memory.pool.bytes);
                code.assign(
                    &format!("*{}.write::<u8, 0, {bytes}>()", memory.name),
                    &format!("*{}.get::<u8, 0, {bytes}>()", constants.name()),
                );
            }
        });
        code.line("}");
    }
}

impl Runner<'_> {
    /// The function that copies constants to memory.
    pub(super) fn load_constants(&self, code: &mut Code) {
        code.blank();
        code.doc(
            "Copies the constants from flash to their pools; the first run does it by itself. To\n\
             be called where that memory has lost what it held.",
        );
        code.block("pub fn load_constants(&mut self) {", "}", |code| {
            let copied = self.memories().copies().map(|(_, memory)| self.memories().borrowed(memory));
            code.list("steps::load_constants(", &copied.collect::<Vec<_>>(), ");", CALL_WIDTH);
            code.line(format!("{} = true;", self.flag("has_constants")));
        });
    }

    /// Whether something is kept from run to run.
    pub(super) fn has_state(&self) -> bool {
        !self.model.compiled.program.states.is_empty()
    }

    /// Copies constants and resets the state before the first run.
    pub(super) fn ensure_state(&self, code: &mut Code) {
        if self.has_copies() {
            let open = format!("if !{} {{", self.flag("has_constants"));
            code.block(open, "}", |code| code.line("self.load_constants();"));
        }
        if self.has_state() {
            let open = format!("if !{} {{", self.flag("has_state"));
            code.block(open, "}", |code| code.line("self.reset();"));
        }
    }

    /// Where a kernel may refuse, the state is in doubt until it has not: the next run would start
    /// from the initial one.
    pub(super) fn doubt_state(&self, code: &mut Code) {
        if self.has_state() && self.binds() {
            code.line(format!("{} = false; // Until all steps have run.", self.flag("has_state")));
        }
    }

    /// The steps have run.
    pub(super) fn trust_state(&self, code: &mut Code) {
        if self.has_state() && self.binds() {
            code.line(format!("{} = true;", self.flag("has_state")));
        }
    }

    /// The function that sets the state as the model file says.
    pub(super) fn reset(&self, code: &mut Code, steps: &Steps<'_>) {
        code.blank();
        code.doc(
            "Sets what is kept from run to run as the model file says; the first run does it\n\
             by itself.",
        );
        code.block("pub fn reset(&mut self) {", "}", |code| {
            let memories = steps.state_memories().into_iter().map(|memory| self.memories().borrowed(memory));
            code.list("steps::reset(", &memories.collect::<Vec<_>>(), ");", CALL_WIDTH);
            code.line(format!("{} = true;", self.flag("has_state")));
        });
    }
}
