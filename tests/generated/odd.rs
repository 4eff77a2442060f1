//! Graphs with edges that no real model shows all at once; `build.rs` generates their
//! code.

use aot_build::config::{Calls, InputPlacement, Optimize, Placement};
use aot_build::graph::{
    Data, Graph, GraphBuilder, NodeDeclaration, OutputDeclaration, Quantization, Shape, TensorId, TensorType,
};
use aot_build::ops::{
    Activation, Add, Binary, BinaryFunction, Compare, Concatenation, FullyConnected, Op, Relation, Reshape,
    Select, Slice, Split, Unary, UnaryFunction,
};
use aot_build::{Config, Model, SourceInfo, compile};
use aot_rt::DType;

/// Steps of [`chain`]: more than one function should have lines.
const CHAIN: usize = 120;

/// Name, graph, placement of inputs and of outputs.
pub(crate) fn models() -> Vec<(&'static str, Model)> {
    use InputPlacement as Inputs;
    use Placement as Outputs;
    let mut models = Vec::new();
    for (name, inputs, outputs) in [
        ("names", Inputs::Workspace, Outputs::Workspace),
        ("names_inputs_caller", Inputs::Caller, Outputs::Workspace),
        ("names_outputs_caller", Inputs::Workspace, Outputs::Caller),
        ("names_caller", Inputs::Caller, Outputs::Caller),
    ] {
        models.push((name, model("Odd", names(), inputs, outputs)));
    }
    models.push(("copies", model("Copies", copies(), Inputs::Workspace, Outputs::Workspace)));
    models.push(("copies_caller", model("Copies", copies(), Inputs::Caller, Outputs::Caller)));
    models.push(("moves", model("Moves", moves(), Inputs::Workspace, Outputs::Workspace)));
    models.push(("moves_caller", model("Moves", moves(), Inputs::Caller, Outputs::Caller)));
    models.push(("truth", model("Truth", truth(), Inputs::Workspace, Outputs::Workspace)));
    models.push(("truth_caller", model("Truth", truth(), Inputs::Caller, Outputs::Caller)));
    models.push(("states", model("States", states(), Inputs::Workspace, Outputs::Workspace)));
    models.push(("states_caller", model("States", states(), Inputs::Caller, Outputs::Caller)));
    for calls in [Calls::Packed, Calls::Registry] {
        models.extend(called(calls));
    }
    // Names of what the runtime has, too.
    models.push(("chain", model("Workspace", chain(), Inputs::Workspace, Outputs::Workspace)));
    models.push(("chain_caller", model("Model", chain(), Inputs::Caller, Outputs::Caller)));
    models
}

/// Some of them by another calling convention.
fn called(calls: Calls) -> Vec<(&'static str, Model)> {
    let [names_name, copies_name, truth_name, states_name] = match calls {
        Calls::Direct => return Vec::new(),
        Calls::Packed => ["names_packed", "copies_packed", "truth_packed", "states_packed"],
        Calls::Registry => ["names_registry", "copies_registry", "truth_registry", "states_registry"],
    };
    let (workspace, caller) =
        ((InputPlacement::Workspace, Placement::Workspace), (InputPlacement::Caller, Placement::Caller));
    let model = |name, graph, (inputs, outputs)| {
        let config = Config { inputs, outputs, calls, ..Config::default() };
        configured(name, graph, config)
    };
    vec![
        (names_name, model("Odd", names(), workspace)),
        (copies_name, model("Copies", copies(), caller)),
        (truth_name, model("Truth", truth(), caller)),
        (states_name, model("States", states(), workspace)),
    ]
}

fn model(type_name: &str, graph: Graph, inputs: InputPlacement, outputs: Placement) -> Model {
    configured(type_name, graph, Config { inputs, outputs, optimize: Optimize::Speed, ..Config::default() })
}

fn configured(type_name: &str, graph: Graph, config: Config) -> Model {
    let compiled = compile(graph, &config).expect("the graph compiles");
    let source = SourceInfo {
        file: "odd `one`\n.json".into(),
        bytes: 1,
        sha256: "0".repeat(64),
        ..SourceInfo::default()
    };
    Model { type_name: type_name.into(), source, compiled, config }
}

fn int8(elements: usize) -> TensorType {
    let quantization = Quantization::per_tensor(0.5, 3).expect("scale and zero point are valid");
    TensorType { quantization: Some(quantization), ..float(elements, DType::I8) }
}

fn float(elements: usize, dtype: DType) -> TensorType {
    TensorType::new(dtype, Shape::new([1, elements]).expect("the shape is small"))
}

fn node<const N: usize>(
    builder: &mut GraphBuilder,
    op: impl Into<Op>,
    inputs: [TensorId; N],
    output: (&str, TensorType),
) -> TensorId {
    let [result] = nodes(builder, op, inputs, [output]);
    result
}

fn nodes<const N: usize, const M: usize>(
    builder: &mut GraphBuilder,
    op: impl Into<Op>,
    inputs: [TensorId; N],
    outputs: [(&str, TensorType); M],
) -> [TensorId; M] {
    let name = format!("node of {}", outputs[0].0);
    let outputs =
        outputs.map(|(name, ty)| OutputDeclaration { name: name.into(), ty: Some(ty), open: Vec::new() });
    let inputs = inputs.map(Some).to_vec();
    let node = NodeDeclaration { name, index: 0, op: op.into(), inputs, outputs: outputs.to_vec() };
    let results: Option<Vec<_>> = builder.node(node).into_iter().collect();
    results.expect("the node is valid").try_into().expect("as many as were declared")
}

