//! Lets a convolution pad its own image.
//!
//! ```text
//! x ── pad(top, bottom, left, right) ── t ── conv2d ── y
//!     =>    x ── conv2d(explicit: top, bottom, left, right) ── y
//! ```
//!
//! Saves the padded copy `t`, often the largest tensor of a model, and the step. Both
//! operators add zeros, the zero point in int8; all readers of `t` must be convolutions,
//! since `x` would stay alive with `t` otherwise.

use crate::graph::{Graph, Node, TensorId};
use crate::ops::{Op, Padding2d};

/// Folds every such padding; gives whether there was any.
pub(super) fn fold_pad(graph: &mut Graph) -> bool {
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); graph.tensors.len()];
    for (i, node) in graph.nodes.iter().enumerate() {
        for id in node.inputs.iter().flatten() {
            readers[id.0].push(i);
        }
    }
    let mut changed = false;
    for i in 0..graph.nodes.len() {
        let Some((x, cells, t)) = zeros_around_image(graph, &graph.nodes[i]) else { continue };
        if readers[t.0].is_empty() || graph.results().any(|result| result == t) {
            continue;
        }
        let padded = readers[t.0].iter().map(|&reader| padded(graph, &graph.nodes[reader], x, cells));
        let Some(padded) = padded.collect::<Option<Vec<_>>>() else { continue };
        for (&reader, op) in readers[t.0].iter().zip(padded) {
            graph.nodes[reader].op = op;
            graph.nodes[reader].inputs[0] = Some(x);
        }
        changed = true;
    }
    changed
}

/// Operand, cells (top, bottom, left, right) and result of a node that pads images with
/// zeros.
fn zeros_around_image(graph: &Graph, node: &Node) -> Option<(TensorId, [usize; 4], TensorId)> {
    let Op::Pad(pad) = &node.op else { return None };
    let (&[Some(x)], &[t]) = (&*node.inputs, &*node.outputs) else { return None };
    let &[[0, 0], [top, bottom], [left, right], [0, 0]] = &*pad.padding else { return None };
    // Lowering refuses a pad between other scales; the refusal must not get lost.
    let same_scale = graph.tensor(x).ty.quantization == graph.tensor(t).ty.quantization;
    let zeros = pad.adds_zeros(graph.tensor(x));
    (same_scale && zeros).then_some((x, [top, bottom, left, right], t))
}

