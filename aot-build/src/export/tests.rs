//! What is written is read again, whatever the graph; and no text makes the importer
//! panic.

use std::collections::BTreeMap;

use aot_rt::DType;
use proptest::prelude::*;

use super::*;
use crate::graph::sketch::{Sketch, f32_type};
use crate::graph::{Data, GraphBuilder, NodeDeclaration, OutputDeclaration, Shape, TensorType};
use crate::import::json::tests::Folder;
use crate::ops::*;

/// Everything that a file can say of a graph; tensors that nothing names left out.
fn meaning(graph: &Graph) -> impl PartialEq + std::fmt::Debug {
    let name = |id: &TensorId| graph.tensor(*id).name.clone();
    let names = |ids: &[TensorId]| ids.iter().map(name).collect::<Vec<_>>();
    let nodes = graph.nodes.iter().map(|node| {
        let inputs: Vec<_> = node.inputs.iter().map(|id| id.as_ref().map(name)).collect();
        (node.name.clone(), node.op.clone(), inputs, names(&node.outputs))
    });
    let used = super::names(graph);
    let tensors: BTreeMap<_, _> = used
        .keys()
        .map(|id| graph.tensor(*id))
        .map(|tensor| {
            (tensor.name.clone(), (tensor.ty.clone(), tensor.data.as_ref().map(|data| data.bytes().to_vec())))
        })
        .collect();
    let states = graph.states.iter().map(|state| names(&[state.before, state.after, state.initial]));
    let states: Vec<_> = states.collect();
    (
        graph.name.clone(),
        names(&graph.inputs),
        names(&graph.outputs),
        nodes.collect::<Vec<_>>(),
        tensors,
        states,
    )
}

fn round_trip(graph: &Graph, folder: &Folder) -> Result<Graph, crate::Error> {
    let exported = export(graph, "weights.safetensors").unwrap();
    folder.write("model.json", exported.json);
    folder.write("weights.safetensors", exported.safetensors.unwrap_or_default());
    folder.import().map(|imported| imported.graph)
}

/// Random choices, which make a random graph.
struct Choices(std::vec::IntoIter<u32>);

impl Choices {
    fn below(&mut self, end: usize) -> usize {
        self.0.next().map_or(0, |choice| choice as usize % end)
    }

    fn of<T: Clone>(&mut self, options: &[T]) -> T {
        options[self.below(options.len())].clone()
    }

    fn pair(&mut self) -> [usize; 2] {
        [1 + self.below(2), 1 + self.below(2)]
    }

    fn shape(&mut self, rank: usize) -> Shape {
        Shape::new((0..rank).map(|_| 1 + self.below(4)).collect::<Vec<_>>()).unwrap()
    }

    /// A name that no other tensor has.
    fn name(&mut self, taken: usize) -> String {
        let stem = self.of(&["x", "conv/weights", "ä \"quoted\"\\", "line\nbreak\u{1}", "", "{[\u{10ffff}"]);
        format!("{stem}{taken}")
    }

    fn scale(&mut self) -> f32 {
        let scale = f32::from_bits(self.0.next().unwrap_or(0x3dcc_cccd)).abs();
        if scale.is_normal() { scale } else { 0.1 }
    }

    fn ty(&mut self, dtype: DType, shape: Shape) -> TensorType {
        let mut quantization = None;
        if !matches!(dtype, DType::U32 | DType::U64 | DType::F16 | DType::BF16 | DType::F32 | DType::Bool) {
            let zero_point = |choices: &mut Self| match dtype {
                DType::U8 => choices.below(256) as i32,
                DType::I4 => choices.below(16) as i32 - 8,
                _ => choices.below(256) as i32 - 128,
            };
            let scales = match self.below(3) {
                0 => None,
                1 => Some((1, self.below(9))),
                _ => Some(self.below(shape.len().max(1)))
                    .map(|axis| (shape.get(axis).copied().unwrap_or(1), axis)),
            };
            quantization = scales.map(|(count, axis)| {
                let parameters = (0..count).map(|_| (self.scale(), zero_point(self))).unzip();
                Quantization::per_axis(parameters.0, parameters.1, axis).unwrap()
            });
        }
        TensorType { quantization, ..TensorType::new(dtype, shape) }
    }

    fn activation(&mut self) -> Activation {
        self.of(&[Activation::None, Activation::Relu, Activation::Relu6, Activation::ReluN1To1])
    }

