//! Lets a convolution add its result to what is there.
//!
//! ```text
//! x ── conv2d ── t ─┐
//!                  add ── y    =>    x ── conv2d_add ── s
//! s ────────────────┘
//! ```
//!
//! Saves the tensors `t` and `y`: the sum takes the place of `s`, which must be used by
//! nothing later. It is the residual connection of ResNet and MobileNetV2.

use aot_rt::kernels::{Conv2dAddF32, Conv2dAddI8, Kernel};

use super::merger::Merger;
use super::{BufferId, Operand, Program, Step, View, Work};
use crate::config::Pool;

/// Fuses every such pair.
pub(crate) fn fuse_add(program: &mut Program, pools: &[(String, Pool)]) {
    let mut fused = vec![false; program.steps.len()];
    let mut merger = Merger::new(program, pools);
    for add in 0..fused.len() {
        for [t, s] in [[0, 2], [2, 0]] {
            let Some(fusion) = fusion(&merger, add, [t, s]) else { continue };
            fused[fusion.conv2d] = true;
            merger.program.steps[add] = fusion.step;
            merger.replace(fusion.y, fusion.s);
            break;
        }
    }
    merger.finish();
    let mut fused = fused.into_iter();
    program.steps.retain(|_| fused.next() != Some(true));
}

/// A convolution and the sum that it takes over.
struct Fusion {
    conv2d: usize,
    step: Step,
    s: View,
    y: BufferId,
}

/// How the sum at `add` can be fused into the convolution that makes its operand `t`,
/// with the other operand being `s`.
fn fusion(merger: &Merger<'_>, add: usize, [t, s]: [usize; 2]) -> Option<Fusion> {
    let sum = &merger.program.steps[add];
    let Some(Kernel::AddF32(_) | Kernel::AddI8(_)) = sum.kernel() else { return None };
    let [Some(t_view), Some(y), Some(s_view)] = [t, 1, s].map(|i| merger.view(add, i)) else { return None };
    // Equal shapes, so that `t` is not repeated.
    if t_view.len != y.len || !merger.can_replace(add, s_view, y) {
        return None;
    }
    let conv2d = merger.only_maker(t_view, add)?;
    let step = &merger.program.steps[conv2d];
    // Its window must not move over what it writes.
    if merger.uses(step, s_view.buffer) > 0 {
        return None;
    }
    let kernel = match (*step.kernel()?, *sum.kernel()?) {
        (Kernel::Conv2dF32(conv2d), Kernel::AddF32(sum)) => {
            Kernel::Conv2dAddF32(Conv2dAddF32 { conv2d, range: sum.range })
        }
        (Kernel::Conv2dF16(conv2d), Kernel::AddF32(sum)) => {
            Kernel::Conv2dAddF16(Conv2dAddF32 { conv2d, range: sum.range })
        }
        (Kernel::Conv2dI8(conv2d), Kernel::AddI8(add)) => {
            let sum = if t == 0 { add.sum } else { add.sum.swapped() };
            Kernel::Conv2dAddI8(Conv2dAddI8 { conv2d, sum })
        }
        _ => return None,
    };
    let mut operands = step.operands.clone();
    operands[1] = Operand::Buffer(s_view);
    let step = Step {
        name: sum.name.replace("add", "conv2d_add"),
        operator: step.operator,
        node: step.node.clone(),
        description: format!("{}; added to {}", step.description, sum.description),
        work: Work::Kernel(kernel),
        operands,
        macs: step.macs,
    };
    Some(Fusion { conv2d, step, s: s_view, y: y.buffer })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::graph::sketch::{Sketch, i8_type};
    use crate::graph::{Data, TensorId};
    use crate::ops::{Add, Conv2d};
    use crate::program::lower;

    /// Kernels of `s = conv(x); t = conv(s); y = t + s`, with more outputs.
    fn kernels(swap: bool, outputs: impl Fn([TensorId; 3]) -> Vec<TensorId>) -> Vec<&'static str> {
        let ty = || i8_type([1, 2, 2, 1], 0.1, 3);
        let mut sketch = Sketch::new();
        let x = sketch.input("x", ty());
        let weights = sketch.constant("w", i8_type([1, 1, 1, 1], 0.5, 0), Data::from_i8s(&[2]));
        let s = sketch.typed("s", Conv2d::default(), &[x, weights], ty());
        let t = sketch.typed("t", Conv2d::default(), &[s, weights], ty());
        let u = sketch.typed("u", Conv2d::default(), &[t, weights], ty());
        let operands = if swap { [s, u] } else { [u, s] };
        let y = sketch.typed("y", Add::default(), &operands, ty());
        let graph = sketch.finish(&outputs([y, s, u]));
        let mut program = lower(&graph, &Config::default()).unwrap();
        fuse_add(&mut program, &Config::default().workspaces());
        program.steps.iter().filter_map(|step| Some(step.kernel()?.name())).collect()
    }

    #[test]
    fn a_residual_connection_is_fused() {
        for swap in [false, true] {
            assert_eq!(kernels(swap, |[y, _, _]| vec![y]), ["conv2d_i8", "conv2d_i8", "conv2d_add_i8"]);
        }
    }

    #[test]
    fn a_tensor_that_is_needed_later_is_not_added_to() {
        let apart = ["conv2d_i8", "conv2d_i8", "conv2d_i8", "add_i8"];
        assert_eq!(kernels(false, |[y, s, _]| vec![y, s]), apart);
        assert_eq!(kernels(false, |[y, _, u]| vec![y, u]), apart);
    }

    #[test]
    fn a_convolution_of_what_it_is_added_to_stays() {
        let ty = || i8_type([1, 2, 2, 1], 0.1, 3);
        let mut sketch = Sketch::new();
        let x = sketch.input("x", ty());
        let weights = sketch.constant("w", i8_type([1, 1, 1, 1], 0.5, 0), Data::from_i8s(&[2]));
        let t = sketch.typed("t", Conv2d::default(), &[x, weights], ty());
        let y = sketch.typed("y", Add::default(), &[t, x], ty());
        let mut program = lower(&sketch.finish(&[y]), &Config::default()).unwrap();
        fuse_add(&mut program, &Config::default().workspaces());
        assert_eq!(program.steps.len(), 2);
    }
}
