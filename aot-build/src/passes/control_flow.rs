//! Takes control flow away that decides nothing, and lets regions see constants.
//!
//! ```text
//! true ── if ── y         =>    x ── the nodes of the first branch ── y
//! x ──────┘
//!
//! weights ── while ── y   =>    x ── while ── y    weights are a constant of its regions
//! x ─────────┘
//! ```
//!
//! A loop is not run by the compiler, even where all that it reads is constant: nothing says
//! how long it takes.

use crate::graph::{Data, Graph, Node, Tensor, TensorId};
use crate::ops::{If, Op, Region, Reshape, While};

/// Does so wherever possible; gives whether it was.
pub(super) fn control_flow(graph: &mut Graph) -> bool {
    let mut changed = false;
    let mut nodes = std::mem::take(&mut graph.nodes);
    for mut node in nodes.drain(..) {
        changed |= share_constants(graph, &mut node);
        let Some(branch) = decided(graph, &node) else {
            graph.nodes.push(node);
            continue;
        };
        let operands: Vec<_> = node.inputs[1..].iter().copied().flatten().collect();
        let results = graph.inline(&branch, &operands, node.index);
        for (x, y) in results.into_iter().zip(&node.outputs) {
            graph.nodes.push(renamed(graph, &node, x, *y));
        }
        changed = true;
    }
    changed
}

/// The branch that a node always runs, if it does so.
fn decided(graph: &Graph, node: &Node) -> Option<Region> {
    let Op::If(If { regions: [then, otherwise] }) = &node.op else { return None };
    let condition = graph.tensor(node.inputs.first().copied().flatten()?).data.as_ref()?;
    let branch = if condition.bytes() == [0] { otherwise } else { then };
    // Lowering refuses others; the refusal must not get lost.
    let types = branch.outputs.iter().map(|id| &branch.tensor(*id).ty);
    types.eq(node.outputs.iter().map(|id| &graph.tensor(*id).ty)).then(|| branch.clone())
}

/// The node that makes `y` of `x`, as it is.
fn renamed(graph: &Graph, node: &Node, x: TensorId, y: TensorId) -> Node {
    let Tensor { name, ty, .. } = graph.tensor(y);
    let op = Reshape { shape: ty.shape.clone() }.into();
    Node { name: name.clone(), index: node.index, op, inputs: vec![Some(x)], outputs: vec![y] }
}

/// Makes constants of a region's inputs that are always the same; gives whether there was
/// any.
fn share_constants(graph: &mut Graph, node: &mut Node) -> bool {
    let constant = |id: &Option<TensorId>| id.and_then(|id| graph.tensor(id).data.clone());
    let constants: Vec<_> = node.inputs.iter().map(constant).collect();
    match &mut node.op {
        Op::If(op) => {
            let given = constants.get(1..).unwrap_or_default();
            op.regions.iter_mut().for_each(|region| fill_inputs(region, given));
            let mut kept = std::iter::once(true).chain(given.iter().map(Option::is_none));
            node.inputs.retain(|_| kept.next() != Some(false));
            given.iter().any(Option::is_some)
        }
        Op::While(op) => share_invariants(graph, op, &mut node.inputs, &mut node.outputs, constants),
        _ => false,
    }
}

/// The same for variables of a loop that start as constants and never change. A loop keeps
/// one variable, changing or not.
fn share_invariants(
    graph: &mut Graph,
    op: &mut While,
    inputs: &mut Vec<Option<TensorId>>,
    outputs: &mut Vec<TensorId>,
    mut constants: Vec<Option<Data>>,
) -> bool {
    let [_, body] = &op.regions;
    for (i, constant) in constants.iter_mut().enumerate() {
        let types = [inputs[i], outputs.get(i).copied()].map(|id| id.map(|id| &graph.tensor(id).ty));
        if !body.passes_on(i) || types[0] != types[1] {
            *constant = None;
        }
    }
    let shared = constants.iter().flatten().count();
    if shared == 0 || shared == constants.len() {
        return false;
    }
    op.regions.iter_mut().for_each(|region| fill_inputs(region, &constants));
    let keep = || constants.iter().map(Option::is_none);
    for (y, constant) in outputs.iter().zip(&constants) {
        if constant.is_some() {
            graph.tensors[y.index()].data.clone_from(constant);
        }
    }
    let mut kept = keep();
    inputs.retain(|_| kept.next() != Some(false));
    let mut kept = keep();
    outputs.retain(|_| kept.next() != Some(false));
    let mut kept = keep();
    op.regions[1].graph_mut().outputs.retain(|_| kept.next() != Some(false));
    true
}

/// Makes those inputs constants that are given.
fn fill_inputs(region: &mut Region, constants: &[Option<Data>]) {
    if constants.iter().all(Option::is_none) {
        return;
    }
    let graph = region.graph_mut();
    for (id, constant) in graph.inputs.iter().zip(constants) {
        if constant.is_some() {
            graph.tensors[id.index()].data.clone_from(constant);
        }
    }
    let mut kept = constants.iter().map(Option::is_none);
    graph.inputs.retain(|_| kept.next() != Some(false));
}
