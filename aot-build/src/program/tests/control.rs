//! The same with branches and loops in the graphs, within each other.

use aot_rt::DType;

use super::*;
use crate::graph::{Node, Shape};

/// What a node of control flow gives; `None` for others.
pub(super) fn interpreted(node: &Node, values: &[Option<Vec<u8>>]) -> Option<Vec<Vec<u8>>> {
    let operands: Vec<_> =
        node.inputs.iter().flatten().map(|id| values[id.0].clone().expect("it has been computed")).collect();
    let run = |region: &Region, operands: &[Vec<u8>]| {
        one_by_one(region, &operands.iter().map(Vec::as_slice).collect::<Vec<_>>())
    };
    match &node.op {
        Op::If(If { regions: [then, otherwise] }) => {
            let chosen = if operands[0] == [0] { otherwise } else { then };
            Some(run(chosen, &operands[1..]))
        }
        Op::While(While { regions: [condition, body] }) => {
            let mut variables = operands;
            while run(condition, &variables) != [[0]] {
                variables = run(body, &variables);
            }
            Some(variables)
        }
        _ => None,
    }
}

fn one() -> TensorType {
    f32_type([1])
}

/// The types of all tensors but conditions.
fn types() -> [TensorType; 3] {
    [one(), f32_type([2, 3]), f32_type([6])]
}

impl Numbers {
    /// A graph with branches and loops, within each other.
    pub(super) fn flow(&mut self) -> Graph {
        let inputs = [f32_type([2, 3]), f32_type([6])];
        let outputs: Vec<_> = (0..=self.below(3)).map(|_| self.of(&types())).collect();
        self.region(&inputs, &outputs, 3, false)
    }

    /// A graph that takes and gives tensors of these types; the first counts, if it is to.
    fn region(&mut self, inputs: &[TensorType], outputs: &[TensorType], depth: usize, counts: bool) -> Graph {
        let mut sketch = Sketch::new();
        let mut ids: Vec<_> =
            inputs.iter().enumerate().map(|(i, ty)| sketch.input(&format!("x{i}"), ty.clone())).collect();
        for (i, ty) in types().into_iter().enumerate() {
            let values: Vec<_> = (0..ty.shape.elements()).map(|at| at as f32 - 1.5 * i as f32).collect();
            ids.push(sketch.constant(&format!("c{i}"), ty, Data::from_f32s(&values)));
        }
        for index in 0..1 + self.below(4) {
            let new = self.nodes(&mut sketch, &ids, index, depth);
            ids.extend(new);
        }
        let mut results: Vec<_> = outputs.iter().map(|ty| self.typed(&sketch, &ids, ty)).collect();
        if counts {
            let step = sketch.constant("step", one(), Data::from_f32s(&[1.0]));
            results[0] = sketch.node("next", Add::default(), &[ids[0], step]);
        }
        sketch.finish(&results)
    }

    fn typed(&mut self, sketch: &Sketch, ids: &[TensorId], ty: &TensorType) -> TensorId {
        let fitting: Vec<_> = ids.iter().copied().filter(|id| sketch.tensor(*id).ty == *ty).collect();
        self.of(&fitting)
    }

