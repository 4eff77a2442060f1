//! What is generated for small graphs.

use aot_rt::DType;

use super::generate;
use crate::config::{Optimize, Placement};
use crate::graph::{
    Data, Graph, GraphBuilder, NodeDeclaration, OutputDeclaration, Quantization, Shape, TensorType,
};
use crate::ops::FullyConnected;
use crate::{Config, Model, SourceInfo, compile};

fn quantized(shape: [usize; 2], scale: f32, zero_point: i32) -> TensorType {
    let quantization = Some(Quantization::per_tensor(scale, zero_point).unwrap());
    TensorType { quantization, ..TensorType::new(DType::I8, Shape::new(shape).unwrap()) }
}

fn dense() -> Graph {
    let mut builder = GraphBuilder::new("dense");
    let x = builder.input("input_1", quantized([1, 3], 0.1, 0));
    let w = builder.constant("w", quantized([2, 3], 0.1, 5), Data::from_i8s(&[10, 20, 30, 40, 50, 60]));
    let y = builder.node(NodeDeclaration {
        name: "dense/MatMul".into(),
        index: 0,
        op: FullyConnected::default().into(),
        inputs: vec![Some(x), Some(w), None],
        outputs: vec![OutputDeclaration {
            name: "Identity".into(),
            ty: Some(quantized([1, 2], 1.0 / 256.0, -128)),
        }],
    });
    builder.finish(vec![y[0].unwrap()]).unwrap()
}

fn model(graph: Graph, config: Config) -> Model {
    let compiled = compile(graph, &config).unwrap();
    let source = SourceInfo {
        file: "dense.json".into(),
        bytes: 1234,
        sha256: "ab".repeat(32),
        ..SourceInfo::default()
    };
    Model { type_name: "Dense".into(), source, compiled, config }
}

#[test]
fn dump() {
    for config in [
        Config::default(),
        Config {
            optimize: Optimize::Size,
            inputs: Placement::Caller,
            outputs: Placement::Caller,
            ..Config::default()
        },
    ] {
        let generated = generate(&model(dense(), config), &[]);
        println!("{}", generated.file("pub", "include_bytes!(\"dense.bin\")"));
    }
}
