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

use super::merger::Merger;
use super::{Program, Work};
use crate::config::Pool;

/// Merges the buffers of every such step.
pub(crate) fn in_place(program: &mut Program, pools: &[(String, Pool)]) {
    let mut merger = Merger::new(program, pools);
    for step in 0..merger.program.steps.len() {
        if merger.program.steps[step].kind() == Kind::Elementwise {
            swap_operands(&mut merger, step);
            if let (Some(x), Some(y)) = (merger.view(step, 0), merger.view(step, 1))
                && merger.can_replace(step, x, y)
            {
                merger.replace(y.buffer, x);
            }
        }
    }
    merger.finish();
}

/// Exchanges the operands of a sum, a product, … where only the second can be written over.
fn swap_operands(merger: &mut Merger<'_>, step: usize) {
    let [Some(x), Some(y), Some(b)] = [0, 1, 2].map(|i| merger.view(step, i)) else { return };
    if merger.can_replace(step, x, y) || !merger.can_replace(step, b, y) {
        return;
    }
    let step = &mut merger.program.steps[step];
    let Work::Kernel(kernel) = &mut step.work else { return };
    match kernel {
        Kernel::AddF32(params)
        | Kernel::MaximumF32(params)
        | Kernel::MinimumF32(params)
        | Kernel::MulF32(params)
        | Kernel::SquaredDifferenceF32(params) => params.broadcast = params.broadcast.swapped(),
        Kernel::AddI32(params)
        | Kernel::MaximumI32(params)
        | Kernel::MaximumI8(params)
        | Kernel::MinimumI32(params)
        | Kernel::MinimumI8(params)
        | Kernel::MulI32(params) => params.broadcast = params.broadcast.swapped(),
        Kernel::MulI8(params) => *params = params.swapped(),
        Kernel::AddI8(params) | Kernel::AddI16(params) | Kernel::SquaredDifferenceI8(params) => {
            params.broadcast = params.broadcast.swapped();
            params.sum = params.sum.swapped();
        }
        _ => return,
    }
    step.operands.swap(0, 2);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::graph::sketch::{Sketch, f32_type, i8_type};
    use crate::graph::{Graph, TensorId};
    use crate::ops::{Add, Relu, Softmax};
    use crate::program::{Storage, lower};

    /// Lowers, merges, and gives the program and the buffers of each step.
    fn merged(graph: &Graph) -> (Program, Vec<Vec<String>>) {
        let mut program = lower(graph, &Config::default()).unwrap();
        in_place(&mut program, &Config::default().workspaces());
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
        in_place(&mut program, &Config::default().workspaces());
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
