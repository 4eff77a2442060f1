//! Random graphs of operators that share memory, against each operator by itself.

mod control;
mod crossings;

use aot_rt::Access;
use proptest::prelude::*;

use super::{Program, Storage, View};
use crate::config::{InputPlacement, Memory, Placement};
use crate::eval::Evaluator;
use crate::graph::sketch::{Sketch, f32_type};
use crate::graph::{Data, Graph, TensorId, TensorType};
use crate::ops::*;
use crate::{Compiled, Config, compile};

/// Small numbers, one after the other.
struct Numbers(Vec<u8>);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        usize::from(self.0.pop().unwrap_or(0)) % end.max(1)
    }

    fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    /// An operator on tensors like `x`, and how many of them it takes.
    fn op(&mut self, x: &TensorType) -> (Op, usize) {
        let shape = &x.shape;
        let axis = self.below(shape.len());
        let extent = shape.get(axis).copied().unwrap_or(1);
        match self.below(13) {
            0 | 1 => (Concatenation { axis }.into(), 1 + self.below(3)),
            2 => (Pack { axis: self.below(shape.len() + 1) }.into(), 1 + self.below(3)),
            3 => (Unpack { axis }.into(), 1),
            4 => {
                let first = self.below(extent + 1);
                let sizes = [first, extent - first].into_iter().filter(|size| *size > 0).collect();
                (Split { axis, sizes }.into(), 1)
            }
            5 => {
                let begin: Vec<_> = shape.iter().map(|extent| self.below(*extent)).collect();
                let size = shape.iter().zip(&begin).map(|(extent, begin)| extent - begin).collect();
                (Slice { begin, size, stride: Vec::new(), shape: None }.into(), 1)
            }
            6 => (Transpose { permutation: (0..shape.len()).rev().collect() }.into(), 1),
            7 => (Reshape { shape: f32_type([1, shape.elements()]).shape }.into(), 1),
            8 => (Reverse { axes: vec![axis] }.into(), 1),
            9 => (Tile { multiples: shape.iter().map(|_| 1 + self.below(2)).collect() }.into(), 1),
            10 => (Add::default().into(), 2),
            11 => {
                let (padding, activation) = (self.of(&[Padding2d::Same, Padding2d::Valid]), Activation::None);
                (MaxPool2d { window: [2, 1], stride: [1; 2], padding, activation }.into(), 1)
            }
            _ => (Relu::default().into(), 1),
        }
    }

    fn graph(mut self) -> Graph {
        let mut sketch = Sketch::new();
        let images = || f32_type([1, 4, 3, 2]);
        let mut ids = vec![sketch.input("x", images()), sketch.input("z", f32_type([2, 3]))];
        ids.push(sketch.constant("c", images(), Data::from_f32s(&counted::<24>(-7.0))));
        for index in 0..self.below(14) {
            let x = self.of(&ids);
            let (op, operands) = self.op(&sketch.tensor(x).ty);
            // Others of the same shape, or itself again.
            let like = |id: &&TensorId| sketch.tensor(**id).ty.shape == sketch.tensor(x).ty.shape;
            let like: Vec<_> = ids.iter().filter(like).copied().collect();
            let inputs: Vec<_> = (0..operands).map(|_| self.of(&like)).collect();
            let tensors: Vec<_> = inputs.iter().map(|id| Some(sketch.tensor(*id))).collect();
            // Some do not fit, such as a split of a scalar, or of nine axes.
            let types = op.infer(&tensors).unwrap_or_default();
            if types.is_empty() || types.iter().any(|ty| ty.shape.elements() > 500) {
                continue;
            }
            let names: Vec<_> = (0..types.len()).map(|i| format!("t{index}_{i}")).collect();
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            ids.extend(sketch.nodes(&names, op, &inputs));
        }
        let outputs: Vec<_> = (0..=self.below(4)).map(|_| self.of(&ids[2..])).collect();
        sketch.finish(&outputs)
    }
}

/// Different numbers of either sign.
fn counted<const N: usize>(first: f32) -> [f32; N] {
    std::array::from_fn(|i| if i % 3 == 0 { first - i as f32 } else { first + i as f32 })
}

/// The outputs, each operator being run in memory of its own.
fn one_by_one(graph: &Graph, inputs: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut values: Vec<_> =
        graph.tensors.iter().map(|tensor| tensor.data.as_ref().map(|data| data.bytes().to_vec())).collect();
    for (id, bytes) in graph.inputs.iter().zip(inputs) {
        values[id.0] = Some(bytes.to_vec());
    }
    for node in &graph.nodes {
        if let Some(results) = control::interpreted(node, &values) {
            for (id, bytes) in node.outputs.iter().zip(results) {
                values[id.0] = Some(bytes);
            }
            continue;
        }
        let mut alone = Graph { tensors: graph.tensors.clone(), ..Graph::default() };
        for id in node.inputs.iter().flatten() {
            alone.tensors[id.0].data = values[id.0].clone().map(Data::from_bytes);
        }
        (alone.nodes, alone.outputs) = (vec![node.clone()], node.outputs.clone());
        let compiled = crate::compile::compile_as_is(&alone, &Config::default()).expect("it is lowered");
        for (id, bytes) in node.outputs.iter().zip(Evaluator::new(&compiled).run(&[]).expect("it runs")) {
            values[id.0] = Some(bytes);
        }
    }
    graph.outputs.iter().map(|id| values[id.0].clone().expect("it has been computed")).collect()
}

/// Generated code cannot borrow two parts of a caller's array when it writes one of them.
fn borrows_are_possible(program: &Program) -> bool {
    let is_output = |view: View| matches!(program.buffer(view.buffer).storage, Storage::Output(_));
    // Those that hold steps borrow nothing themselves.
    let mut steps =
        program.steps.iter().flat_map(|step| step.with_nested()).filter(|step| step.kernel().is_some());
    steps.all(|step| {
        let mut written =
            step.buffers().filter(|(view, access)| is_output(*view) && *access == Access::Write);
        written.all(|(y, _)| step.buffers().all(|(x, _)| x == y || x.buffer != y.buffer))
    })
}

/// Compiles in all ways, and compares the results.
fn check(graph: &Graph, inputs: &[&[u8]]) -> Result<(), TestCaseError> {
    let expect = one_by_one(graph, inputs);
    for (input_place, outputs, memory) in [
        (InputPlacement::Workspace, Placement::Workspace, Memory::Auto),
        (InputPlacement::Workspace, Placement::Caller, Memory::Auto),
        (InputPlacement::Caller, Placement::Caller, Memory::Auto),
        (InputPlacement::Workspace, Placement::Workspace, Memory::Min),
        (InputPlacement::Caller, Placement::Caller, Memory::Min),
    ] {
        let config = Config { inputs: input_place, outputs, memory, ..Config::default() };
        let as_is = crate::compile::compile_as_is(graph, &config).unwrap();
        let compiled = compile(graph.clone(), &config).unwrap();
        for Compiled { program, .. } in [&as_is, &compiled] {
            prop_assert!(borrows_are_possible(program), "{program:?}");
        }
        for compiled in [as_is, compiled] {
            prop_assert!(compiled.lower_bound <= compiled.arena_bytes);
            prop_assert_eq!(&Evaluator::new(&compiled).run(inputs).unwrap(), &expect);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn shared_memory_changes_no_result(numbers in prop::collection::vec(any::<u8>(), 300)) {
        let graph = Numbers(numbers).graph();
        let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>();
        let (x, z) = (bytes(&counted::<24>(0.5)), bytes(&counted::<6>(-0.25)));
        check(&graph, &[&x, &z])?;
    }
}
