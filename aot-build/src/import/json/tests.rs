//! Documents with a problem, and what is said of it; whole models.

use std::path::Path;

use aot_rt::DType;

use crate::error::Problem;
use crate::graph::{Graph, Quantization};
use crate::import::Source;
use crate::ops::{FullyConnected, Op, Quantize};

/// A model without a problem; the tests put one in.
const GOOD: &str = r#"{
  "format": "aot-net",
  "version": 1,
  "tensors": {
    "x": {"dtype": "f32", "shape": [1, 2]},
    "w": {"dtype": "f32", "shape": [3, 2], "data": {"values": [1, 2, 3.5, -4, 5e-1, 6]}},
    "y": {"dtype": "i8", "shape": [1, 3], "quantization": {"scale": [0.1], "zero_point": [3]}}
  },
  "inputs": ["x"],
  "outputs": ["y"],
  "nodes": [
    {"op": "quantize", "name": "q", "inputs": ["h"], "outputs": ["y"], "attributes": {"dtype": "i8"}},
    {"op": "fully_connected", "inputs": ["x", "w", null], "outputs": ["h"]}
  ]
}
"#;

fn import(text: &str) -> Result<Graph, Vec<Problem>> {
    super::import(&mut Source::new(Path::new("folder/model.json")), text.as_bytes())
}

/// What is said of `GOOD` where `from` has become `to`.
fn problems(from: &str, to: &str) -> String {
    assert_eq!(GOOD.matches(from).count(), 1, "{from}");
    match import(&GOOD.replace(from, to)) {
        Ok(_) => "nothing".into(),
        Err(problems) => problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    }
}

#[track_caller]
fn check(table: &[(&str, &str, &str)]) {
    for (from, to, expect) in table {
        assert_eq!(problems(from, to), *expect, "{from} => {to}");
    }
}

#[test]
fn a_model_without_a_problem() {
    let graph = import(GOOD).unwrap();
    assert_eq!(graph.name, "model");
    let named: Vec<_> = graph.tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    assert_eq!(named, ["x", "w", "h", "y"]);
    let nodes: Vec<_> = graph.nodes.iter().map(|node| (node.name.as_str(), node.index, &node.op)).collect();
    let (fully_connected, quantize): (Op, Op) =
        (FullyConnected::default().into(), Quantize { dtype: DType::I8 }.into());
    assert_eq!(nodes, [("h", 1, &fully_connected), ("q", 0, &quantize)]);
    let quantization = Quantization::per_tensor(0.1, 3).unwrap();
    assert_eq!(graph.tensors[3].ty.quantization, Some(quantization));
    let values = [1.0_f32, 2.0, 3.5, -4.0, 0.5, 6.0].map(f32::to_le_bytes).concat();
    assert_eq!(graph.tensors[1].data.as_ref().unwrap().bytes(), values);
}

#[test]
fn digits() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/digits/model/digits.json");
    let imported = crate::import::import(&path).unwrap();
    assert_eq!(imported.graph.nodes.len(), 8);
    assert_eq!(imported.files.len(), 2);
    assert_eq!(imported.graph.tensor(imported.graph.outputs[0]).ty.to_string(), "f32 [1, 10]");
}
