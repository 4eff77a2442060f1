//! What is generated for small graphs.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use aot_rt::{Activate, DType};

use super::generate;
use crate::config::{Calls, Device, InputPlacement, Optimize, Placement};
use crate::graph::{
    Data, Graph, GraphBuilder, NodeDeclaration, OutputDeclaration, Quantization, Shape, TensorId, TensorType,
};
use crate::ops::{Conv2d, FullyConnected, Op, Padding2d, Softmax};
use crate::{Config, Model, SourceInfo, compile};

fn quantized<const RANK: usize>(shape: [usize; RANK], scale: f32, zero_point: i32) -> TensorType {
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
            open: Vec::new(),
        }],
    });
    builder.finish(vec![y[0].unwrap()]).unwrap()
}

/// Two layers of the same extents: they share an instance of the kernel.
fn convolutions() -> Graph {
    let mut builder = GraphBuilder::new("convolutions");
    let image = || quantized([1, 4, 4, 1], 0.5, -3);
    let mut x = builder.input("image", image());
    for i in 0..2 {
        let data = Data::from_i8s(&[i, 1, 2, 3, 4, 5, 6, 7, 8]);
        let w = builder.constant(format!("w{i}"), quantized([1, 3, 3, 1], 0.125, 0), data);
        let name = format!("conv {i}\n");
        let results = builder.node(NodeDeclaration {
            name: name.clone(),
            index: 0,
            op: Conv2d { padding: Padding2d::Same, ..Conv2d::default() }.into(),
            inputs: vec![Some(x), Some(w), None],
            outputs: vec![OutputDeclaration { name, ty: Some(image()), open: Vec::new() }],
        });
        x = results[0].unwrap();
    }
    builder.finish(vec![x]).unwrap()
}

/// A layer for a device of its own, and what makes probabilities of its result on another.
fn probabilities() -> Graph {
    let mut builder = GraphBuilder::new("probabilities");
    let x = builder.input("input_1", quantized([1, 3], 0.1, 0));
    let w = builder.constant("w", quantized([2, 3], 0.1, 5), Data::from_i8s(&[10, 20, 30, 40, 50, 60]));
    let mut node = |name: &str, op: Op, inputs: Vec<Option<TensorId>>, scale, zero_point| {
        let output = quantized([1, 2], scale, zero_point);
        let outputs = vec![OutputDeclaration { name: name.into(), ty: Some(output), open: Vec::new() }];
        builder.node(NodeDeclaration { name: name.into(), index: 0, op, inputs, outputs })[0]
    };
    let y = node("dense", FullyConnected::default().into(), vec![Some(x), Some(w), None], 0.5, 1);
    let y = node("softmax", Softmax::default().into(), vec![y], 1.0 / 256.0, -128);
    builder.finish(vec![y.unwrap()]).unwrap()
}

