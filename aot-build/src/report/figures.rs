//! What each technique brings.

use serde::Serialize;

use crate::Compiled;
use crate::program::{Buffer, Program, Storage, loads, overlapped_load};

/// Bytes of RAM that a model needs with one technique, and all listed before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Figure {
    /// The technique.
    pub name: &'static str,
    /// Bytes of RAM.
    pub bytes: usize,
}

impl Figure {
    /// Those of a program as it was lowered.
    pub(crate) fn of_lowered(program: &Program) -> Vec<Self> {
        let buffers: usize = in_workspace(program).map(|(_, buffer)| buffer.bytes).sum();
        let views = program.aliases.iter().filter(|alias| is_in_workspace(program.buffer(alias.view.buffer)));
        let views: usize = views.map(|alias| alias.view.bytes()).sum();
        vec![
            Self { name: "every tensor its own bytes", bytes: buffers + views },
            Self { name: "views share those of their tensor", bytes: buffers },
            Self { name: "tensors share bytes over time, in the file's order", bytes: load(program) },
        ]
    }

    /// Those of the same with results in the place of operands.
    pub(crate) fn of_buffers(program: &Program) -> Vec<Self> {
        vec![
            Self { name: "sums and elementwise results replace an operand", bytes: load(program) },
            Self { name: "results overlap dying operands", bytes: overlapped_load(program) },
        ]
    }

    /// Those after the choice of order and runs, up to the workspace itself.
    pub(crate) fn of_compiled(compiled: &Compiled) -> Vec<Self> {
        let name = if compiled.program.runs.is_empty() {
            "steps in the best order found"
        } else {
            "steps in the best order found, some row by row"
        };
        let bytes = compiled.workspaces.iter().map(|pool| pool.bytes).sum();
        // Whatever of it the plan makes no use of for the sake of the stack.
        let program = Program { cell_limit: None, ..compiled.program.clone() };
        vec![
            Self { name, bytes: overlapped_load(&program) },
            Self { name: "arena, every tensor at its offset", bytes },
        ]
    }
}

fn is_in_workspace(buffer: &Buffer) -> bool {
    buffer.storage == Storage::Workspace
}

fn in_workspace(program: &Program) -> impl Iterator<Item = (usize, &Buffer)> {
    program.buffers.iter().enumerate().filter(|(_, buffer)| is_in_workspace(buffer))
}

/// Most bytes of the workspace that are alive at once.
fn load(program: &Program) -> usize {
    loads(program, &program.lifetimes()).into_iter().max().unwrap_or(0)
}
