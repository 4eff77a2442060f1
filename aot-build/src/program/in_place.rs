//! Lets elementwise steps write over what they read.
//!
//! ```text
//! x ── softmax ── y    =>    x ── softmax ── x
//! ```
//!
//! Saves the tensor `y`. The step must be the last to use the buffer of `x`, whatever
//! the order of steps: all others that use it come before, because its own operands
//! depend on them.

use aot_rt::Access;
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
        Kernel::AddI8(params) | Kernel::AddI16(params) => {
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
                && (self.inputs.iter().any(|port| port.view.buffer == x.buffer)
                    || self.works_within(x.buffer)))
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

    /// Whether a step reads one part of the buffer and writes another, which it cannot
    /// where the buffer is the caller's array.
    fn works_within(&self, buffer: BufferId) -> bool {
        self.steps.iter().any(|step| {
            let parts = || step.buffers().filter(|(view, _)| view.buffer == buffer);
            let mut written = parts().filter(|(_, access)| *access == Access::Write);
            written.any(|(y, _)| parts().any(|(x, _)| x != y))
        })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::graph::sketch::{Sketch, f32_type, i8_type};
    use crate::graph::{Graph, TensorId};
    use crate::ops::{Add, Relu, Softmax};
    use crate::program::lower;

    /// Lowers, merges, and gives the program and the buffers of each step.
    fn merged(graph: &Graph) -> (Program, Vec<Vec<String>>) {
        let mut program = lower(graph, &Config::default()).unwrap();
        in_place(&mut program);
        program.remove_unused_buffers();
        let names = |step: &crate::program::Step| {
            step.buffers().map(|(view, _)| program.buffer(view.buffer).name.clone()).collect()
        };
        let buffers = program.steps.iter().map(names).collect();
        (program, buffers)
    }

    fn chain(outputs: impl Fn([TensorId; 3]) -> Vec<TensorId>) -> Graph {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", f32_type([4]));
        let a = sketch.node("a", Relu::default(), &[x]);
        let b = sketch.node("b", Softmax::default(), &[a]);
        sketch.finish(&outputs([x, a, b]))
    }

    #[test]
    fn a_chain_needs_one_buffer() {
        let (program, buffers) = merged(&chain(|[_, _, b]| vec![b]));
        assert_eq!(buffers, [["x", "x"], ["x", "x"]]);
        assert_eq!(program.buffers.len(), 1);
        let aliases: Vec<_> = program.aliases.iter().map(|alias| alias.name.as_str()).collect();
        assert_eq!(aliases, ["a", "b"]);
    }

    #[test]
    fn an_output_is_not_written_over() {
        let (_, buffers) = merged(&chain(|[_, a, b]| vec![a, b]));
        assert_eq!(buffers, [["x", "x"], ["x", "b"]]);
    }

    #[test]
    fn the_callers_input_is_not_written_over() {
        let config = Config {
            inputs: crate::config::InputPlacement::Caller,
            outputs: crate::config::Placement::Caller,
            ..Config::default()
        };
        let mut program = lower(&chain(|[_, _, b]| vec![b]), &config).unwrap();
        in_place(&mut program);
        program.remove_unused_buffers();
        // The caller's output has room for what comes before it.
        let storages: Vec<_> = program.buffers.iter().map(|buffer| buffer.storage).collect();
        assert_eq!(storages, [Storage::Input(0), Storage::Output(0)]);
    }

    #[test]
    fn a_sum_takes_the_place_of_either_operand() {
        for swap in [false, true] {
            let mut sketch = Sketch::new();
            let x = sketch.input("x", i8_type([4], 0.1, 0));
            let a = sketch.typed("a", Relu::default(), &[x], i8_type([4], 0.2, 1));
            let operands = if swap { [x, a] } else { [a, x] };
            let sum = sketch.typed("sum", Add::default(), &operands, i8_type([4], 0.3, 2));
            // `x` is an output, so that only `a` dies.
            let graph = sketch.finish(&[sum, x]);
            let (_, buffers) = merged(&graph);
            assert_eq!(buffers[1], ["a", "a", "x"], "swap {swap}");
        }
    }

    #[test]
    fn a_sum_of_a_tensor_with_itself_stays_apart() {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", f32_type([4]));
        let sum = sketch.node("sum", Add::default(), &[x, x]);
        let (_, buffers) = merged(&sketch.finish(&[sum]));
        assert_eq!(buffers, [["x", "sum", "x"]]);
    }

    #[test]
    fn a_tensor_that_a_later_step_may_read_stays() {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", f32_type([4]));
        let a = sketch.node("a", Relu::default(), &[x]);
        let b = sketch.node("b", Softmax::default(), &[x]);
        // Nothing says that `a` comes before `b`.
        let (_, buffers) = merged(&sketch.finish(&[a, b]));
        assert_eq!(buffers, [["x", "a"], ["x", "b"]]);
    }
}