    fn padding(&mut self) -> Padding2d {
        let explicit = Padding2d::Explicit([self.below(2), self.below(2), self.below(2), self.below(2)]);
        self.of(&[Padding2d::Valid, Padding2d::Same, explicit])
    }

    fn op(&mut self, x: &Shape) -> Op {
        let (activation, padding, stride, dilation) =
            (self.activation(), self.padding(), self.pair(), self.pair());
        let dtypes = [DType::I8, DType::U8, DType::I16];
        let keep_dimensions = self.below(2) == 0;
        match self.below(Op::NAMES.len()) {
            0 => Add { activation }.into(),
            1 => AveragePool2d { window: self.pair(), stride, padding, activation }.into(),
            2 => Conv2d { stride, dilation, padding, activation }.into(),
            3 => DepthwiseConv2d { stride, dilation, padding, activation }.into(),
            4 => Dequantize {}.into(),
            5 => {
                let asymmetric_quantize_inputs = self.below(2) == 0;
                FullyConnected { keep_dimensions, activation, asymmetric_quantize_inputs }.into()
            }
            6 => Logistic {}.into(),
            7 => MaxPool2d { window: self.pair(), stride, padding, activation }.into(),
            8 => Mean { axes: (0..self.below(x.len() + 1)).collect(), keep_dimensions }.into(),
            9 => Pad { padding: x.iter().map(|_| self.pair()).collect(), value: self.value() }.into(),
            10 => Quantize { dtype: self.of(&dtypes) }.into(),
            11 => Relu { activation }.into(),
            12 => Reshape { shape: Shape::new(vec![x.elements()]).unwrap() }.into(),
            13 => Softmax { beta: self.scale(), ..Softmax::default() }.into(),
            14..30 => self.movement(x),
            _ => self.reduction(x),
        }
    }

    fn value(&mut self) -> Option<f64> {
        self.of(&[None, Some(3.0), Some(-1.0), Some(0.1), Some(1e300)])
    }

    /// An operator that only moves elements.
    fn movement(&mut self, x: &Shape) -> Op {
        let axis = self.below(x.len().max(1));
        match self.below(15) {
            0 => Concatenation { axis }.into(),
            1 => Pack { axis }.into(),
            2 => {
                let stride = self.of(&[vec![], vec![1; x.len()], vec![-1; x.len()]]);
                let begin = x.iter().map(|extent| extent - 1).collect();
                let shape = self.of(&[None, Some(Shape::new([1]).unwrap())]);
                Slice { begin, size: vec![1; x.len()], stride, shape }.into()
            }
            3 => Split { axis, sizes: vec![1; x.get(axis).copied().unwrap_or(1)] }.into(),
            4 => Transpose { permutation: (0..x.len()).rev().collect() }.into(),
            5 => Unpack { axis }.into(),
            6 => Tile { multiples: x.iter().map(|_| 1 + self.below(2)).collect() }.into(),
            7 => BroadcastTo { shape: x.clone() }.into(),
            8 => Reverse { axes: vec![axis] }.into(),
            9 => DepthToSpace { block: 1 + self.below(2) }.into(),
            10 => SpaceToDepth { block: 1 + self.below(2) }.into(),
            11 => SpaceToBatch { block: vec![1], padding: vec![self.pair()] }.into(),
            12 => BatchToSpace { block: vec![1], crop: vec![[0, 0]] }.into(),
            13 => Gather { axis }.into(),
            _ => {
                let mode = self.of(&[Mirror::Reflect, Mirror::Symmetric]);
                MirrorPad { padding: x.iter().map(|extent| [extent - 1, 0]).collect(), mode }.into()
            }
        }
    }

