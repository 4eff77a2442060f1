//! Whole models, and what is said of those with a problem.

mod hostile;
mod regions;
mod tables;

use std::path::Path;

use aot_rt::DType;

use crate::error::Problem;
use crate::graph::{Data, Graph, Quantization, Shape};
use crate::import::Source;
use crate::ops::{FullyConnected, Op, Quantize};
use crate::test_folder::Folder;
use crate::weights::{Stored, npy, safetensors};

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

/// The graph of a text that names no files.
fn import(text: &str) -> Result<Graph, Vec<Problem>> {
    super::import(&mut Source::new(Path::new("folder/model.json"), 1 << 30), text.as_bytes())
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
fn several_problems_come_together_in_the_order_of_the_text() {
    let text = r#"{"format": "aot-net", "version": 1, "name": "bad",
"tensors": {
  "x": {"dtype": "f32", "shape": [1, 4, 4, 1]},
  "kernel": {"dtype": "f32", "shape": [2, 3, 3, 1], "data": {"npy": "kernel.npy"}},
  "q": {"dtype": "i8", "shape": [1, 32], "quantization": {"scale": [0], "zero_point": [0]}}
},
"inputs": ["x"], "outputs": ["q", "p"],
"nodes": [
  {"op": "conv2d", "inputs": ["x", "kernel", "bias"], "outputs": ["c"], "attributes": {"padding": "sane"}},
  {"op": "relu", "inputs": ["c"], "outputs": ["r"], "atributes": {}},
  {"op": "reshape", "inputs": ["r"], "outputs": ["flat"], "attributes": {"shape": [1, 32]}},
  {"op": "quantize", "inputs": ["flat"], "outputs": ["q"], "attributes": {"dtype": "i8"}},
  {"op": "dequantize", "inputs": ["q"], "outputs": ["d"]},
  {"op": "reshape", "inputs": ["d"], "outputs": ["e"], "attributes": {"shape": [1, 31]}}
]}"#;
    let problems: Vec<_> = import(text).unwrap_err().iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "line 4, column 69: tensor `kernel`: cannot read `kernel.npy`: No such file or directory (os error 2)",
            "line 5, column 58: tensor `q`: scale 0 is not a positive normal number",
            "line 7, column 35: there is no tensor `p`",
            "line 9, column 46: node #0 conv2d `c`: there is no tensor `bias`",
            "line 9, column 99: node #0 conv2d `c`: unknown variant `sane`, \
             expected one of `valid`, `same`, `explicit`\n  = help: did you mean `same`?",
            "line 10, column 53: node #1: unknown field `atributes`, \
             expected one of `op`, `name`, `inputs`, `outputs`, `attributes`, `regions`\n  = help: did you mean `attributes`?",
            "line 14, column 3: node #5 reshape `e`: f32 [1, 32] has another number of elements than [1, 31]",
        ]
    );
}

#[test]
fn nodes_run_in_the_order_of_the_file_where_they_can() {
    let text = r#"{"$schema": "net.schema.json", "format": "aot-net", "version": 1,
"tensors": {"x": {"dtype": "f32", "shape": [2]}}, "inputs": ["x"], "outputs": ["d", "x", "d"],
"nodes": [
  {"op": "add", "inputs": ["b", "c"], "outputs": ["d"]},
  {"op": "relu", "inputs": ["a"], "outputs": ["b"]},
  {"op": "logistic", "inputs": ["x"], "outputs": ["unused"]},
  {"op": "relu", "inputs": ["a"], "outputs": ["c"]},
  {"op": "logistic", "inputs": ["x"], "outputs": ["a"], "name": "first"}
]}"#;
    let graph = import(text).unwrap();
    let nodes: Vec<_> = graph.nodes.iter().map(|node| (node.name.as_str(), node.index)).collect();
    assert_eq!(nodes, [("unused", 2), ("first", 4), ("b", 1), ("c", 3), ("d", 0)]);
}

#[test]
fn digits() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/digits/model/digits.json");
    let imported = crate::import::import(&path, &crate::Config::default()).unwrap();
    assert_eq!(imported.graph.nodes.len(), 8);
    assert_eq!(imported.files.len(), 2);
    assert_eq!(imported.graph.tensor(imported.graph.outputs[0]).ty.to_string(), "f32 [1, 10]");
}

#[test]
fn the_example_of_the_documentation() {
    let text = include_str!("../../../../docs/net-json.md");
    let example = text.split("```json").nth(1).and_then(|text| text.split("```").next()).unwrap();
    let folder = Folder::new("documentation");
    let stored =
        |shape: &[usize], bytes| Stored { dtype: DType::F32, shape: Shape::new(shape).unwrap(), bytes };
    let weights = [("hidden.weight", stored(&[4, 2], &[0; 32][..]))];
    folder.write("xor.safetensors", safetensors::write(&weights).unwrap());
    folder.write("b1.npy", npy::write(&stored(&[4], &[0; 16])));
    folder.write("model.json", example);
    let imported = folder.import().unwrap();
    assert_eq!((imported.graph.nodes.len(), imported.files.len()), (2, 3));
}