/// The operator of a convolution that pads its own image `x`; `None` for other nodes, and
/// where it cannot pad so far.
fn padded(graph: &Graph, node: &Node, x: TensorId, cells: [usize; 4]) -> Option<Op> {
    let mut op = node.op.clone();
    let padding: &mut Padding2d = match &mut op {
        Op::Conv2d(op) => &mut op.padding,
        Op::DepthwiseConv2d(op) => &mut op.padding,
        _ => return None,
    };
    *padding = padding.grown(cells)?;
    // Inference knows what it takes, and must give what the padded copy gave.
    let mut operands = graph.operands(node);
    operands[0] = Some(graph.tensor(x));
    let inferred = op.infer(&operands).ok()?;
    let y = &graph.tensor(node.outputs[0]).ty;
    (inferred.len() == 1 && inferred[0].shape == y.shape).then_some(op)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::compile::compile_as_is;
    use crate::eval::Evaluator;
    use crate::graph::Data;
    use crate::graph::sketch::{Sketch, f32_type, i8_type};
    use crate::ops::{Conv2d, DepthwiseConv2d, Pad, Relu};

    fn pad(top: usize, bottom: usize, left: usize, right: usize) -> Pad {
        Pad { padding: vec![[0, 0], [top, bottom], [left, right], [0, 0]], ..Pad::default() }
    }

    #[test]
    fn a_convolution_that_pads_itself() {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", f32_type([1, 4, 4, 1]));
        let w = sketch.constant("w", f32_type([1, 3, 3, 1]), Data::from_f32s(&[1.0; 9]));
        let t = sketch.node("t", pad(0, 1, 2, 1), &[x]);
        let y = sketch.node("y", Conv2d { stride: [2; 2], ..Conv2d::default() }, &[t, w]);
        let padding = Padding2d::Explicit([1, 0, 0, 1]);
        let z = sketch.node("z", DepthwiseConv2d { padding, ..DepthwiseConv2d::default() }, &[t, w]);
        let mut graph = sketch.finish(&[y, z]);
        assert!(fold_pad(&mut graph));
        assert!(!fold_pad(&mut graph));
        let ops: Vec<_> = graph.nodes[1..].iter().map(|node| (&node.op, node.inputs[0])).collect();
        let conv = Conv2d { stride: [2; 2], padding: Padding2d::Explicit([0, 1, 2, 1]), ..Conv2d::default() };
        let depthwise =
            DepthwiseConv2d { padding: Padding2d::Explicit([1, 1, 2, 2]), ..DepthwiseConv2d::default() };
        assert_eq!(ops, [(&Op::from(conv), Some(x)), (&depthwise.into(), Some(x))]);
    }

    #[test]
    fn paddings_that_stay() {
        let zeros = |top| Pad { padding: vec![[0, 0], [top, 0], [0, 0], [0, 0]], ..Pad::default() };
        let channels = Pad { padding: vec![[0, 0], [0, 0], [0, 0], [0, 1]], ..Pad::default() };
        let ones = Pad { value: Some(1.0), ..zeros(1) };
        let same = Conv2d { padding: Padding2d::Same, ..Conv2d::default() };
        for (name, pad, conv, read, output) in [
            ("another reader", zeros(1), Conv2d::default(), true, false),
            ("an output", zeros(1), Conv2d::default(), false, true),
            ("the whole window is outside", zeros(3), Conv2d::default(), false, false),
            ("other axes", channels, Conv2d::default(), false, false),
            ("another value", ones, Conv2d::default(), false, false),
            ("cells that the convolution counts itself", zeros(1), same, false, false),
        ] {
            let mut sketch = Sketch::new();
            let x = sketch.input("x", f32_type([1, 4, 4, 1]));
            let t = sketch.node("t", pad, &[x]);
            let depth = if name == "other axes" { 2 } else { 1 };
            let w = Data::from_f32s(&vec![1.0; 9 * depth]);
            let w = sketch.constant("w", f32_type([1, 3, 3, depth]), w);
            let mut outputs = vec![sketch.node("y", conv, &[t, w])];
            if read {
                outputs.push(sketch.node("z", Relu::default(), &[t]));
            }
            if output {
                outputs.push(t);
            }
            assert!(!fold_pad(&mut sketch.finish(&outputs)), "{name}");
        }
    }

    #[test]
    fn int8_results_are_equal_in_every_bit() {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", i8_type([1, 3, 3, 1], 0.1, -7));
        let w = Data::from_i8s(&[1, -2, 3, -4, 5, -6, 7, -8, 9]);
        let w = sketch.constant("w", i8_type([1, 3, 3, 1], 0.02, 0), w);
        let t = sketch.typed("t", pad(2, 1, 1, 2), &[x], i8_type([1, 6, 6, 1], 0.1, -7));
        let y = sketch.typed("y", Conv2d::default(), &[t, w], i8_type([1, 4, 4, 1], 0.3, 5));
        let apart = sketch.finish(&[y]);
        let mut folded = apart.clone();
        assert!(fold_pad(&mut folded));
        super::super::remove_dead::remove_dead(&mut folded);
        let x: Vec<u8> = (0..9).map(|i| i * 27).collect();
        let [apart, folded] = [apart, folded].map(|graph| {
            let compiled = compile_as_is(&graph, &Config::default()).unwrap();
            (compiled.program.steps.len(), Evaluator::new(&compiled).run(&[&x]).unwrap())
        });
        assert_eq!((apart.0, folded.0), (2, 1));
        assert_eq!(apart.1, folded.1);
    }
}