    /// An operator that reduces or searches.
    fn reduction(&mut self, x: &Shape) -> Op {
        let (axis, axes) = (self.below(x.len().max(1)), (0..self.below(x.len() + 1)).collect());
        let (exclusive, reverse, keep_dimensions) =
            (self.below(2) == 0, self.below(2) == 0, self.below(2) == 0);
        let dtype = self.of(&[DType::I32, DType::I64]);
        match self.below(11) {
            0 => Arg { function: self.of(&[ArgFunction::Max, ArgFunction::Min]), axis, dtype }.into(),
            1 => CumulativeSum { axis, exclusive, reverse }.into(),
            2 => EmbeddingLookup { dtype: self.of(&[DType::F32, DType::I8]) }.into(),
            3 => GatherNd {}.into(),
            4 => L2Normalization {}.into(),
            5 => {
                let (window, stride) = (self.pair(), self.pair());
                L2Pool2d { window, stride, padding: self.padding(), activation: self.activation() }.into()
            }
            6 => {
                let [bias, alpha, beta] = [self.scale(), self.scale(), self.scale()];
                LocalResponseNormalization { radius: self.below(9), bias, alpha, beta }.into()
            }
            7 => LogSoftmax {}.into(),
            8 => OneHot { axis, depth: 1 + self.below(3) }.into(),
            9 => TopK { k: 1 + self.below(2) }.into(),
            _ => {
                let sums = [ReduceFunction::Sum, ReduceFunction::Product, ReduceFunction::Any];
                let extremes = [ReduceFunction::Maximum, ReduceFunction::Minimum, ReduceFunction::All];
                let function = self.of(&[sums, extremes].concat());
                Reduce { function, axes, keep_dimensions }.into()
            }
        }
    }

    /// A shape of weights that fits, for the operators that have some.
    fn weights(&mut self, op: &Op, x: &Shape) -> Option<Shape> {
        let channels = *x.last()?;
        let [height, width] = self.pair();
        let extents = match op {
            Op::Conv2d(_) => vec![1 + self.below(3), height, width, channels],
            Op::DepthwiseConv2d(_) => vec![1, height, width, channels * (1 + self.below(2))],
            Op::FullyConnected(_) => vec![1 + self.below(3), channels],
            _ => return None,
        };
        Some(Shape::new(extents).unwrap())
    }

    fn graph(mut self) -> Graph {
        let mut builder = GraphBuilder::new(self.of(&["model", "a \"b\"\n", ""]));
        let dtypes = DType::ALL;
        let mut ids = Vec::new();
        for _ in 0..=self.below(2) {
            let dtype = self.of(&[DType::F32, DType::I8, DType::F32, DType::I16]);
            let name = self.name(ids.len());
            let shape = self.shape(4);
            ids.push(builder.input(name, self.ty(dtype, shape)));
        }
        for _ in 0..self.below(6) {
            let (dtype, rank) = (self.of(&dtypes), self.below(5));
            let (name, shape) = (self.name(ids.len()), self.shape(rank));
            let ty = self.ty(dtype, shape);
            // Every pattern of bits, numbers that are none included.
            let mut bytes: Vec<u8> = (0..ty.bytes()).map(|_| self.below(256) as u8).collect();
            if let (DType::I4, 1, Some(last)) = (dtype, ty.shape.elements() % 2, bytes.last_mut()) {
                *last &= 15;
            }
            ids.push(builder.constant(name, ty, Data::from_bytes(bytes)));
        }
        for index in 0..self.below(12) {
            let x = self.of(&ids);
            let shape = builder.tensor(x).ty.shape.clone();
            let op = self.op(&shape);
            let mut inputs = vec![Some(x)];
            if let Some(weights) = self.weights(&op, &shape) {
                let (name, ty) = (self.name(ids.len()), self.ty(DType::I8, weights));
                let bytes = vec![1; ty.bytes()];
                ids.push(builder.constant(name, ty, Data::from_bytes(bytes)));
                inputs.push(ids.last().copied());
                let bias = self.of(&ids);
                inputs.extend(self.of(&[None, Some(None), Some(Some(bias))]));
            } else if self.below(2) == 0 {
                inputs.push(Some(self.of(&ids)));
            }
            let operands: Vec<_> = inputs.iter().map(|id| id.map(|id| builder.tensor(id))).collect();
            let checked = edges::check_operands(&op, &operands);
            let Ok(types) = checked.and_then(|()| op.infer(&operands)) else { continue };
            if edges::check_results(&op, &types).is_err() {
                continue;
            }
            let outputs: Vec<_> = types
                .into_iter()
                .enumerate()
                .map(|(i, ty)| {
                    let name = self.name(ids.len() + i);
                    OutputDeclaration { name, ty: Some(self.ty(ty.dtype, ty.shape)), open: Vec::new() }
                })
                .collect();
            let name = self.of(&["node", "", "n\u{e4}me"]).to_owned();
            ids.extend(
                builder.node(NodeDeclaration { name, index, op, inputs, outputs }).into_iter().flatten(),
            );
        }
        let outputs = (0..=self.below(3)).map(|_| self.of(&ids)).collect();
        builder.finish(outputs).unwrap()
    }
}