#[test]
fn deep_nesting_is_a_problem_and_no_more() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(200_000), close.repeat(200_000));
        for (from, (line, owner)) in [
            (r#"{"values": [1, 2, 3.5, -4, 5e-1, 6]}"#, (6, "tensor `w`: ")),
            (r#"{"dtype": "i8"}"#, (12, "node #0 quantize `q`: ")),
            (r#"[3, 2]"#, (6, "tensor `w`: ")),
            (r#""q""#, (12, "node #0: ")),
        ] {
            let found = problems(from, &deep);
            let place = format!("line {line}, column ");
            assert!(found.starts_with(&place) && found.contains(owner), "{from} => {open}: {found}");
        }
    }
}

#[test]
fn a_cycle_is_named() {
    for (nodes, expect) in [
        (1, "line 2, column 2: nodes wait for each other: `t0` → `t0`"),
        (3, "line 2, column 2: nodes wait for each other: `t0` → `t1` → `t2` → `t0`"),
        (
            12,
            "line 2, column 2: nodes wait for each other: `t0` → `t1` → `t2` → `t3` → `t4` → `t5` → `t6` → `t7` \
             → `t8` → `t9` → 2 more → `t0`",
        ),
    ] {
        let node = |i: usize| {
            let before = (i + nodes - 1) % nodes;
            format!(r#"{{"op": "relu", "inputs": ["t{before}"], "outputs": ["t{i}"]}}"#)
        };
        let nodes: Vec<_> = (0..nodes).map(node).collect();
        let text = format!(
            r#"{{"format": "aot-net", "version": 1, "inputs": ["x"], "outputs": ["t0", "x"], "nodes":
[{}], "tensors": {{"x": {{"dtype": "f32", "shape": []}}}}}}"#,
            nodes.join(", ")
        );
        let problems = import(&text).unwrap_err();
        assert_eq!(problems.iter().map(ToString::to_string).collect::<Vec<_>>(), [expect]);
    }
}

impl Folder {
    /// Imports `model.json`.
    pub(crate) fn import(&self) -> Result<crate::import::Imported, crate::Error> {
        crate::import::import(&self.join("model.json"), &crate::Config::default())
    }
}

/// A model whose only constant is `data`, `i16 [2, 3]`.
fn with_data(data: &str) -> String {
    format!(
        r#"{{"format": "aot-net", "version": 1,
"tensors": {{
  "w": {{"dtype": "i16", "shape": [2, 3], "data": {data}}},
  "x": {{"dtype": "i16", "shape": [3]}}, "y": {{"dtype": "i16", "shape": [2, 3]}}
}},
"inputs": ["x"], "outputs": ["y"], "nodes": [{{"op": "add", "inputs": ["x", "w"], "outputs": ["y"]}}]}}"#
    )
}

#[test]
fn files_beside_the_model() {
    let folder = Folder::new("files");
    let bytes: Vec<u8> = (0..12).collect();
    let stored = |dtype, shape: &[usize], bytes| Stored { dtype, shape: Shape::new(shape).unwrap(), bytes };
    folder.write("w.npy", npy::write(&stored(DType::I16, &[2, 3], &bytes)));
    folder.write("wide.npy", npy::write(&stored(DType::I32, &[3], &bytes)));
    folder.write("cut.npy", &npy::write(&stored(DType::I16, &[2, 3], &bytes))[..139]);
    let tensors =
        [("weights", stored(DType::I16, &[2, 3], &bytes[..])), ("flat", stored(DType::I16, &[6], &bytes))];
    let tensors = safetensors::write(&tensors).unwrap();
    folder.write("w.safetensors", &tensors);
    folder.write("cut.safetensors", &tensors[..tensors.len() - 1]);
    for data in [
        r#"{"npy": "w.npy"}"#,
        r#"{"npy": "./w.npy"}"#,
        r#"{"safetensors": "w.safetensors", "tensor": "weights"}"#,
        r#"{"values": [256, 770, 1284, 1798, 2312, 2826]}"#,
    ] {
        folder.write("model.json", with_data(data));
        let imported = folder.import().unwrap();
        assert_eq!(imported.graph.tensors[1].data, Some(Data::from_bytes(&bytes[..])), "{data}");
        assert_eq!(imported.files.len(), if data.contains("values") { 1 } else { 2 });
    }
    for (data, expect) in [
        (
            r#"{"npy": "wide.npy"}"#,
            "line 3, column 58: tensor `w`: `wide.npy`: i32 [3], declared is i16 [2, 3]",
        ),
        (
            r#"{"npy": "cut.npy"}"#,
            "line 3, column 58: tensor `w`: `cut.npy`: i16 [2, 3] takes 12 bytes, there are 11",
        ),
        (r#"{"npy": "model.json"}"#, "line 3, column 58: tensor `w`: `model.json`: not a complete .npy file"),
        (
            r#"{"npy": "none.npy"}"#,
            "line 3, column 58: tensor `w`: cannot read `none.npy`: No such file or directory (os error 2)",
        ),
        (
            r#"{"safetensors": "w.safetensors", "tensor": "flat"}"#,
            "line 3, column 93: tensor `w`: `flat` in `w.safetensors`: i16 [6], declared is i16 [2, 3]",
        ),
        (
            r#"{"safetensors": "w.safetensors", "tensor": "weight"}"#,
            "line 3, column 93: tensor `w`: there is no tensor `weight` in `w.safetensors`\n  = help: did you mean `weights`?",
        ),
        (
            r#"{"safetensors": "cut.safetensors", "tensor": "weights"}"#,
            "line 3, column 66: tensor `w`: `cut.safetensors`: the tensors end at 24, the file at 23",
        ),
        (
            r#"{"safetensors": "w.npy", "tensor": "weights"}"#,
            "line 3, column 66: tensor `w`: `w.npy`: the header has 379676406402707 bytes, the file 132",
        ),
    ] {
        folder.write("model.json", with_data(data));
        let error = folder.import().unwrap_err();
        assert_eq!(error.problems.len(), 1);
        let found = error.problems[0].to_string();
        assert_eq!(found, expect, "{data}");
    }
}
