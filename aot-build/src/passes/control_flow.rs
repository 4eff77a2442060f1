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

#[cfg(test)]
mod tests {
    use aot_rt::DType;

    use super::super::run;
    use super::*;
    use crate::Config;
    use crate::graph::sketch::{Sketch, f32_type, i8_type, u8_type};
    use crate::graph::{Shape, TensorType};
    use crate::ops::{Add, Compare, FullyConnected, Relation, Relu};

    fn truth() -> TensorType {
        TensorType::new(DType::Bool, Shape::new([1]).unwrap())
    }

    /// A region from `a` to the result of an operator.
    fn region(name: &str, op: impl Into<Op>, operands: usize) -> Region {
        let mut sketch = Sketch::new();
        let a = sketch.input("a", f32_type([2]));
        let y = sketch.node(name, op, &vec![a; operands]);
        sketch.finish(&[y]).into()
    }

    #[test]
    fn a_condition_that_is_constant() {
        for (bit, expect) in [(1, "y: f32 [2] = Add { activation: Relu } (x, x)\n"), (0, "y: f32 [2] = Relu")]
        {
            let mut sketch = Sketch::new();
            let x = sketch.input("x", f32_type([2]));
            let c = sketch.constant("c", truth(), Data::from_bytes([bit]));
            let regions = [region("sum", Add::default(), 2), region("largest", Relu::default(), 1)];
            let t = sketch.node("t", If { regions }, &[c, x]);
            let y = sketch.node("y", Relu::default(), &[t]);
            let mut graph = sketch.finish(&[y]);
            run(&mut graph, &Config::default());
            assert!(graph.to_string().contains(expect), "{graph}");
            assert_eq!(graph.depth(), 0);
        }
    }

    #[test]
    fn constants_go_into_branches() {
        let mut sketch = Sketch::new();
        let (c, x) =
            (sketch.input("c", truth()), sketch.constant("x", f32_type([2]), Data::from_f32s(&[-1.0, 2.0])));
        let regions = [region("sum", Add::default(), 2), region("largest", Relu::default(), 1)];
        let y = sketch.node("y", If { regions }, &[c, x]);
        let mut graph = sketch.finish(&[y]);
        run(&mut graph, &Config::default());
        let expect = "input c: bool [1]\n\
                      y: f32 [2] = If { regions: [Region(0 nodes), Region(0 nodes)] } (c)\n  \
                      region\n    constant sum: f32 [2]\n    output sum\n  \
                      region\n    constant largest: f32 [2]\n    output largest\noutput y\n";
        assert_eq!(graph.to_string(), expect);
    }

    /// Weights as variables: they are constants of the body, which can then be lowered.
    #[test]
    fn variables_that_never_change() {
        let mut condition = Sketch::new();
        let (x, _) = (condition.input("x", f32_type([1, 1])), condition.input("w", f32_type([1, 1])));
        let limit = condition.constant("limit", f32_type([1, 1]), Data::from_f32s(&[20.0]));
        let ty = TensorType { shape: Shape::new([1, 1]).unwrap(), ..truth() };
        let again = condition.typed("again", Compare { relation: Relation::Less }, &[x, limit], ty);
        let condition = condition.finish(&[again]);
        let mut body = Sketch::new();
        let (x, w) = (body.input("x", f32_type([1, 1])), body.input("w", f32_type([1, 1])));
        let next = body.node("next", FullyConnected::default(), &[x, w]);
        let body = body.finish(&[next, w]);
        let mut sketch = Sketch::new();
        let x = sketch.input("x", f32_type([1, 1]));
        let w = sketch.constant("w", f32_type([1, 1]), Data::from_f32s(&[3.0]));
        let results = sketch.nodes(&["y", "z"], While { regions: [condition.into(), body.into()] }, &[x, w]);
        let graph = sketch.finish(&results);
        let compiled = crate::compile(graph, &Config::default()).unwrap();
        let run = crate::eval::Evaluator::new(&compiled).run(&[&1.0_f32.to_le_bytes()]).unwrap();
        assert_eq!(run, [27.0_f32.to_le_bytes(), 3.0_f32.to_le_bytes()]);
    }

    /// Its result would lose its scale otherwise.
    #[test]
    fn a_branch_of_another_scale_is_left_for_lowering_to_refuse() {
        let mut branch = Sketch::new();
        let a = branch.input("a", i8_type([2], 0.5, 0));
        let branch = Region::from(branch.finish(&[a]));
        let mut sketch = Sketch::new();
        let x = sketch.input("x", i8_type([2], 0.5, 0));
        let c = sketch.constant("c", truth(), Data::from_bytes([1]));
        let y = sketch.typed("y", If { regions: [branch.clone(), branch] }, &[c, x], i8_type([2], 0.25, 0));
        let problems = crate::compile(sketch.finish(&[y]), &Config::default()).unwrap_err();
        assert!(problems[0].message.contains("both branches give"), "{}", problems[0]);
    }

    /// uint8 becomes int8 on both sides of the border.
    #[test]
    fn unsigned_integers() {
        let mut branch = Sketch::new();
        let a = branch.input("a", u8_type([2], 0.5, 10));
        let sum = branch.typed("sum", Add::default(), &[a, a], u8_type([2], 0.5, 10));
        let branch = Region::from(branch.finish(&[sum]));
        let mut sketch = Sketch::new();
        let (c, x) = (sketch.input("c", truth()), sketch.input("x", u8_type([2], 0.5, 10)));
        let y = sketch.typed("y", If { regions: [branch.clone(), branch] }, &[c, x], u8_type([2], 0.5, 10));
        let compiled = crate::compile(sketch.finish(&[y]), &Config::default()).unwrap();
        let run = crate::eval::Evaluator::new(&compiled).run(&[&[1], &[12, 7]]).unwrap();
        assert_eq!(run, [[14, 4]]);
    }
}
