//! Lets an operator limit its own result.
//!
//! ```text
//! x ── conv2d ── t ── relu ── y    =>    x ── conv2d, relu ── y
//! ```
//!
//! Saves the tensor `t` and the step. Nobody else may read `t`, and integers must mean
//! the same in `t` and `y`: then the operator's limits are the activation's, bit for
//! bit.

use crate::graph::Graph;
use crate::ops::{Activation, Op};

/// Fuses every such activation; gives whether there was any.
pub(super) fn fuse_activation(graph: &mut Graph) -> bool {
    let (uses, mut producers) = (graph.uses(), graph.producers());
    let mut fused = vec![false; graph.nodes.len()];
    for (i, fused) in fused.iter_mut().enumerate() {
        let Some((maker, activation)) = fusible(graph, i, &uses, &producers) else { continue };
        if let Some(own) = graph.nodes[maker].op.activation_mut() {
            *own = activation;
        }
        let y = graph.nodes[i].outputs[0];
        graph.nodes[maker].outputs[0] = y;
        producers[y.0] = Some(maker);
        *fused = true;
    }
    // All at once: taking nodes out one by one would move those behind each time.
    let mut each = fused.iter();
    graph.nodes.retain(|_| each.next() != Some(&true));
    fused.contains(&true)
}

/// The node whose result node `i` limits, and the activation of both together.
fn fusible(
    graph: &Graph,
    i: usize,
    uses: &[usize],
    producers: &[Option<usize>],
) -> Option<(usize, Activation)> {
    let node = &graph.nodes[i];
    let Op::Relu(relu) = &node.op else { return None };
    let (&[Some(t)], &[y]) = (&*node.inputs, &*node.outputs) else { return None };
    let same_type = graph.tensor(t).ty == graph.tensor(y).ty;
    let maker = producers[t.0].filter(|_| uses[t.0] == 1 && same_type)?;
    let mut op = graph.nodes[maker].op.clone();
    let own = op.activation_mut()?;
    let activation = own.then(relu.activation);
    Some((maker, activation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile_as_is;
    use crate::eval::Evaluator;
    use crate::graph::sketch::{Sketch, f32_type, i8_type};
    use crate::ops::{Add, Binary, BinaryFunction, Relu};
    use crate::{Config, compile};

    fn relu6() -> Relu {
        Relu { activation: Activation::Relu6 }
    }

    #[test]
    fn activations_behind_an_add() {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", f32_type([2]));
        let sum = sketch.node("sum", Add::default(), &[x, x]);
        let positive = sketch.node("positive", Relu::default(), &[sum]);
        let y = sketch.node("y", relu6(), &[positive]);
        let mut graph = sketch.finish(&[y]);
        assert!(fuse_activation(&mut graph));
        assert_eq!(
            graph.to_string(),
            "input x: f32 [2]\ny: f32 [2] = Add { activation: Relu6 } (x, x)\noutput y\n"
        );
        assert!(!fuse_activation(&mut graph));
    }

    #[test]
    fn a_result_that_others_read_stays() {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", f32_type([2]));
        let sum = sketch.node("sum", Add::default(), &[x, x]);
        let y = sketch.node("y", Relu::default(), &[sum]);
        let mut graph = sketch.finish(&[y, sum]);
        assert!(!fuse_activation(&mut graph));
    }

    #[test]
    fn another_scale_stays() {
        for (t, y) in [((0.1, 0), (0.2, 0)), ((0.1, 0), (0.1, 1))] {
            let mut sketch = Sketch::new();
            let x = sketch.input("x", i8_type([2], 0.1, 0));
            let sum = sketch.typed("sum", Add::default(), &[x, x], i8_type([2], t.0, t.1));
            let y = sketch.typed("y", Relu::default(), &[sum], i8_type([2], y.0, y.1));
            let mut graph = sketch.finish(&[y]);
            assert!(!fuse_activation(&mut graph));
        }
    }

    #[test]
    fn integers_that_are_compared_stay_as_they_are() {
        let quantized = || i8_type([3], 0.05, -3);
        let mut sketch = Sketch::new();
        let x = sketch.input("x", quantized());
        let lesser = Binary { function: BinaryFunction::Minimum, activation: Activation::None };
        let lesser = sketch.typed("lesser", lesser, &[x, x], quantized());
        let y = sketch.typed("y", Relu::default(), &[lesser], quantized());
        let compiled = compile(sketch.finish(&[y]), &Config::default()).unwrap();
        let results = Evaluator::new(&compiled).run(&[&[0x80, 0xfd, 5]]).unwrap();
        assert_eq!(results, [[0xfd, 0xfd, 5]]);
    }

    #[test]
    fn int8_results_are_equal_in_every_bit() {
        let quantized = || i8_type([256], 0.05, -3);
        for activation in [Activation::Relu, Activation::Relu6, Activation::ReluN1To1] {
            let mut sketch = Sketch::new();
            let x = sketch.input("x", i8_type([256], 0.07, 11));
            let sum = sketch.typed("sum", Add::default(), &[x, x], quantized());
            let y = sketch.typed("y", Relu { activation }, &[sum], quantized());
            let apart = sketch.finish(&[y]);
            let mut fused = apart.clone();
            assert!(fuse_activation(&mut fused));
            let x: Vec<u8> = (0..=255).collect();
            let [apart, fused] = [apart, fused].map(|graph| {
                let compiled = compile_as_is(&graph, &Config::default()).unwrap();
                (compiled.program.steps.len(), Evaluator::new(&compiled).run(&[&x]).unwrap())
            });
            assert_eq!((apart.0, fused.0), (2, 1));
            assert_eq!(apart.1, fused.1, "{activation:?}");
        }
    }
}
