//! Decides which tensors are made inside others.
//!
//! ```text
//! a ── conv2d ── t ──┐
//!                    concatenation ── y      t and u are the two halves of y's buffer:
//! b ── conv2d ── u ──┘                       nothing is left to copy
//! ```
//!
//! It only says where a tensor is to be made. The concatenation copies what is not there:
//! inputs, constants, an operand's second time, views of other tensors.

use crate::Config;
use crate::config::Placement;
use crate::graph::{Graph, TensorId};

/// Where a tensor is made: in the buffer of `whole`, from element `first` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) whole: TensorId,
    pub(super) first: usize,
}

/// For each tensor, what it is made inside of. That is no part of another.
pub(super) fn parts(graph: &Graph, config: &Config) -> Vec<Option<Part>> {
    let mut parts = Parts {
        elements: Elements::of(graph),
        caller_outputs: vec![false; graph.tensors.len()],
        parts: vec![None; graph.tensors.len()],
    };
    if config.outputs == Placement::Caller {
        for id in &graph.outputs {
            parts.caller_outputs[id.0] = true;
        }
        for id in &graph.outputs {
            parts.put(*id, Part { whole: *id, first: 0 });
        }
    }
    // From the end: what a concatenation is a part of is known before its operands.
    for node in graph.nodes.iter().rev() {
        let (operands, &[y]) = (graph.operands(node), &*node.outputs) else { continue };
        for (i, id) in node.inputs.iter().enumerate() {
            if let (Some(id), Some(first)) = (id, node.op.part(i, &operands)) {
                parts.put(*id, Part { whole: y, first });
            }
        }
    }
    parts.parts
}

struct Parts {
    elements: Elements,
    /// Tensors that have to be the caller's arrays.
    caller_outputs: Vec<bool>,
    parts: Vec<Option<Part>>,
}

impl Parts {
    /// Has the elements of a tensor made at `part`, if they can be made there.
    fn put(&mut self, id: TensorId, part: Part) {
        let TensorId(source) = self.elements.source[id.0];
        let Part { whole, first } = match self.parts[part.whole.0] {
            Some(outer) => Part { whole: outer.whole, first: outer.first + part.first },
            None => part,
        };
        let free = self.elements.made[source] && self.parts[source].is_none();
        if !free || source == whole.0 || self.caller_outputs[source] {
            return;
        }
        // No step can borrow two parts of a caller's array: nobody may read one of them to
        // make another.
        // Nor may steps within a region, which makes several results.
        let shared = self.elements.readers[source] > 1 || self.elements.by_regions[source];
        if self.caller_outputs[whole.0] && whole != id && shared {
            return;
        }
        self.parts[source] = Some(Part { whole, first });
    }
}

/// Which tensors are the same elements.
struct Elements {
    /// For each tensor, the one whose elements it has, all of them, through views; or itself.
    source: Vec<TensorId>,
    /// Whether steps write the tensor: it is no input, no constant, and no view.
    made: Vec<bool>,
    /// Whether the steps of a region write the tensor.
    by_regions: Vec<bool>,
    /// For each source, how often its elements are read, under whatever name.
    readers: Vec<usize>,
}

