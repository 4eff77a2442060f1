//! Takes reshapes out of the way.
//!
//! ```text
//! x ── reshape ── reshape ── y     =>    x ── reshape ── y
//! x ── reshape to x's shape ── f   =>    x ── f
//! ```
//!
//! A reshape takes no step, but it stands between operators that other passes look at
//! together.

use crate::graph::{Graph, TensorId};
use crate::ops::Op;

/// Makes every reader read the tensor before needless reshapes; gives whether there
/// were any. A reshape that makes an output of the graph stays, for its name.
pub(super) fn merge_reshape(graph: &mut Graph) -> bool {
    // For each tensor, the one before the reshape that made it.
    let mut before: Vec<Option<TensorId>> = vec![None; graph.tensors.len()];
    let mut changed = false;
    for i in 0..graph.nodes.len() {
        let is_reshape = matches!(graph.nodes[i].op, Op::Reshape(_));
        for operand in 0..graph.nodes[i].inputs.len() {
            let Some(id) = graph.nodes[i].inputs[operand] else { continue };
            let Some(source) = before[id.0] else { continue };
            if is_reshape || graph.tensor(id).ty.shape == graph.tensor(source).ty.shape {
                graph.nodes[i].inputs[operand] = Some(source);
                changed = true;
            }
        }
        if is_reshape
            && let (&[Some(x)], &[y]) = (&*graph.nodes[i].inputs, &*graph.nodes[i].outputs)
            // Lowering refuses others; the refusal must not get lost.
            && graph.tensor(x).ty.quantization == graph.tensor(y).ty.quantization
        {
            before[y.0] = Some(x);
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::sketch::{Sketch, f32_type, i8_type};
    use crate::ops::{Relu, Reshape};

    fn reshape<const N: usize>(shape: [usize; N]) -> Reshape {
        Reshape { shape: f32_type(shape).shape }
    }

    #[test]
    fn a_reshape_of_a_reshape() {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", f32_type([2, 3]));
        let a = sketch.node("a", reshape([6]), &[x]);
        let b = sketch.node("b", reshape([3, 2]), &[a]);
        let y = sketch.node("y", reshape([1, 6]), &[b]);
        let mut graph = sketch.finish(&[y, a]);
        assert!(merge_reshape(&mut graph));
        assert_eq!(
            graph.to_string(),
            "input x: f32 [2, 3]\n\
             a: f32 [6] = Reshape { shape: Shape([6]) } (x)\n\
             b: f32 [3, 2] = Reshape { shape: Shape([3, 2]) } (x)\n\
             y: f32 [1, 6] = Reshape { shape: Shape([1, 6]) } (x)\n\
             output y, a\n"
        );
        assert!(!merge_reshape(&mut graph));
    }

    #[test]
    fn a_reshape_there_and_back() {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", f32_type([2, 3]));
        let a = sketch.node("a", reshape([6]), &[x]);
        let b = sketch.node("b", reshape([2, 3]), &[a]);
        let y = sketch.node("y", Relu::default(), &[b]);
        let mut graph = sketch.finish(&[y]);
        assert!(merge_reshape(&mut graph));
        assert!(graph.to_string().contains("y: f32 [2, 3] = Relu { activation: Relu } (x)"), "{graph}");
    }

    #[test]
    fn one_that_changes_the_scale_is_left_for_lowering_to_refuse() {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", i8_type([4], 0.1, 0));
        let a = sketch.typed("a", reshape([2, 2]), &[x], i8_type([2, 2], 0.2, 0));
        let y = sketch.typed("y", reshape([4]), &[a], i8_type([4], 0.2, 0));
        let mut graph = sketch.finish(&[y]);
        assert!(!merge_reshape(&mut graph));
    }
}