fn graphs() -> impl Strategy<Value = Graph> {
    prop::collection::vec(any::<u32>(), 10..300).prop_map(|choices| Choices(choices.into_iter()).graph())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn what_is_written_is_read_again(graph in graphs()) {
        let folder = Folder::new("round-trip");
        let read = round_trip(&graph, &folder).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(meaning(&read), meaning(&graph));
        // What has been read is written the same.
        let again = export(&read, "weights.safetensors").unwrap();
        let third = round_trip(&read, &folder).unwrap();
        prop_assert_eq!(export(&third, "weights.safetensors").unwrap(), again);
    }
}

/// The text of a model, cut into strings, numbers and single signs.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = vec![String::new()];
    let (mut quoted, mut word) = (false, false);
    for c in text.chars() {
        let in_word = !quoted && (c.is_alphanumeric() || "-.+".contains(c));
        if !(quoted || word && in_word) {
            tokens.push(String::new());
        }
        tokens.last_mut().unwrap().push(c);
        quoted ^= c == '"';
        word = in_word;
    }
    tokens
}

/// Makes a change to a list at a random place.
fn change<T: Clone>(
    list: &mut Vec<T>,
    (kind, from, to): (u8, prop::sample::Index, prop::sample::Index),
    other: T,
) {
    if list.is_empty() {
        return;
    }
    let (from, to) = (from.index(list.len()), to.index(list.len()));
    match kind {
        0 => list.swap(from, to),
        1 => list[to] = list[from].clone(),
        2 => drop(list.remove(from)),
        3 => list.insert(to, list[from].clone()),
        4 => list.truncate(to),
        _ => list[to] = other,
    }
}

fn changes() -> impl Strategy<Value = Vec<(u8, prop::sample::Index, prop::sample::Index)>> {
    prop::collection::vec((0..6_u8, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn no_text_makes_the_importer_panic(graph in graphs(), in_text: bool, changes in changes(), byte: u8) {
        let folder = Folder::new("changed");
        let exported = export(&graph, "weights.safetensors").unwrap();
        let mut words = tokens(&exported.json);
        let mut bytes = exported.json.clone().into_bytes();
        for each in changes {
            change(&mut words, each, "-1".into());
            change(&mut bytes, each, byte);
        }
        folder.write("model.json", if in_text { words.concat().into_bytes() } else { bytes });
        folder.write("weights.safetensors", exported.safetensors.unwrap_or_default());
        if let Err(error) = folder.import() {
            for problem in error.problems {
                prop_assert!(matches!(problem.location, crate::error::Location::Text { .. }), "{}", problem);
            }
        }
    }

    #[test]
    fn no_file_of_weights_makes_the_importer_panic(graph in graphs(), changes in changes(), byte: u8) {
        let exported = export(&graph, "weights.safetensors").unwrap();
        let mut npy = crate::weights::npy::write(&graph.tensors.iter().find_map(stored).unwrap_or(Stored {
            dtype: DType::I8,
            shape: Shape::scalar(),
            bytes: &[1],
        }));
        let mut safetensors = exported.safetensors.unwrap_or_default();
        let header = safetensors.len().min(400);
        let mut header: Vec<u8> = safetensors.drain(..header).collect();
        for each in changes {
            change(&mut npy, each, byte);
            change(&mut header, each, byte);
        }
        let _ = crate::weights::npy::read(&npy);
        if let Ok(tensors) = safetensors::SafeTensors::read([header, safetensors].concat()) {
            for name in tensors.names() {
                let _ = tensors.get(name);
            }
        }
    }
}

#[test]
fn digits_are_read_again() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/digits/model/digits.json");
    let graph = crate::import::import(path.as_ref(), &crate::Config::default()).unwrap().graph;
    let folder = Folder::new("digits");
    assert_eq!(meaning(&round_trip(&graph, &folder).unwrap()), meaning(&graph));
}

fn small(names: [&str; 4]) -> Graph {
    let [x, w, unused, y] = names;
    let mut builder = GraphBuilder::new("small");
    let ty = TensorType::new(DType::F32, Shape::new([1, 2]).unwrap());
    let quantization = Some(Quantization::per_axis(vec![0.1, 1e-30], vec![0, 7], 1).unwrap());
    let x = builder.input(x, ty.clone());
    let weights = Data::from_f32s(&[f32::NAN, -0.0]);
    let w = builder.constant(w, ty.clone(), weights.clone());
    builder.constant(unused, ty.clone(), weights);
    let sum = builder.node(NodeDeclaration {
        name: "sum".into(),
        index: 0,
        op: Add { activation: Activation::Relu }.into(),
        inputs: vec![Some(x), Some(w)],
        outputs: vec![OutputDeclaration { name: "s".into(), ty: None, open: Vec::new() }],
    });
    let y = builder.node(NodeDeclaration {
        name: "q".into(),
        index: 1,
        op: Quantize { dtype: DType::I8 }.into(),
        inputs: sum,
        outputs: vec![OutputDeclaration {
            name: y.into(),
            ty: Some(TensorType { dtype: DType::I8, quantization, ..ty }),
            open: Vec::new(),
        }],
    });
    builder.finish(vec![y[0].unwrap()]).unwrap()
}

#[test]
fn the_text_is_for_people() {
    let exported = export(&small(["x", "w", "unused", "y"]), "small.safetensors").unwrap();
    let expect = r#"{
  "format": "aot-net",
  "version": 1,
  "name": "small",
  "tensors": {
    "x": {"dtype": "f32", "shape": [1, 2]},
    "w": {"dtype": "f32", "shape": [1, 2], "data": {"safetensors": "small.safetensors", "tensor": "w"}},
    "s": {"dtype": "f32", "shape": [1, 2]},
    "y": {"dtype": "i8", "shape": [1, 2], "quantization": {"scale": [0.1, 1e-30], "zero_point": [0, 7], "axis": 1}}
  },
  "inputs": ["x"],
  "outputs": ["y"],
  "nodes": [
    {"op": "add", "name": "sum", "inputs": ["x", "w"], "outputs": ["s"], "attributes": {"activation": "relu"}},
    {"op": "quantize", "name": "q", "inputs": ["s"], "outputs": ["y"], "attributes": {"dtype": "i8"}}
  ]
}
"#;
    assert_eq!(exported.json, expect);
}