    /// The results of a new operator.
    fn nodes(&mut self, sketch: &mut Sketch, ids: &[TensorId], index: usize, depth: usize) -> Vec<TensorId> {
        let name = format!("t{index}");
        let x = self.of(ids);
        let ty = sketch.tensor(x).ty.clone();
        match self.below(if depth > 0 { 10 } else { 5 }) {
            0 => vec![sketch.node(&name, Relu::default(), &[x])],
            1 => {
                let other = self.typed(sketch, ids, &ty);
                vec![sketch.node(&name, Add::default(), &[x, other])]
            }
            2 => vec![sketch.node(&name, Reverse { axes: vec![0] }, &[x])],
            3 => {
                let flat = self.typed(sketch, ids, &f32_type([6]));
                vec![sketch.node(&name, Reshape { shape: f32_type([2, 3]).shape }, &[flat])]
            }
            4 => {
                let flat = self.typed(sketch, ids, &f32_type([6]));
                let names = [format!("{name}a"), format!("{name}b")];
                let names = [names[0].as_str(), names[1].as_str()];
                let parts = sketch.nodes(&names, Split { axis: 0, sizes: vec![2, 4] }, &[flat]);
                let relu = sketch.node(&format!("{name}c"), Relu::default(), &parts[1..]);
                vec![sketch.node(&name, Concatenation { axis: 0 }, &[relu, parts[0]])]
            }
            5..7 => self.decide(sketch, ids, &name, depth),
            _ => self.repeat(sketch, ids, &name, depth),
        }
    }

    fn some_types(&mut self) -> Vec<TensorType> {
        (0..self.below(4)).map(|_| self.of(&types())).collect()
    }

    fn decide(&mut self, sketch: &mut Sketch, ids: &[TensorId], name: &str, depth: usize) -> Vec<TensorId> {
        let flat = self.typed(sketch, ids, &f32_type([6]));
        let slice = Slice { begin: vec![self.below(6)], size: vec![1], stride: Vec::new(), shape: None };
        let x = sketch.node(&format!("{name}_x"), slice, &[flat]);
        let limit = sketch.constant(&format!("{name}_limit"), one(), Data::from_f32s(&[0.25]));
        let truth = TensorType::new(DType::Bool, Shape::new([1]).unwrap());
        let relation = Compare { relation: Relation::Less };
        let condition = sketch.typed(&format!("{name}_c"), relation, &[x, limit], truth);
        let (inputs, mut outputs) = (self.some_types(), self.some_types());
        outputs.push(one());
        let regions = [0, 1].map(|_| Region::from(self.region(&inputs, &outputs, depth - 1, false)));
        let operands = inputs.iter().map(|ty| self.typed(sketch, ids, ty));
        let operands: Vec<_> = std::iter::once(condition).chain(operands.collect::<Vec<_>>()).collect();
        let names: Vec<_> = (0..outputs.len()).map(|i| format!("{name}_{i}")).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        sketch.nodes(&names, If { regions }, &operands)
    }

    fn repeat(&mut self, sketch: &mut Sketch, ids: &[TensorId], name: &str, depth: usize) -> Vec<TensorId> {
        let mut variables = vec![one()];
        variables.extend(self.some_types());
        let mut condition = Sketch::new();
        let given: Vec<_> = variables
            .iter()
            .enumerate()
            .map(|(i, ty)| condition.input(&format!("v{i}"), ty.clone()))
            .collect();
        let limit = condition.constant("limit", one(), Data::from_f32s(&[self.below(4) as f32]));
        let truth = TensorType::new(DType::Bool, Shape::new([1]).unwrap());
        let again = Compare { relation: Relation::Less };
        let again = condition.typed("again", again, &[given[0], limit], truth);
        let condition = Region::from(condition.finish(&[again]));
        let body = Region::from(self.region(&variables, &variables, depth - 1, true));
        // No loop starts so low that it takes long.
        let first = sketch.constant(&format!("{name}_first"), one(), Data::from_f32s(&[0.5]));
        let operands = variables[1..].iter().map(|ty| self.typed(sketch, ids, ty));
        let operands: Vec<_> = std::iter::once(first).chain(operands.collect::<Vec<_>>()).collect();
        let names: Vec<_> = (0..variables.len()).map(|i| format!("{name}_{i}")).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        sketch.nodes(&names, While { regions: [condition, body] }, &operands)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn control_flow_is_what_it_says(numbers in prop::collection::vec(any::<u8>(), 400)) {
        let graph = Numbers(numbers).flow();
        let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>();
        check(&graph, &[&bytes(&counted::<6>(0.5)), &bytes(&counted::<6>(-0.25))])?;
    }
}
