//! Graphs with edges that no real model shows all at once; `build.rs` generates their
//! code.

use aot_build::config::{InputPlacement, Optimize, Placement};
use aot_build::graph::{
    Data, Graph, GraphBuilder, NodeDeclaration, OutputDeclaration, Quantization, Shape, TensorId, TensorType,
};
use aot_build::ops::{Add, FullyConnected, Op};
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
    // Names of what the runtime has, too.
    models.push(("chain", model("Workspace", chain(), Inputs::Workspace, Outputs::Workspace)));
    models.push(("chain_caller", model("Model", chain(), Inputs::Caller, Outputs::Caller)));
    models
}

fn model(type_name: &str, graph: Graph, inputs: InputPlacement, outputs: Placement) -> Model {
    let config = Config { inputs, outputs, optimize: Optimize::Speed, ..Config::default() };
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

fn node(
    builder: &mut GraphBuilder,
    op: impl Into<Op>,
    inputs: [TensorId; 2],
    output: (&str, TensorType),
) -> TensorId {
    let name = format!("node of {}", output.0);
    let outputs = vec![OutputDeclaration { name: output.0.into(), ty: Some(output.1) }];
    let inputs = inputs.map(Some).to_vec();
    let results = builder.node(NodeDeclaration { name, index: 0, op: op.into(), inputs, outputs });
    results.first().copied().flatten().expect("the node is valid")
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
