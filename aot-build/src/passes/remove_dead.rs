//! Removes nodes whose results nobody reads, and tensors that no node names.
//!
//! ```text
//! x ──┬── add ── y (output)            x ── add ── y (output)
//!     └── relu ── t              =>
//! constant that no node reads
//! ```
//!
//! Saves the work, and the flash of constants that other passes have folded away.

use crate::graph::{Graph, TensorId};

/// Removes them; gives whether there were any. Inputs and states of the graph stay, read
/// or not.
pub(super) fn remove_dead(graph: &mut Graph) -> bool {
    let (nodes, tensors) = (graph.nodes.len(), graph.tensors.len());
    let mut read = vec![false; tensors];
    let states = graph.states.iter().flat_map(|state| [state.before, state.after, state.initial]);
    for id in graph.inputs.iter().chain(&graph.outputs).chain(&graph.kept).copied().chain(states) {
        read[id.0] = true;
    }
    // From the end, so that what only dead nodes read is dead, too.
    let mut live = Vec::with_capacity(nodes);
    for node in std::mem::take(&mut graph.nodes).into_iter().rev() {
        if node.outputs.iter().any(|id| read[id.0]) {
            node.inputs.iter().flatten().for_each(|id| read[id.0] = true);
            live.push(node);
        }
    }
    live.reverse();
    graph.nodes = live;
    // A result that nobody reads stays when the node's other results are read.
    for id in graph.nodes.iter().flat_map(|node| &node.outputs) {
        read[id.0] = true;
    }
    keep_tensors(graph, &read);
    (graph.nodes.len(), graph.tensors.len()) != (nodes, tensors)
}

/// Removes the tensors that are not kept, and counts the others anew.
fn keep_tensors(graph: &mut Graph, keep: &[bool]) {
    let mut new_ids = Vec::with_capacity(keep.len());
    let mut next = 0;
    for &keep in keep {
        new_ids.push(TensorId(next));
        next += usize::from(keep);
    }
    let mut kept = keep.iter();
    graph.tensors.retain(|_| kept.next().is_some_and(|keep| *keep));
    let renumber = |id: &mut TensorId| *id = new_ids[id.0];
    graph.inputs.iter_mut().chain(&mut graph.outputs).chain(&mut graph.kept).for_each(renumber);
    for state in &mut graph.states {
        [&mut state.before, &mut state.after, &mut state.initial].into_iter().for_each(renumber);
    }
    for node in &mut graph.nodes {
        node.inputs.iter_mut().flatten().chain(&mut node.outputs).for_each(renumber);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Data;
    use crate::graph::sketch::{Sketch, f32_type};
    use crate::ops::{Add, Relu};

    #[test]
    fn a_chain_that_ends_nowhere() {
        let mut sketch = Sketch::new();
        sketch.constant("unused", f32_type([1]), Data::from_f32s(&[1.0]));
        let x = sketch.input("x", f32_type([2]));
        let c = sketch.constant("c", f32_type([1]), Data::from_f32s(&[1.0]));
        let t = sketch.node("t", Relu::default(), &[x]);
        sketch.node("u", Add::default(), &[t, c]);
        let y = sketch.node("y", Relu::default(), &[x]);
        let mut graph = sketch.finish(&[y]);
        assert!(remove_dead(&mut graph));
        let after = "input x: f32 [2]\n\
                     y: f32 [2] = Relu { activation: Relu } (x)\n\
                     output y\n";
        assert_eq!(graph.to_string(), after);
        assert!(!remove_dead(&mut graph));
        assert_eq!(graph.to_string(), after);
    }

    #[test]
    fn inputs_and_outputs_stay() {
        let mut sketch = Sketch::new();
        sketch.input("unread", f32_type([2]));
        let c = sketch.constant("c", f32_type([1]), Data::from_f32s(&[1.0]));
        let mut graph = sketch.finish(&[c]);
        assert!(!remove_dead(&mut graph));
        assert_eq!(graph.to_string(), "input unread: f32 [2]\nconstant c: f32 [1]\noutput c\n");
    }
}
