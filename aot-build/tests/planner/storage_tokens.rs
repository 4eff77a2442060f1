//! `storage_tokens` against what TVM's graph planner did.
//!
//! Source: `tvm/storage_tokens.json`, recorded by running TVM 0.16.

use aot_build::plan::{TokenGraph, TokenKind, TokenNode, Value, storage_tokens};
use serde_json::Value as Json;

use crate::shared;

#[test]
fn tokens_are_those_of_tvm() {
    let Some(record) = shared::json("tokens_are_those_of_tvm", "tvm/storage_tokens.json") else {
        return;
    };
    let cases = record["cases"].as_array().expect("a list of cases");
    assert_eq!(cases.len(), 82);
    for case in cases {
        check(case);
    }
}

fn check(case: &Json) {
    let name = format!("{} ({})", case["name"], case["form"]);
    let (graph, nodes) = if case["form"] == "relay" { relay(case) } else { lowered(case) };
    let planned = storage_tokens(&graph).expect("a graph in order");
    for (node, position) in case["nodes"].as_array().expect("nodes").iter().zip(nodes) {
        let Some(position) = position else { continue };
        assert_eq!(planned.tokens[position], numbers(&node["expected_storage_ids"]), "{name}: {node}");
    }
    let expected = case["expected"]["storage_bytes"].as_object().expect("bytes of each storage");
    assert_eq!(planned.bytes.len(), expected.len(), "{name}");
    for (token, bytes) in planned.bytes.iter().enumerate() {
        assert_eq!(Some(*bytes as u64), expected[&token.to_string()].as_u64(), "{name}: token {token}");
    }
}

/// The graph JSON form: tensors are named by node and output.
fn lowered(case: &Json) -> (TokenGraph, Vec<Option<usize>>) {
    let mut graph = TokenGraph::default();
    for node in case["nodes"].as_array().expect("nodes") {
        let inputs = values(&node["inputs"]);
        graph.nodes.push(token_node(node, inputs));
    }
    graph.outputs = values(&case["outputs"]);
    let nodes = (0..graph.nodes.len()).map(Some).collect();
    (graph, nodes)
}

fn values(list: &Json) -> Vec<Value> {
    let pairs = list.as_array().expect("a list of values").iter().map(numbers);
    pairs.map(|pair| Value { node: pair[0], output: pair[1] }).collect()
}

/// The relay form: a node has the tensors of its arguments, and tuples have
/// those of their fields.
fn relay(case: &Json) -> (TokenGraph, Vec<Option<usize>>) {
    let mut graph = TokenGraph::default();
    let mut tensors: Vec<Vec<Value>> = Vec::new();
    let mut positions = Vec::new();
    for node in case["nodes"].as_array().expect("nodes") {
        let arguments = numbers(&node["args"]);
        let inputs = || arguments.iter().flat_map(|&argument| tensors[argument].clone()).collect();
        let own = match node["kind"].as_str().expect("a kind") {
            "tuple" => inputs(),
            "getitem" => {
                vec![tensors[arguments[0]][node["index"].as_u64().expect("an index") as usize]]
            }
            _ => {
                let node = token_node(node, inputs());
                let position = graph.nodes.len();
                let outputs = node.outputs.len();
                graph.nodes.push(node);
                positions.push(Some(position));
                tensors.push((0..outputs).map(|output| Value { node: position, output }).collect());
                continue;
            }
        };
        positions.push(None);
        tensors.push(own);
    }
    let output = case["output"].as_u64().expect("an output") as usize;
    graph.outputs = tensors[output].clone();
    (graph, positions)
}

fn token_node(node: &Json, inputs: Vec<Value>) -> TokenNode {
    let kind = match node["kind"].as_str().expect("a kind") {
        "param" | "const" => TokenKind::Given,
        _ if node["reshape_only"] == true => TokenKind::View,
        _ => TokenKind::Computed,
    };
    TokenNode { kind, inputs, outputs: numbers(&node["bytes"]), device: 0 }
}

fn numbers(list: &Json) -> Vec<usize> {
    let list = list.as_array().expect("a list of numbers").iter();
    list.map(|number| number.as_u64().expect("a number") as usize).collect()
}