fn device(name: &str, operator: &str, activate: Activate) -> Device {
    let (name, operators) = (name.to_owned(), vec![operator.to_owned()]);
    Device { name, operators, activate, ..Device::default() }
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

/// Compares with `snapshots/NAME.rs`; writes it where `UPDATE_SNAPSHOTS` is set.
fn snapshot(name: &str, graph: Graph, config: Config) {
    let generated = generate(&model(graph, config), &["/// Finds nothing.".into()]).unwrap();
    let text = generated.file("pub(crate)", &format!("include_bytes!(\"{name}.bin\")"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/codegen/snapshots/{name}.rs"));
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(path).unwrap());
    assert!(!text.contains("unsafe"));
    is_formatted(&text);
}

/// Generated code is as rustfmt would have it, where rustfmt is installed.
fn is_formatted(text: &str) {
    let rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024", "--emit", "stdout"])
        .current_dir(std::env::temp_dir())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut rustfmt) = rustfmt else {
        // Past the harness, which hides what passing tests print with macros.
        let _ = writeln!(std::io::stderr(), "skipped: there is no rustfmt");
        return;
    };
    rustfmt.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = rustfmt.wait_with_output().unwrap();
    if output.status.success() {
        assert_eq!(text, String::from_utf8(output.stdout).unwrap());
    }
}

#[test]
fn dense_in_the_workspace() {
    snapshot("dense", dense(), Config::default());
}

#[test]
fn specialised_convolutions() {
    snapshot("convolutions", convolutions(), Config::default());
}

#[test]
fn dense_for_size_in_the_callers_arrays() {
    let config = Config {
        optimize: Optimize::Size,
        inputs: InputPlacement::Caller,
        outputs: Placement::Caller,
        ..Config::default()
    };
    snapshot("dense_size_caller", dense(), config);
}

#[test]
fn layers_on_devices() {
    let devices =
        vec![device("npu", "fully_connected", Activate::Caller), device("dsp", "softmax", Activate::PerRun)];
    snapshot("devices", probabilities(), Config { devices, ..Config::default() });
}

#[test]
fn names_of_devices_that_clash() {
    for (names, expect) in [
        (["dense", "b"], "a device cannot be called `dense`"),
        (["a", "result"], "a device cannot be called `result`"),
        (["a", "two words"], "a device cannot be called `two words`"),
        (["a1", "a_1"], "the names of devices `a1` and `a_1` clash"),
        (["a", "a_mut"], "the names of devices `a` and `a_mut` clash"),
        (["a", "error"], "a kind of devices cannot be called `error`"),
    ] {
        let devices = [
            device(names[0], "fully_connected", Activate::PerRun),
            device(names[1], "softmax", Activate::PerRun),
        ];
        let config = Config { devices: devices.to_vec(), ..Config::default() };
        let problem = generate(&model(probabilities(), config), &[]).unwrap_err();
        assert_eq!(problem.message, expect);
    }
}

#[test]
fn dense_by_tensor_descriptions() {
    let config = Config { calls: Calls::Packed, ..Config::default() };
    snapshot("dense_packed", dense(), config);
}

#[test]
fn convolutions_bound_by_name() {
    let config = Config { calls: Calls::Registry, ..Config::default() };
    snapshot("convolutions_registry", convolutions(), config);
}

#[test]
fn attributes_stand_before_the_struct() {
    let model = model(dense(), Config::default());
    for (attributes, expect) in [
        (vec![], "    #[derive(Debug, Default)]\n    pub struct"),
        (vec!["# [derive (Clone , Debug)]"], "    #[derive(Default)]\n    pub struct"),
        (vec!["#[repr(align(32))]"], "    #[repr(align(32))]\n    /// Runner for"),
        (vec!["# [doc = \" D.\"]"], "    # [doc = \" D.\"]\n    ///\n    /// Runner for"),
    ] {
        let attributes: Vec<String> = attributes.into_iter().map(Into::into).collect();
        let body = generate(&model, &attributes).unwrap().body;
        assert!(body.contains(expect), "{expect}\n{body}");
    }
}

#[test]
fn what_fits_no_limit_is_named() {
    let config = Config { ram_limit: Some(4), flash_limit: Some(10), ..Config::default() };
    let problems = compile(dense(), &config).unwrap_err();
    let messages: Vec<_> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        [
            "key `ram_limit`: needs 5 bytes of RAM, the limit is 4 (1 too many)\n  \
             - at step 0 `fully_connected_0` are alive: `input_1` 3, `Identity` 2\n  \
             = help: `inputs = \"caller\"` brings it to 2 (the caller holds 3); \
             `outputs = \"caller\"` brings it to 3 (the caller holds 2); \
             `inputs = \"caller\"` and `outputs = \"caller\"` together bring it to 0 (the caller holds 5)",
            "key `flash_limit`: needs 11 bytes of flash for constants, the limit is 10 (1 too many)\n  \
             - most of it is for `fully_connected_0` 11",
        ]
    );
}
