//! Generates the code that the tests run.

#[path = "src/weights.rs"]
mod weights;

use std::path::{Path, PathBuf};
use std::{env, fs};

use aot_build::config::{Calls, Device, InputPlacement, Memory, Placement, Pool};
use aot_build::graph::{
    Data, Graph, GraphBuilder, NodeDeclaration, OutputDeclaration, Shape, TensorId, TensorType,
};
use aot_build::ops::{
    Activation, Add, Binary, BinaryFunction, Compare, Conv2d, FullyConnected, If, Op, Padding2d, Relation,
    Relu, Unary, UnaryFunction, While,
};
use aot_build::{Builder, Config, Model, SourceInfo, compile};
use aot_rt::{Activate, DType};
use weights::{CELLS, FIRST, LAST, SCORES, WITHIN};

fn main() {
    println!("cargo::rerun-if-env-changed=AOT_SHARED");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/weights.rs");
    println!("cargo::rustc-check-cfg=cfg(has_kws)");
    for (name, activate) in
        [("per_run", Activate::PerRun), ("first_use", Activate::FirstUse), ("caller", Activate::Caller)]
    {
        let config = Config { devices: three_devices(activate), ..Config::default() };
        write(name, "Three", three(), config);
    }
    for (name, calls) in [("packed", Calls::Packed), ("bound", Calls::Registry)] {
        let devices = three_devices(Activate::PerRun).into_iter();
        let devices = devices.map(|device| Device { calls, ..device }).collect();
        write(name, "Three", three(), Config { devices, calls, ..Config::default() });
    }
    let arrays = Config {
        devices: three_devices(Activate::PerRun),
        inputs: InputPlacement::Caller,
        outputs: Placement::Caller,
        ..Config::default()
    };
    write("arrays", "Three", three(), arrays);
    let npu = |device: Device| Config { devices: vec![device], ..Config::default() };
    let device = || Device { name: "npu".into(), ..Device::default() };
    write("loops", "Loops", loops(), npu(Device { operators: names(&["fully_connected"]), ..device() }));
    write("sums", "Sums", sums(), npu(Device { operators: names(&["fully_connected"]), ..device() }));
    let on_npu = || npu(Device { operators: names(&["fully_connected"]), ..device() });
    let config = Config { inputs: InputPlacement::Rows, memory: Memory::Min, ..on_npu() };
    write("rows", "Rows", rows(), config);
    write("beside_packed", "Three", three(), Config { calls: Calls::Packed, ..on_npu() });
    write("one_node", "Three", three(), npu(Device { nodes: names(&["last"]), ..device() }));
    write(
        "one_operator",
        "Three",
        three(),
        npu(Device { operators: names(&["fully_connected"]), ..device() }),
    );
    write("whole_model", "Three", three(), npu(Device { operators: names(&["*"]), ..device() }));
    write("crossed", "Crossed", crossed(), apart());
    write("not_crossed", "Crossed", crossed(), Config::default());
    published();
}

/// Two devices that share no memory.
fn apart() -> Config {
    let device = |name: &str, nodes: &[&str]| Device {
        name: name.into(),
        nodes: names(nodes),
        kind: Some("npu".into()),
        ..Device::default()
    };
    let pool = |unit: &str| {
        let pool = Pool { reach: Some(names(&["cpu", unit])), ..Pool::default() };
        (format!("{unit}_ram"), pool)
    };
    Config {
        devices: vec![device("left", &["first", "back"]), device("right", &["within", "scores"])],
        pools: ["left", "right"].map(pool).into(),
        ..Config::default()
    }
}

