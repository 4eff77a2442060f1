//! The states of a file: tensors that are kept from run to run.

use super::format::{StateEntry, Unread};
use super::nodes::Reader;
use super::tensors::Role;
use crate::error::{Location, Problem};
use crate::graph::TensorId;

impl<'a> Reader<'_, 'a> {
    /// Reads them, and adds what they are at the start of a run.
    pub(super) fn states(&mut self, states: Option<Unread<'a, Vec<StateEntry<'a>>>>) -> Vec<StateEntry<'a>> {
        let states = states.and_then(|states| self.findings.read(states.json, ""));
        let states: Vec<StateEntry<'a>> = states.unwrap_or_default();
        for state in &states {
            let id = self.before(state);
            self.known.entry(state.before.value.clone()).or_insert(id);
        }
        states
    }

    fn before(&mut self, state: &StateEntry<'a>) -> Option<TensorId> {
        let (place, name) = (state.before.place, &state.before.value);
        let initial = self.find(&state.initial, &Location::Model);
        for name in [&state.before.value, &state.initial.value, &state.after.value] {
            if let Some(declaration) = self.declared.get_mut(name) {
                declaration.used = true;
            }
        }
        let message = match self.declared.get(name) {
            None => format!("state `{name}` is not declared in `tensors`"),
            Some(_) if self.known.contains_key(name) => format!("state `{name}` is another tensor already"),
            Some(declaration) => {
                let (declared, initial) = (declaration.ty.clone()?, initial?);
                let ty = &self.builder.tensor(initial).ty;
                if matches!(declaration.role, Role::Constant(_)) {
                    format!("state `{name}` has `data`: it is a constant")
                } else if self.builder.tensor(initial).data.is_none() {
                    let initial = &state.initial.value;
                    format!("state `{name}` starts as `{initial}`, which is no constant")
                } else if declared != *ty {
                    format!("state `{name}` is {declared} and starts as {ty}, or with another quantization")
                } else {
                    return Some(self.builder.state(name, initial));
                }
            }
        };
        self.findings.add(place, Problem::new(message));
        None
    }

    /// Says what the states are at the end of a run.
    pub(super) fn keep(&mut self, states: &[StateEntry<'a>]) {
        for state in states {
            let after = self.find(&state.after, &Location::Model);
            let before = self.known.get(&state.before.value).copied().flatten();
            if let (Some(before), Some(after)) = (before, after) {
                self.builder.keep(before, after);
            }
        }
    }
}