impl Elements {
    fn of(graph: &Graph) -> Self {
        let tensors = graph.tensors.len();
        let source = (0..tensors).map(TensorId).collect();
        let mut elements = Self {
            source,
            made: vec![false; tensors],
            by_regions: vec![false; tensors],
            readers: vec![0; tensors],
        };
        for node in &graph.nodes {
            let operands = graph.operands(node);
            let mut reads = false;
            for (i, &y) in node.outputs.iter().enumerate() {
                let view = node.op.view(i, &operands);
                let x = view.and_then(|view| node.inputs.get(view.operand).copied().flatten());
                let renamed = x.filter(|x| graph.tensor(*x).ty.bytes() == graph.tensor(y).ty.bytes());
                match renamed {
                    Some(x) => elements.source[y.0] = elements.source[x.0],
                    None => reads = true,
                }
                elements.made[y.0] = view.is_none();
                elements.by_regions[y.0] = !node.op.regions().is_empty();
            }
            if reads {
                for id in node.inputs.iter().flatten() {
                    elements.readers[elements.source[id.0].0] += 1;
                }
            }
        }
        elements
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Placement;
    use crate::graph::sketch::{Sketch, f32_type};
    use crate::ops::{Add, Concatenation, Relu, Reshape, Split};
    use crate::program::{Program, lower};

    /// For each buffer, its name and bytes; then the views, with the first byte; then the
    /// steps.
    fn memory(program: &Program) -> String {
        let buffers = program.buffers.iter().map(|buffer| format!("{} {}", buffer.name, buffer.bytes));
        let name = |alias: &crate::program::Alias| program.buffer(alias.view.buffer).name.clone();
        let views = program.aliases.iter();
        let views = views.map(|alias| format!("{} at {} {}", alias.name, name(alias), alias.view.offset));
        let steps = program.steps.iter().map(|step| step.name.clone());
        [buffers.collect::<Vec<_>>(), views.collect(), steps.collect()].map(|list| list.join(", ")).join("; ")
    }

    fn lowered(graph: &Graph, outputs: Placement) -> String {
        memory(&lower(graph, &Config { outputs, ..Config::default() }).unwrap())
    }

    fn concatenation() -> Concatenation {
        Concatenation { axis: 0 }
    }

    #[test]
    fn operands_are_made_inside_the_result() {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", f32_type([2]));
        let t = sketch.node("t", Relu::default(), &[x]);
        let flat = sketch.node("flat", Reshape { shape: f32_type([1, 2]).shape }, &[t]);
        let u = sketch.node("u", Add::default(), &[flat, flat]);
        let inner = sketch.node("inner", concatenation(), &[flat, u]);
        let y = sketch.node("y", concatenation(), &[u, inner]);
        let graph = sketch.finish(&[y]);
        // u is wanted twice: the outer concatenation has it, the inner one gets a copy.
        let expect = "x 8, y 24; t at y 8, flat at y 8, u at y 0, inner at y 8; \
                      relu_0, add_1, concatenation_2";
        assert_eq!(lowered(&graph, Placement::Workspace), expect);
        // A step cannot read one part of the caller's array and write another.
        let expect = "x 8, t 8, u 8, y 24; flat at t 0, inner at y 8; \
                      relu_0, add_1, concatenation_2, concatenation_3, concatenation_4";
        assert_eq!(lowered(&graph, Placement::Caller), expect);
    }

    #[test]
    fn what_is_elsewhere_is_copied() {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", f32_type([2]));
        let t = sketch.node("t", Relu::default(), &[x]);
        let halves = sketch.nodes(&["a", "b"], Split { axis: 0, sizes: vec![1, 1] }, &[t]);
        let u = sketch.node("u", Relu::default(), &[t]);
        let y = sketch.node("y", concatenation(), &[halves[1], u, x, u, halves[0]]);
        let graph = sketch.finish(&[y]);
        let expect = "x 8, t 8, y 32; a at t 0, b at t 4, u at y 4; relu_0, relu_1, \
                      concatenation_2, concatenation_3, concatenation_4, concatenation_5";
        assert_eq!(lowered(&graph, Placement::Workspace), expect);
    }

    #[test]
    fn outputs() {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", f32_type([2]));
        let t = sketch.node("t", Relu::default(), &[x]);
        let u = sketch.node("u", Relu::default(), &[x]);
        let v = sketch.node("v", Relu::default(), &[x]);
        let y = sketch.node("y", concatenation(), &[t, u]);
        let flat = sketch.node("flat", Reshape { shape: f32_type([2, 1]).shape }, &[v]);
        let graph = sketch.finish(&[t, y, flat]);
        let expect = "x 8, y 16, v 8; t at y 0, u at y 8, flat at v 0; relu_0, relu_1, relu_2";
        assert_eq!(lowered(&graph, Placement::Workspace), expect);
        let expect = "x 8, t 8, y 16, flat 8; u at y 8, v at flat 0; \
                      relu_0, relu_1, relu_2, concatenation_3";
        assert_eq!(lowered(&graph, Placement::Caller), expect);
    }
}
