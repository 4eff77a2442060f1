//! Computes what depends on constants alone.
//!
//! ```text
//! constant ── reshape ── t ── add ── y    =>    constant t ── add ── y
//!                              x ──┘                           x ──┘
//! ```
//!
//! The evaluator computes it with the kernels that the target would run. Saves the
//! steps, at the price of flash where a result is larger than what it is made of; so
//! results that are much larger stay computed.

use crate::Config;
use crate::compile::compile_as_is;
use crate::eval::Evaluator;
use crate::graph::{Data, Graph, Node};

/// A result may have so many bytes, and [`MAX_GROWTH`] times those of the operands.
const MAX_EXTRA_BYTES: usize = 4096;
/// See [`MAX_EXTRA_BYTES`].
const MAX_GROWTH: usize = 16;
/// Most multiply-accumulates that the compiler spends on a node.
const MAX_MACS: u64 = 1 << 32;

/// Computes every such node; gives whether there was any.
pub(super) fn fold_constants(graph: &mut Graph, config: &Config) -> bool {
    let nodes = graph.nodes.len();
    let mut kept = Vec::with_capacity(nodes);
    for node in std::mem::take(&mut graph.nodes) {
        match evaluate(graph, &node, config) {
            Some(results) => {
                for (id, bytes) in node.outputs.iter().zip(results) {
                    graph.tensors[id.0].data = Some(Data::from_bytes(bytes));
                }
            }
            None => kept.push(node),
        }
    }
    graph.nodes = kept;
    graph.nodes.len() != nodes
}

/// The results of `node`, when all operands are constants. `None` as well when it cannot
/// be lowered: lowering the whole graph says why.
fn evaluate(graph: &Graph, node: &Node, config: &Config) -> Option<Vec<Vec<u8>>> {
    let bytes = |id: &_| graph.tensor(*id).ty.bytes();
    if node.inputs.iter().flatten().any(|id| graph.tensor(*id).data.is_none()) {
        return None;
    }
    let operands: usize = node.inputs.iter().flatten().map(bytes).sum();
    let results: usize = node.outputs.iter().map(bytes).sum();
    if results > operands.saturating_mul(MAX_GROWTH).saturating_add(MAX_EXTRA_BYTES) {
        return None;
    }
    let alone = Graph {
        tensors: graph.tensors.clone(),
        nodes: vec![node.clone()],
        outputs: node.outputs.clone(),
        ..Graph::default()
    };
    let config = Config { rounding: config.rounding, ..Config::default() };
    let compiled = compile_as_is(&alone, &config).ok()?;
    if compiled.program.macs() > MAX_MACS {
        return None;
    }
    Evaluator::new(&compiled).run(&[]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::sketch::{Sketch, f32_type, i8_type};
    use crate::ops::{Add, Dequantize, Pad, Relu};

    #[test]
    fn a_chain_of_constants() {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", f32_type([3]));
        let c = sketch.constant("c", i8_type([3], 0.5, 1), Data::from_i8s(&[-3, 1, 5]));
        let real = sketch.node("real", Dequantize {}, &[c]);
        let positive = sketch.node("positive", Relu::default(), &[real]);
        let y = sketch.node("y", Add::default(), &[x, positive]);
        let mut graph = sketch.finish(&[y, real]);
        assert!(fold_constants(&mut graph, &Config::default()));
        assert_eq!(
            graph.to_string(),
            "input x: f32 [3]\n\
             constant c: i8 [3] scale 0.5 zero 1\n\
             constant real: f32 [3]\n\
             constant positive: f32 [3]\n\
             y: f32 [3] = Add { activation: None } (x, positive)\n\
             output y, real\n"
        );
        for (id, expect) in [(real, [-2.0, 0.0, 2.0]), (positive, [0.0, 0.0, 2.0])] {
            assert_eq!(graph.tensor(id).data, Some(Data::from_f32s(&expect)));
        }
        assert!(!fold_constants(&mut graph, &Config::default()));
    }

    #[test]
    fn a_result_that_is_much_larger_stays_computed() {
        for (border, folded) in [(1000, true), (2000, false)] {
            let mut sketch = Sketch::new();
            let c = sketch.constant("c", f32_type([1]), Data::from_f32s(&[1.0]));
            let y = sketch.node("y", Pad { padding: vec![[border, 0]] }, &[c]);
            let mut graph = sketch.finish(&[y]);
            assert_eq!(fold_constants(&mut graph, &Config::default()), folded);
        }
    }

    #[test]
    fn what_cannot_be_lowered_is_left() {
        let mut sketch = Sketch::new();
        let c = sketch.constant("c", i8_type([1], 0.5, 0), Data::from_i8s(&[1]));
        let y = sketch.typed("y", Pad { padding: vec![[1, 0]] }, &[c], i8_type([2], 0.25, 0));
        let mut graph = sketch.finish(&[y]);
        assert!(!fold_constants(&mut graph, &Config::default()));
    }
}
