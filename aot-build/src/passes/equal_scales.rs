//! Gives operands of a concatenation the scale of the result.
//!
//! ```text
//! a ──────┐                       a ──────────────┐
//!         concatenation ── y  =>                  concatenation ── y
//! b ──────┘                       b ── quantize ──┘      for b of another scale
//! ```
//!
//! A concatenation moves integers, which must mean the same before and after. The change
//! of scale is a table, and can write straight into its part of the result.

use crate::graph::{Graph, Node, Tensor, TensorId, TensorType};
use crate::ops::{Op, Quantize};

/// Inserts the missing changes of scale: one for each operand.
pub(super) fn equal_scales(graph: &mut Graph) {
    let mut nodes = Vec::with_capacity(graph.nodes.len());
    for mut node in std::mem::take(&mut graph.nodes) {
        if let (Op::Concatenation(_) | Op::Pack(_), &[y]) = (&node.op, &*node.outputs) {
            let mut inputs = std::mem::take(&mut node.inputs);
            for x in inputs.iter_mut().flatten() {
                if let Some(quantize) = change_of_scale(graph, *x, y, node.index) {
                    *x = quantize.outputs[0];
                    nodes.push(quantize);
                }
            }
            node.inputs = inputs;
        }
        nodes.push(node);
    }
    graph.nodes = nodes;
}

/// The node that gives `x` the scale and zero point of `y`, where they differ.
fn change_of_scale(graph: &mut Graph, x: TensorId, y: TensorId, index: usize) -> Option<Node> {
    let (from, to) = (&graph.tensor(x).ty.quantization, &graph.tensor(y).ty.quantization);
    if from == to || from.is_none() || to.is_none() {
        return None;
    }
    let Tensor { name, ty, .. } = graph.tensor(x);
    let ty = TensorType { quantization: to.clone(), ..ty.clone() };
    let (name, op) = (format!("{name} as {}", graph.tensor(y).name), Quantize { dtype: ty.dtype }.into());
    graph.tensors.push(Tensor { name: name.clone(), ty, data: None });
    let outputs = vec![TensorId(graph.tensors.len() - 1)];
    Some(Node { name, index, op, inputs: vec![Some(x)], outputs })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Evaluator;
    use crate::graph::sketch::{Sketch, i8_type};
    use crate::ops::Concatenation;
    use crate::{Config, compile};

    #[test]
    fn an_operand_of_another_scale() {
        let mut sketch = Sketch::new();
        let a = sketch.input("a", i8_type([2], 0.5, 0));
        let b = sketch.input("b", i8_type([2], 0.25, 10));
        let y = sketch.typed("y", Concatenation { axis: 0 }, &[a, b], i8_type([4], 0.5, 0));
        let mut graph = sketch.finish(&[y]);
        equal_scales(&mut graph);
        assert_eq!(
            graph.to_string(),
            "input a: i8 [2] scale 0.5 zero 0\n\
             input b: i8 [2] scale 0.25 zero 10\n\
             b as y: i8 [2] scale 0.5 zero 0 = Quantize { dtype: I8 } (b)\n\
             y: i8 [4] scale 0.5 zero 0 = Concatenation { axis: 0 } (a, b as y)\n\
             output y\n"
        );
        let compiled = compile(graph, &Config::default()).unwrap();
        // The table writes into the result.
        assert_eq!(compiled.program.buffers.len(), 3);
        let results = Evaluator::new(&compiled).run(&[&[1, 2], &[10, 16]]).unwrap();
        assert_eq!(results, [[1, 2, 0, 3]]);
    }
}
