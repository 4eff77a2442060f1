//! Signatures, subgraphs, open extents, and shapes that the file computes.

use super::files::{self, F32, File, I32};
use super::writer::Table;
use crate::Config;
use crate::config::Value;
use crate::graph::Graph;

/// Fields of `Model`, `SubGraph`, `SignatureDef`, `TensorMap` and `Tensor`.
const SIGNATURES: usize = 7;
const SUBGRAPH_NAME: usize = 4;
const KEY: usize = 2;
const SUBGRAPH: usize = 4;
const SHAPE_SIGNATURE: usize = 7;

fn config(settings: &[(&str, Value)]) -> Config {
    let mut config = Config::default();
    settings.iter().for_each(|(key, value)| config.set(key, value.clone()).unwrap());
    config
}

fn read(bytes: &[u8], settings: &[(&str, Value)]) -> Result<Graph, String> {
    let graph = super::super::read(bytes, "model".into(), &config(settings));
    graph.map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

fn port(name: &str, tensor: u32) -> Table {
    Table::default().with(0, name).with(1, tensor)
}

fn signature(key: &str, subgraph: u32, inputs: Vec<Table>, outputs: Vec<Table>) -> Table {
    Table::default().with(0, inputs).with(1, outputs).with(KEY, key).with(SUBGRAPH, subgraph)
}

/// Two subgraphs, `small` (2 elements) and `large` (3); their tensors are `x` and `y`.
fn two_subgraphs(signatures: Vec<Table>) -> Vec<u8> {
    let subgraphs = [("small", 2), ("large", 3)].map(|(name, extent)| {
        let mut file = File::new();
        let x = file.tensor("x", F32, &[extent]);
        let y = file.tensor("y", F32, &[extent]);
        file.operator(0, &[x, x], y, Some((11, Table::default())));
        (file.inputs, file.outputs) = (vec![x], vec![y]);
        (file.main_subgraph().with(SUBGRAPH_NAME, name), file)
    });
    let [(small, file), (large, _)] = subgraphs;
    let mut file = file;
    file.model.set(SIGNATURES, signatures);
    file.bytes_of(vec![small, large])
}

fn ports(graph: &Graph) -> Vec<String> {
    let ports = graph.inputs.iter().chain(&graph.outputs);
    ports.map(|id| format!("{}: {}", graph.tensor(*id).name, graph.tensor(*id).ty)).collect()
}

#[test]
fn a_signature_or_a_subgraph_is_chosen_by_name() {
    let signatures = vec![
        signature("train", 0, vec![port("image", 0)], vec![port("loss", 1)]),
        signature("serve", 1, vec![port("image", 0)], vec![port("score", 1)]),
    ];
    let bytes = two_subgraphs(signatures);
    for (settings, expect) in [
        (vec![], ["image: f32 [2]", "loss: f32 [2]"]),
        (vec![("signature", Value::from("serve"))], ["image: f32 [3]", "score: f32 [3]"]),
        (vec![("subgraph", Value::from("large"))], ["image: f32 [3]", "score: f32 [3]"]),
        (vec![("subgraph", Value::from("small"))], ["image: f32 [2]", "loss: f32 [2]"]),
    ] {
        assert_eq!(ports(&read(&bytes, &settings).unwrap()), expect, "{settings:?}");
    }
    for (settings, expect) in [
        (
            vec![("signature", Value::from("server"))],
            "key `signature`: the file has no signature `server`\n  = help: it has `train`, `serve`",
        ),
        (
            vec![("subgraph", Value::from("main"))],
            "key `subgraph`: the file has no subgraph `main`\n  = help: it has `small`, `large`",
        ),
        (
            vec![("signature", Value::from("serve")), ("subgraph", Value::from("large"))],
            "key `subgraph`: `signature` and `subgraph` are both set: a signature names one",
        ),
    ] {
        assert_eq!(read(&bytes, &settings).unwrap_err(), expect);
    }
    let none = read(&two_subgraphs(Vec::new()), &[("signature", Value::from("serve"))]).unwrap_err();
    assert_eq!(
        none,
        "key `signature`: the file has no signature `serve`\n  = help: it has no signatures at all"
    );
}

/// With two, neither is more right than the other.
#[test]
fn names_of_several_signatures_are_not_mixed() {
    let named = |key, name| signature(key, 0, vec![port(name, 0)], vec![port("score", 1)]);
    let bytes = two_subgraphs(vec![named("a", "image"), named("b", "picture")]);
    assert_eq!(ports(&read(&bytes, &[]).unwrap()), ["x: f32 [2]", "y: f32 [2]"]);
    let chosen = read(&bytes, &[("signature", Value::from("b"))]).unwrap();
    assert_eq!(ports(&chosen), ["picture: f32 [2]", "score: f32 [2]"]);
}

#[test]
fn damaged_signatures_are_refused() {
    for (signature, expect) in [
        (signature("s", 2, vec![], vec![]), "signature `s` is of subgraph 2, there are 2"),
        (
            signature("s", 0, vec![port("image", 1)], vec![]),
            "input `image` of signature `s` is tensor #1, which is no input of its subgraph",
        ),
        (
            signature("s", 0, vec![], vec![port("score", u32::MAX)]),
            "output `score` of signature `s` is tensor #4294967295, which is no output of its subgraph",
        ),
    ] {
        assert_eq!(read(&two_subgraphs(vec![signature]), &[]).unwrap_err(), expect);
    }
    let bytes = two_subgraphs(vec![signature("s", 0, vec![port("image", 0)], vec![])]);
    assert!(read(&bytes, &[("signature", Value::from("s"))]).unwrap().outputs.is_empty());
}

/// A sum with a leading extent that is open, as converters write it.
fn open_sum(x: &[i32], axes: &[i32]) -> Vec<u8> {
    let mut file = File::new();
    let (x, y) = (file.tensor("x", F32, x), file.tensor("y", F32, x));
    file.operator(0, &[x, x], y, Some((11, Table::default())));
    (file.inputs, file.outputs) = (vec![x], vec![y]);
    for tensor in &mut file.tensors {
        tensor.set(SHAPE_SIGNATURE, axes.to_vec());
    }
    file.bytes()
}

fn shapes(shapes: &[&[i64]]) -> Value {
    Value::from(shapes.iter().map(|shape| shape.to_vec()).collect::<Vec<_>>())
}

#[test]
fn open_extents_are_bound() {
    let batch = || ("batch", Value::from(4));
    for (x, axes, settings, expect) in [
        (vec![1, 3], vec![-1, 3], vec![], "[1, 3]"),
        (vec![1, 3], vec![-1, 3], vec![batch()], "[4, 3]"),
        (vec![1, 1], vec![-1, -1], vec![("shapes", shapes(&[&[2, 5]]))], "[2, 5]"),
        (vec![1, 1], vec![-1, -1], vec![batch(), ("shapes", shapes(&[&[2, 5]]))], "[2, 5]"),
        (vec![1, 3], vec![], vec![("shapes", shapes(&[&[1, 3]]))], "[1, 3]"),
    ] {
        let graph = read(&open_sum(&x, &axes), &settings).unwrap();
        let expect = [format!("x: f32 {expect}"), format!("y: f32 {expect}")];
        assert_eq!(ports(&graph), expect, "{axes:?} {settings:?}");
    }
    for (axes, settings, expect) in [
        (
            vec![-1, -1],
            vec![batch()],
            "tensor `x`: shape [-1, -1] is open\n  = help: state the shapes of the inputs, `shapes = [[…]]`, \
             or convert the model with fixed ones",
        ),
        (vec![], vec![batch()], "key `batch`: no input leaves its first extent open"),
        (
            vec![-1, 1],
            vec![("shapes", shapes(&[&[2, 3]]))],
            "tensor `x`: the key `shapes` states [2, 3], the file [-1, 1]",
        ),
        (vec![-1, 1], vec![("shapes", shapes(&[&[2, 1], &[1]]))], "key `shapes`: 2 shapes for 1 inputs"),
    ] {
        let problems = read(&open_sum(&[1, 1], &axes), &settings).unwrap_err();
        assert!(problems.starts_with(expect), "expected {expect}, found {problems}");
    }
}

/// Flattens all axes but the first one, which is open: the new shape is computed from the
/// old one, as converters do it.
fn flatten() -> Vec<u8> {
    let mut file = File::new();
    let x = file.tensor("x", F32, &[1, 2, 3]);
    let shape = file.tensor("shape", I32, &[3]);
    let [begin, end, one] = [0, 1, 1].map(|value| file.integers("number", &[1], &[value]));
    let first = file.tensor("first", I32, &[]);
    let rest = file.integers("rest", &[], &[6]);
    let target = file.tensor("target", I32, &[2]);
    let y = file.tensor("y", F32, &[1, 6]);
    file.operator(77, &[x], shape, Some((55, Table::default().with(0, I32))));
    file.operator(45, &[shape, begin, end, one], first, Some((32, Table::default().with(4, 1_i32))));
    file.operator(83, &[first, rest], target, Some((59, Table::default().with(0, 2_i32))));
    file.operator(22, &[x, target], y, None);
    (file.inputs, file.outputs) = (vec![x], vec![y]);
    for (tensor, signature) in [(x, [-1, 2, 3].as_slice()), (y, &[-1, 6])] {
        file.tensors[usize::try_from(tensor).unwrap()].set(SHAPE_SIGNATURE, signature.to_vec());
    }
    file.bytes()
}

#[test]
fn arithmetic_of_shapes_is_done_when_the_file_is_read() {
    for (batch, expect) in [(1, "[1, 6]"), (5, "[5, 6]")] {
        let graph = read(&flatten(), &[("batch", Value::from(batch))]).unwrap();
        assert_eq!(graph.nodes.len(), 1, "only the reshape is left");
        assert_eq!(graph.tensor(graph.outputs[0]).ty.shape.to_string(), expect);
    }
}

/// `RANGE`: a row of the sum of it and `x`.
fn range([start, limit, delta]: [i32; 3], length: i32) -> File {
    let mut file = File::new();
    let x = file.tensor("x", I32, &[length]);
    let operands = [start, limit, delta].map(|value| file.integers("operand", &[], &[value]));
    let range = file.tensor("range", I32, &[length]);
    let y = file.tensor("y", I32, &[length]);
    file.operator(96, &operands, range, Some((73, Table::default())));
    file.operator(0, &[x, range], y, Some((11, Table::default())));
    (file.inputs, file.outputs) = (vec![x], vec![y]);
    file
}

#[test]
fn ranges() {
    for (operands, expect) in [
        ([0, 4, 1], vec![0, 1, 2, 3]),
        ([2, 9, 3], vec![2, 5, 8]),
        ([5, -1, -2], vec![5, 3, 1]),
        ([i32::MIN, i32::MAX, i32::MAX], vec![i32::MIN, -1, i32::MAX - 1]),
    ] {
        let graph = range(operands, i32::try_from(expect.len()).unwrap()).read().unwrap();
        let range = graph.tensors.iter().find(|tensor| tensor.name == "range").unwrap();
        assert_eq!(range.data, Some(crate::graph::Data::from_i32s(&expect)), "{operands:?}");
    }
    for (operands, expect) in [
        ([0, 4, 0], "the step is 0"),
        ([4, 0, 1], "the range has no element"),
        ([0, 0, 1], "the range has no element"),
        ([0, i32::MAX, 1], "the range has 2147483647 elements, the limit is 1048576"),
        ([0, 5, 1], "`range` is declared as [4], computed is [5]"),
    ] {
        let problems = range(operands, 4).problems();
        assert!(problems.contains(expect), "expected {expect}, found {problems}");
    }
}

#[test]
fn a_rank_is_a_constant() {
    let mut file = files::one(110, F32, [&[1, 2, 6], &[]], None, Some((86, Table::default())));
    file.tensors[1].set(files::TYPE, I32);
    let graph = file.read().unwrap();
    assert_eq!(graph.tensor(graph.outputs[0]).data, Some(crate::graph::Data::from_i32s(&[3])));
}