/// Names that are keywords, methods, equal, empty, and worse; an input that no step
/// reads; a tensor twice into one operator.
fn names() -> Graph {
    let mut builder = GraphBuilder::new("odd \"names\" \u{202e}\n");
    let a = builder.input("type", int8(4));
    let b = builder.input("run", int8(4));
    builder.input("", int8(4));
    builder.input("a`b\n*/]|[x](\u{202e}y", int8(4));
    let same = node(&mut builder, Add::default(), [a, b], ("type", int8(4)));
    let long = "very long name ".repeat(40);
    let twice = node(&mut builder, Add::default(), [same, same], (&long, int8(4)));
    builder.finish(vec![same, twice]).expect("the graph is valid")
}

/// An input and a constant as outputs, the same value twice.
fn copies() -> Graph {
    let mut builder = GraphBuilder::new("copies");
    let x = builder.input("x", float(3, DType::F32));
    let constant = builder.constant("seven", float(2, DType::I32), Data::from_i32s(&[7, -7]));
    builder.finish(vec![x, constant, x]).expect("the graph is valid")
}

/// Views of an input; a concatenation of what is made inside it, of views, and of one
/// tensor twice; outputs that share memory.
fn moves() -> Graph {
    let rows = |rows: usize, columns: usize| TensorType {
        shape: Shape::new([rows, columns]).expect("the shape is small"),
        ..int8(1)
    };
    let slice = |begin: [usize; 2], size: [usize; 2], stride: &[i64]| Slice {
        begin: begin.to_vec(),
        size: size.to_vec(),
        stride: stride.to_vec(),
        shape: None,
    };
    let mut builder = GraphBuilder::new("moves");
    let x = builder.input("x", rows(2, 4));
    let split = Split { axis: 0, sizes: vec![1, 1] };
    let [a, b] = nodes(&mut builder, split, [x], [("a", int8(4)), ("b", int8(4))]);
    let sum = node(&mut builder, Add::default(), [a, b], ("sum", int8(4)));
    let middle = node(&mut builder, slice([0, 1], [2, 2], &[]), [x], ("middle", rows(2, 2)));
    let flat = Reshape { shape: int8(4).shape };
    let flat = node(&mut builder, flat, [middle], ("flat", int8(4)));
    let reversed = node(&mut builder, slice([0, 3], [1, 4], &[1, -1]), [sum], ("reversed", int8(4)));
    let all = [sum, flat, sum, reversed, b];
    let all = node(&mut builder, Concatenation { axis: 0 }, all, ("all", rows(5, 4)));
    let wide = node(&mut builder, Concatenation { axis: 1 }, [all, all], ("wide", rows(5, 8)));
    let last = node(&mut builder, slice([3, 0], [2, 4], &[]), [all], ("last", rows(2, 4)));
    let twice = node(&mut builder, Add::default(), [last, last], ("twice", rows(2, 4)));
    builder.finish(vec![all, wide, last, twice]).expect("the graph is valid")
}

/// Truth values as input, as output, between steps and as a constant.
fn truth() -> Graph {
    let (floats, truths) = (|| float(4, DType::F32), || float(4, DType::Bool));
    let binary = |function| Binary { function, activation: Activation::None };
    let mut builder = GraphBuilder::new("truth");
    let x = builder.input("x", floats());
    let mask = builder.input("mask", truths());
    let zero = builder.constant("zero", float(1, DType::F32), Data::from_f32s(&[0.0]));
    let never = builder.constant("never", truths(), Data::from_bytes([0, 0, 0, 1]));
    let negative =
        node(&mut builder, Compare { relation: Relation::Less }, [x, zero], ("negative", truths()));
    let masked = binary(BinaryFunction::LogicalAnd);
    let masked = node(&mut builder, masked, [negative, mask], ("masked", truths()));
    let last = node(&mut builder, binary(BinaryFunction::LogicalOr), [masked, never], ("last", truths()));
    let turned = node(&mut builder, Unary { function: UnaryFunction::Neg }, [x], ("turned", floats()));
    let y = node(&mut builder, Select::default(), [last, turned, x], ("y", floats()));
    let rest = Unary { function: UnaryFunction::LogicalNot };
    let rest = node(&mut builder, rest, [last], ("rest", truths()));
    builder.finish(vec![y, rest]).expect("the graph is valid")
}

/// Sums of all inputs so far, and two tensors that change places with every run.
fn states() -> Graph {
    let mut builder = GraphBuilder::new("states");
    let ty = || float(2, DType::F32);
    let x = builder.input("x", ty());
    let mut state = |name: &str, initial: [f32; 2]| {
        let initial = builder.constant(format!("{name} at first"), ty(), Data::from_f32s(&initial));
        builder.state(name, initial)
    };
    let (sum, a, b) = (state("sum", [0.0; 2]), state("a", [1.0, 2.0]), state("b", [-1.0, 3.0]));
    let next = node(&mut builder, Add::default(), [sum, x], ("next", ty()));
    builder.keep(sum, next);
    builder.keep(a, b);
    builder.keep(b, a);
    builder.finish(vec![next, sum, a]).expect("the graph is valid")
}

fn chain() -> Graph {
    let mut builder = GraphBuilder::new("chain");
    let mut x = builder.input("x", float(1, DType::F32));
    let weight = builder.constant("weight", float(1, DType::F32), Data::from_f32s(&[2.0]));
    for i in 0..CHAIN {
        // Doubled and halved, in turn.
        let half = builder.constant(format!("half {i}"), float(1, DType::F32), Data::from_f32s(&[0.5]));
        let weight = if i % 2 == 0 { weight } else { half };
        x = node(
            &mut builder,
            FullyConnected::default(),
            [x, weight],
            (&format!("x{i}"), float(1, DType::F32)),
        );
    }
    builder.finish(vec![x]).expect("the graph is valid")
}