#[test]
fn tensors_of_one_name_get_numbers() {
    for (names, expect) in [
        (["s", "s", "s", "s"], ["s", "s_1", "s_2", "s_3"]),
        (["s", "s_1", "unused", "s_2"], ["s", "s_1", "s_3", "s_2"]),
        (["__metadata__", "", "", ""], ["__metadata___1", "", "s", "_1"]),
    ] {
        let graph = small(names);
        let found = super::names(&graph);
        let found: Vec<_> = [0, 1, 3, 4].map(|id| found[&TensorId(id)].as_str()).to_vec();
        assert_eq!(found, expect);
        let folder = Folder::new("names");
        assert_eq!(round_trip(&graph, &folder).unwrap().tensors[1].name, expect[1]);
    }
}

#[test]
fn states_are_read_again() {
    let folder = Folder::new("export_states");
    let mut sketch = Sketch::new();
    let x = sketch.input("x", f32_type([2]));
    let zeros = sketch.constant("zeros", f32_type([2]), Data::from_f32s(&[0.0; 2]));
    let before = sketch.state("before", zeros);
    let after = sketch.node("after", Add::default(), &[before, x]);
    sketch.keep(before, after);
    let graph = sketch.finish(&[after]);
    assert_eq!(meaning(&round_trip(&graph, &folder).unwrap()), meaning(&graph));
}

/// Branches and loops within each other; constants of one name in several graphs.
#[cfg(feature = "tflite")]
#[test]
fn regions_are_read_again() {
    use crate::eval::Evaluator;
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/conformance/cases/while_f32_nested_while/model.tflite"
    );
    let graph = crate::import::import(path.as_ref(), &crate::Config::default()).unwrap().graph;
    let again = round_trip(&graph, &Folder::new("export_regions")).unwrap();
    assert_eq!(again.to_string(), graph.to_string());
    assert_eq!(again.depth(), 3);
    let run = |graph| {
        let compiled = crate::compile(graph, &crate::Config::default()).unwrap();
        let image: Vec<u8> = (0..12).flat_map(|i| (i as f32 - 5.5).to_le_bytes()).collect();
        Evaluator::new(&compiled).run(&[&0_i32.to_le_bytes(), &image]).unwrap()
    };
    assert_eq!(run(again), run(graph));
}