/// A published int8 model: all its convolutions on a device, and all of it.
fn published() {
    let shared = env::var_os("AOT_SHARED").map(PathBuf::from);
    let shared = shared.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"));
    let folder = shared.join("models/mlperf_kws_int8");
    let model = folder.join("model.tflite");
    if !model.is_file() {
        return;
    }
    println!("cargo::rustc-cfg=has_kws");
    println!("cargo::rustc-env=KWS_FOLDER={}", folder.display());
    let conv2d = Builder::new(&model).name("Convolutions").device("npu", |node| node.operator() == "conv2d");
    conv2d.compile().expect("the model compiles");
    let all = Builder::new(&model).name("Everything").device("npu", |_| true);
    all.compile().expect("the model compiles");
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// Two devices of one kind, one of another, which runs two nodes in one call.
fn three_devices(activate: Activate) -> Vec<Device> {
    let npu = |name: &str, nodes: &[&str]| Device {
        name: name.into(),
        nodes: names(nodes),
        kind: Some("npu".into()),
        activate,
        ..Device::default()
    };
    let dsp =
        Device { name: "dsp".into(), patterns: vec![names(&["add", "neg"])], activate, ..Device::default() };
    vec![npu("left", &["first", "last"]), npu("right", &["within"]), dsp]
}

fn write(name: &str, type_name: &str, graph: Graph, config: Config) {
    let problems =
        |problems: Vec<aot_build::Problem>| problems.iter().map(ToString::to_string).collect::<String>();
    let compiled = compile(graph, &config).map_err(problems).expect("the graph compiles");
    let source = SourceInfo { file: format!("{name}.json"), sha256: "0".repeat(64), ..SourceInfo::default() };
    let model = Model { type_name: type_name.into(), source, compiled, config };
    let generated = aot_build::codegen::generate(&model, &[]).expect("the names are good");
    let folder = env::var_os("OUT_DIR").map(PathBuf::from).expect("cargo sets OUT_DIR");
    let text = generated.file("pub", &format!("include_bytes!(\"{name}.bin\")"));
    fs::write(folder.join(format!("{name}.rs")), text).expect("OUT_DIR can be written");
    fs::write(folder.join(format!("{name}.bin")), &generated.constants).expect("OUT_DIR can be written");
}

fn float<const RANK: usize>(shape: [usize; RANK]) -> TensorType {
    TensorType::new(DType::F32, Shape::new(shape).expect("the shape is small"))
}

fn node(
    builder: &mut GraphBuilder,
    name: &str,
    op: impl Into<Op>,
    inputs: &[TensorId],
    ty: TensorType,
) -> TensorId {
    let output = OutputDeclaration { name: name.into(), ty: Some(ty), open: Vec::new() };
    let node = NodeDeclaration {
        name: name.into(),
        index: 0,
        op: op.into(),
        inputs: inputs.iter().copied().map(Some).collect(),
        outputs: vec![output],
    };
    builder.node(node)[0].expect("the node is valid")
}

fn layer(builder: &mut GraphBuilder, name: &str, x: TensorId, weights: &[[f32; 4]]) -> TensorId {
    let ty = float([weights.len(), 4]);
    let data = Data::from_f32s(&weights.concat());
    let weights_id = builder.constant(format!("weights of {name}"), ty, data);
    node(builder, name, FullyConnected::default(), &[x, weights_id], float([1, weights.len()]))
}

const fn unary(function: UnaryFunction) -> Unary {
    Unary { function }
}

/// `last(if flag { within(t) } else { |t| })` with `t = -(first(x) + x)`.
fn three() -> Graph {
    let mut builder = GraphBuilder::new("three");
    let x = builder.input("x", float([1, 4]));
    let flag = builder.input("flag", TensorType::new(DType::Bool, Shape::new([1]).expect("one extent")));
    let first = layer(&mut builder, "first", x, &FIRST);
    let sum = node(&mut builder, "sum", Add::default(), &[first, x], float([1, 4]));
    let turned = node(&mut builder, "turned", unary(UnaryFunction::Neg), &[sum], float([1, 4]));
    let branch = |name: &str, weights: Option<&[[f32; 4]]>| {
        let mut builder = GraphBuilder::new(name);
        let t = builder.input("t", float([1, 4]));
        let y = match weights {
            Some(weights) => layer(&mut builder, name, t, weights),
            None => node(&mut builder, name, unary(UnaryFunction::Abs), &[t], float([1, 4])),
        };
        builder.finish(vec![y]).expect("the branch is valid")
    };
    let regions = [branch("within", Some(&WITHIN)).into(), branch("flat", None).into()];
    let chosen = node(&mut builder, "choice", If { regions }, &[flag, turned], float([1, 4]));
    let last = layer(&mut builder, "last", chosen, &LAST);
    builder.finish(vec![last]).expect("the graph is valid")
}

/// `first` is applied three times; the count is on the CPU.
fn loops() -> Graph {
    let count = || TensorType::new(DType::I32, Shape::new([1]).expect("one extent"));
    let region = |name: &str| {
        let mut builder = GraphBuilder::new(name);
        let inputs = [builder.input("i", count()), builder.input("v", float([1, 4]))];
        (builder, inputs)
    };
    let (mut condition, [i, _]) = region("condition");
    let three = condition.constant("three", count(), Data::from_i32s(&[3]));
    let truth = TensorType::new(DType::Bool, Shape::new([1]).expect("one extent"));
    let less = node(&mut condition, "less", Compare { relation: Relation::Less }, &[i, three], truth);
    let condition = condition.finish(vec![less]).expect("the condition is valid");
    let (mut body, [i, v]) = region("body");
    let one = body.constant("one", count(), Data::from_i32s(&[1]));
    let next = node(&mut body, "next", Add::default(), &[i, one], count());
    let v = layer(&mut body, "within", v, &FIRST);
    let body = body.finish(vec![next, v]).expect("the body is valid");

    let mut builder = GraphBuilder::new("loops");
    let x = builder.input("x", float([1, 4]));
    let zero = builder.constant("zero", count(), Data::from_i32s(&[0]));
    let [count_name, result] =
        ["count", "result"].map(|name| OutputDeclaration { name: name.into(), ty: None, open: Vec::new() });
    let results = builder.node(NodeDeclaration {
        name: "loop".into(),
        index: 0,
        op: While { regions: [condition.into(), body.into()] }.into(),
        inputs: vec![Some(zero), Some(x)],
        outputs: vec![
            OutputDeclaration { ty: Some(count()), ..count_name },
            OutputDeclaration { ty: Some(float([1, 4])), ..result },
        ],
    });
    let result = results[1].expect("the loop is valid");
    builder.finish(vec![result]).expect("the graph is valid")
}

/// The sum of `first(x)` of all runs, limited from below: a state.
fn sums() -> Graph {
    let mut builder = GraphBuilder::new("sums");
    let x = builder.input("x", float([1, 4]));
    let zero = builder.constant("zero", float([1, 4]), Data::from_f32s(&[0.0; 4]));
    let sum = builder.state("sum", zero);
    let product = Binary { function: BinaryFunction::Mul, activation: Activation::None };
    let first = layer(&mut builder, "first", x, &FIRST);
    let next = node(&mut builder, "next", Add::default(), &[sum, first], float([1, 4]));
    builder.keep(sum, next);
    let square = node(&mut builder, "square", product, &[next, next], float([1, 4]));
    let limited =
        node(&mut builder, "limited", Relu { activation: Activation::Relu }, &[square], float([1, 4]));
    let last = layer(&mut builder, "last", limited, &LAST);
    builder.finish(vec![last]).expect("the graph is valid")
}

/// `back(within(f)) - f` and `scores(f)` with `f = first(x)`.
fn crossed() -> Graph {
    let mut builder = GraphBuilder::new("crossed");
    let x = builder.input("x", float([1, 4]));
    let first = layer(&mut builder, "first", x, &FIRST);
    let within = layer(&mut builder, "within", first, &WITHIN);
    let scores = layer(&mut builder, "scores", first, &LAST);
    let back = layer(&mut builder, "back", within, &FIRST);
    let difference = Binary { function: BinaryFunction::Sub, activation: Activation::None };
    let y = node(&mut builder, "difference", difference, &[back, first], float([1, 4]));
    builder.finish(vec![y, scores]).expect("the graph is valid")
}

/// A convolution whose input comes row by row, and a layer behind it.
fn rows() -> Graph {
    let mut builder = GraphBuilder::new("rows");
    let x = builder.input("x", float([1, 4, 4, 1]));
    let cells = builder.constant("cells", float([1, 3, 3, 1]), Data::from_f32s(&CELLS));
    let conv2d = Conv2d { padding: Padding2d::Same, ..Conv2d::default() };
    let image = node(&mut builder, "image", conv2d, &[x, cells], float([1, 4, 4, 1]));
    let scores = builder.constant("weights of scores", float([2, 16]), Data::from_f32s(&SCORES.concat()));
    let y = node(&mut builder, "scores", FullyConnected::default(), &[image, scores], float([1, 2]));
    builder.finish(vec![y]).expect("the graph is valid")
}
