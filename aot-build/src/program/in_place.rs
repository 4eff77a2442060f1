//! Lets elementwise steps write over what they read.
//!
//! ```text
//! x ── softmax ── y    =>    x ── softmax ── x
//! ```
//!
//! Saves the tensor `y`. The step must be the last to use the buffer of `x`, whatever
//! the order of steps: all others that use it come before, because its own operands
//! depend on them.

use aot_rt::kernels::{Kernel, Kind};

use super::dependencies::Dependencies;
use super::{Alias, BufferId, Operand, Program, Storage, View};

/// Merges the buffers of every such step.
pub(crate) fn in_place(program: &mut Program) {
    // Merging adds no dependency: what it asks for is there already.
    let dependencies = Dependencies::of(program);
    for step in 0..program.steps.len() {
        if program.steps[step].kernel.kind() == Kind::Elementwise {
            swap_operands(program, &dependencies, step);
            let [Operand::Buffer(x), Operand::Buffer(y)] = program.steps[step].operands[..2] else {
                continue;
            };
            if program.can_replace(&dependencies, step, x, y) {
                program.replace(y.buffer, x);
            }
        }
    }
}

/// Exchanges the operands of a sum where only the second can be written over.
fn swap_operands(program: &mut Program, dependencies: &Dependencies, step: usize) {
    let [Operand::Buffer(x), Operand::Buffer(y), Operand::Buffer(b)] = program.steps[step].operands[..]
    else {
        return;
    };
    if program.can_replace(dependencies, step, x, y) || !program.can_replace(dependencies, step, b, y) {
        return;
    }
    let step = &mut program.steps[step];
    match &mut step.kernel {
        Kernel::AddF32(params) => params.broadcast = params.broadcast.swapped(),
        Kernel::AddI8(params) => {
            params.broadcast = params.broadcast.swapped();
            params.sum = params.sum.swapped();
        }
        _ => return,
    }
    step.operands.swap(0, 2);
}

impl Program {
    /// Whether `y`, which `step` writes, may lie where `x` does, which it reads: both
    /// are whole buffers of one size, and nothing uses them otherwise.
    pub(super) fn can_replace(&self, dependencies: &Dependencies, step: usize, x: View, y: View) -> bool {
        let is_whole = |view: View| view.offset == 0 && view.bytes() == self.buffer(view.buffer).bytes;
        let [x_storage, y_storage] = [x, y].map(|view| self.buffer(view.buffer).storage);
        let storage_fits =
            matches!((x_storage, y_storage), (Storage::Workspace, Storage::Workspace | Storage::Output(_)));
        x.buffer != y.buffer
            && (x.dtype, x.len) == (y.dtype, y.len)
            && is_whole(x)
            && is_whole(y)
            && storage_fits
            && !self.outputs.iter().any(|port| port.view.buffer == x.buffer)
            && !(y_storage != Storage::Workspace
                && self.inputs.iter().any(|port| port.view.buffer == x.buffer))
            && self.writes_first(step, y.buffer)
            && self.reads_once(step, x.buffer)
            && dependencies.are_before(step, self.users(x.buffer))
    }

    /// Puts the tensor of the buffer `from` where `to` is.
    pub(super) fn replace(&mut self, from: BufferId, to: View) {
        let (storage, name) = (self.buffer(from).storage, self.buffer(from).name.clone());
        if storage != Storage::Workspace {
            self.buffers[to.buffer.0].storage = storage;
        }
        for view in self.views_mut().filter(|view| view.buffer == from) {
            view.buffer = to.buffer;
        }
        self.aliases.push(Alias { name, view: to });
    }

    /// Whether no step before `step` uses the buffer.
    fn writes_first(&self, step: usize, buffer: BufferId) -> bool {
        self.users(buffer).next() == Some(step) && !self.inputs.iter().any(|port| port.view.buffer == buffer)
    }

    /// Whether a step has one operand in the buffer.
    pub(super) fn reads_once(&self, step: usize, buffer: BufferId) -> bool {
        self.steps[step].buffers().filter(|(view, _)| view.buffer == buffer).count() == 1
    }
}
