//! Computes what depends on constants alone.
//!
//! ```text
//! constant ── reshape ── t ── add ── y    =>    constant t ── add ── y
//!                              x ──┘                           x ──┘
//! ```
//!
//! The evaluator computes it with the kernels that the target would run. Saves the
//! steps, at the price of flash where a result is larger than what it is made of; so
//! results that are much larger stay computed. So do those that take the compiler long:
//! all of a model share one [`Budget`].

use crate::Config;
use crate::compile::compile_as_is;
use crate::eval::Evaluator;
use crate::graph::{Data, Graph, Node, TensorId};

/// A result may have so many bytes, and [`MAX_GROWTH`] times those of the operands.
const MAX_EXTRA_BYTES: usize = 4096;
/// See [`MAX_EXTRA_BYTES`].
const MAX_GROWTH: usize = 16;

/// What the compiler may still spend on folding: elements that it looks at, and
/// multiply-accumulates. Counted, not timed, so that every machine folds the same.
#[derive(Debug)]
pub(crate) struct Budget(u64);

impl Default for Budget {
    /// Some seconds where cargo builds procedural macros without optimisation.
    fn default() -> Self {
        Self(1 << 28)
    }
}

#[cfg(feature = "tflite")]
impl Budget {
    /// Takes what the work on `elements` needs away.
    ///
    /// # Errors
    ///
    /// When not so much is left.
    pub(crate) fn spend(&mut self, elements: usize) -> Result<(), String> {
        let left = self.0.checked_sub(elements as u64);
        self.0 = left.ok_or("the constants that follow from others are too many to be computed")?;
        Ok(())
    }
}

/// Computes every such node; gives whether there was any.
pub(super) fn fold_constants(graph: &mut Graph, config: &Config, budget: &mut Budget) -> bool {
    let nodes = graph.nodes.len();
    let mut kept = Vec::with_capacity(nodes);
    for node in std::mem::take(&mut graph.nodes) {
        match evaluate(graph, &node, config, budget) {
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
pub(crate) fn evaluate(
    graph: &Graph,
    node: &Node,
    config: &Config,
    budget: &mut Budget,
) -> Option<Vec<Vec<u8>>> {
    let bytes = |id: &_| graph.tensor(*id).ty.bytes();
    if node.inputs.iter().flatten().any(|id| graph.tensor(*id).data.is_none()) {
        return None;
    }
    // Of these, the budget does not know how long they take.
    if !node.op.regions().is_empty() {
        return None;
    }
    let operands: usize = node.inputs.iter().flatten().map(bytes).sum();
    let results: usize = node.outputs.iter().map(bytes).sum();
    if results > operands.saturating_mul(MAX_GROWTH).saturating_add(MAX_EXTRA_BYTES) {
        return None;
    }
    let looked_at = (results as u64).saturating_mul(node.op.cells()).saturating_add(operands as u64);
    let config = Config { rounding: config.rounding, ..Config::default() };
    let left = budget.0.checked_sub(looked_at)?;
    let compiled = compile_as_is(&alone(graph, node), &config).ok()?;
    budget.0 = left.checked_sub(compiled.program.macs())?;
    Evaluator::new(&compiled).run(&[]).ok()
}

/// The graph of one node. Only its own tensors are in it: there may be a million others.
fn alone(graph: &Graph, node: &Node) -> Graph {
    let mut alone = Graph::default();
    let mut take = |id: &mut TensorId| {
        alone.tensors.push(graph.tensor(*id).clone());
        *id = TensorId(alone.tensors.len() - 1);
    };
    let mut node = node.clone();
    node.inputs.iter_mut().flatten().chain(&mut node.outputs).for_each(&mut take);
    alone.outputs.clone_from(&node.outputs);
    alone.nodes.push(node);
    alone
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::sketch::{Sketch, f32_type, i8_type};
    use crate::ops::{Activation, Add, AveragePool2d, Dequantize, Pad, Padding2d, Relu};

    #[test]
    fn a_chain_of_constants() {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", f32_type([3]));
        let c = sketch.constant("c", i8_type([3], 0.5, 1), Data::from_i8s(&[-3, 1, 5]));
        let real = sketch.node("real", Dequantize {}, &[c]);
        let positive = sketch.node("positive", Relu::default(), &[real]);
        let y = sketch.node("y", Add::default(), &[x, positive]);
        let mut graph = sketch.finish(&[y, real]);
        assert!(fold_constants(&mut graph, &Config::default(), &mut Budget::default()));
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
        assert!(!fold_constants(&mut graph, &Config::default(), &mut Budget::default()));
    }

    #[test]
    fn a_result_that_is_much_larger_stays_computed() {
        for (border, folded) in [(1000, true), (2000, false)] {
            let mut sketch = Sketch::new();
            let c = sketch.constant("c", f32_type([1]), Data::from_f32s(&[1.0]));
            let y = sketch.node("y", Pad { padding: vec![[border, 0]], value: None }, &[c]);
            let mut graph = sketch.finish(&[y]);
            assert_eq!(fold_constants(&mut graph, &Config::default(), &mut Budget::default()), folded);
        }
    }

    #[test]
    fn what_cannot_be_lowered_is_left() {
        let mut sketch = Sketch::new();
        let c = sketch.constant("c", i8_type([1], 0.5, 0), Data::from_i8s(&[1]));
        let y = sketch.typed("y", Pad { padding: vec![[1, 0]], value: None }, &[c], i8_type([2], 0.25, 0));
        let mut graph = sketch.finish(&[y]);
        assert!(!fold_constants(&mut graph, &Config::default(), &mut Budget::default()));
    }

    #[test]
    fn what_takes_long_is_left() {
        for (size, folded) in [(16, true), (512, false)] {
            let mut sketch = Sketch::new();
            let zeros = vec![0.0; size * size];
            let c = sketch.constant("c", f32_type([1, size, size, 1]), Data::from_f32s(&zeros));
            let pool = AveragePool2d {
                window: [size; 2],
                stride: [1; 2],
                padding: Padding2d::Same,
                activation: Activation::None,
            };
            let y = sketch.node("y", pool, &[c]);
            let mut graph = sketch.finish(&[y]);
            assert_eq!(fold_constants(&mut graph, &Config::default(), &mut Budget::default()), folded);
        }
    }

    /// The price of a node does not depend on how many others there are.
    #[test]
    fn many_constants_are_folded_one_by_one() {
        let mut sketch = Sketch::new();
        let mut results = Vec::new();
        for i in 0..20_000 {
            let c = sketch.constant(&format!("c{i}"), f32_type([1]), Data::from_f32s(&[-1.0]));
            results.push(sketch.node(&format!("y{i}"), Relu::default(), &[c]));
        }
        let mut graph = sketch.finish(&results[..1]);
        assert!(fold_constants(&mut graph, &Config::default(), &mut Budget::default()));
        assert!(graph.nodes.is_empty());
    }
}
