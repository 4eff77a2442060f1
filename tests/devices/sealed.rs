//! Models with devices whose memory the CPU does not reach.

use std::collections::BTreeMap;

use aot_build::config::{Calls, Device, InputPlacement, Placement, Pool};
use aot_build::graph::{Graph, GraphBuilder, Shape, TensorType};
use aot_build::ops::{Add, If, UnaryFunction};
use aot_build::{Builder, Config};
use aot_rt::{Activate, DType};

use super::weights::{FIRST, LAST, WITHIN};
use super::{float, layer, loops, names, node, three, three_devices, unary, write};

/// Generates all of them.
pub(super) fn write_all() {
    write("sealed", "Sealed", sealed(), config(Calls::Direct));
    write("sealed_packed", "Sealed", sealed(), config(Calls::Packed));
    write("sealed_bound", "Sealed", sealed(), Config { calls: Calls::Registry, ..config(Calls::Registry) });
    write("open", "Sealed", sealed(), Config::default());
    let (inputs, outputs) = (InputPlacement::Caller, Placement::Caller);
    let pools = pools(&[("npu_sram", &["npu"])]);
    let npu = Device { name: "npu".into(), operators: names(&["*"]), ..Device::default() };
    let devices = vec![npu];
    write("far", "Far", chain(), Config { inputs, outputs, pools, devices, ..Config::default() });
    write("mixed", "Mixed", chain(), mixed());
    write("moved", "Moved", chain(), moved());
    write("sealed_branches", "Three", three(), branches());
    write("sealed_loops", "Loops", loops(), loops_config());
    shared();
}

/// One branch runs on a device with its own memory, the other one on the CPU.
fn branches() -> Config {
    let pools = pools(&[("ram", &["cpu", "dsp"]), ("left_sram", &["left"]), ("right_sram", &["right"])]);
    Config { devices: three_devices(Activate::PerRun), pools, ..Config::default() }
}

/// The body of the loop runs on a device with its own memory.
fn loops_config() -> Config {
    let npu = Device { name: "npu".into(), operators: names(&["fully_connected"]), ..Device::default() };
    let pools = pools(&[("ram", &["cpu"]), ("npu_sram", &["npu"])]);
    Config { devices: vec![npu], pools, ..Config::default() }
}

/// Two models of which one runs at a time, with a device each that has one memory.
fn shared() {
    let pool = |units: &[&str]| Pool { reach: Some(names(units)), ..Pool::default() };
    let model = |name: &str| Builder::new("../ui/models/two_layers.json").name(name);
    let models = [
        model("First").device("npu", |node| node.name() == "first"),
        model("Both").device("npu", |_| true),
        model("Neither"),
    ];
    Builder::models(models)
        .shared_workspace("Memory")
        .pool("ram", pool(&["cpu"]))
        .pool("npu_sram", pool(&["npu"]))
        .compile()
        .expect("the models compile");
}

/// Three devices, two of which have their own memory.
fn config(calls: Calls) -> Config {
    let device = |name: &str, kind: &str, nodes: &[&str]| Device {
        name: name.into(),
        kind: Some(kind.into()),
        nodes: names(nodes),
        calls,
        ..Device::default()
    };
    Config {
        devices: vec![
            device("npu", "npu", &["first", "back", "yes", "no", "last"]),
            device("dsp", "npu", &["within"]),
            device("aux", "aux", &["sum"]),
        ],
        pools: pools(&[("ram", &["cpu", "aux"]), ("npu_sram", &["npu"]), ("dsp_sram", &["dsp"])]),
        ..Config::default()
    }
}

/// A device with its own memory, which costs less, beside memory that it shares.
fn mixed() -> Config {
    let mut pools = pools(&[("shared", &["cpu", "npu"]), ("npu_sram", &["npu"])]);
    if let Some(pool) = pools.get_mut("shared") {
        pool.cost = 1;
    }
    let npu = Device { name: "npu".into(), operators: names(&["fully_connected"]), ..Device::default() };
    Config { devices: vec![npu], pools, ..Config::default() }
}

/// Two pools of a device, one of which holds one tensor; another device copies.
fn moved() -> Config {
    let npu = Device { name: "npu".into(), operators: names(&["fully_connected"]), ..Device::default() };
    let dma = Device { name: "dma".into(), ..Device::default() };
    let reach: &[&str] = &["dma", "npu"];
    let mut pools = pools(&[("ram", &["cpu"]), ("bank_a", reach), ("bank_b", reach)]);
    for name in ["bank_a", "bank_b"] {
        if let Some(pool) = pools.get_mut(name) {
            pool.limit = Some(16);
        }
    }
    Config { devices: vec![npu, dma], pools, ..Config::default() }
}

fn pools(pools: &[(&str, &[&str])]) -> BTreeMap<String, Pool> {
    let pool = |reach: &[&str]| Pool { reach: Some(names(reach)), ..Pool::default() };
    pools.iter().map(|(name, reach)| ((*name).to_owned(), pool(reach))).collect()
}

/// `-last(if flag { yes(b) } else { no(b) })` with `b = back(within(first(x)) + x)`.
fn sealed() -> Graph {
    let mut builder = GraphBuilder::new("sealed");
    let x = builder.input("x", float([1, 4]));
    let flag = builder.input("flag", TensorType::new(DType::Bool, Shape::new([1]).expect("one extent")));
    let first = layer(&mut builder, "first", x, &FIRST);
    let within = layer(&mut builder, "within", first, &WITHIN);
    let sum = node(&mut builder, "sum", Add::default(), &[within, x], float([1, 4]));
    let back = layer(&mut builder, "back", sum, &FIRST);
    let branch = |name: &str, weights: &[[f32; 4]]| {
        let mut builder = GraphBuilder::new(name);
        let t = builder.input("t", float([1, 4]));
        let y = layer(&mut builder, name, t, weights);
        builder.finish(vec![y]).expect("the branch is valid")
    };
    let regions = [branch("yes", &WITHIN).into(), branch("no", &FIRST).into()];
    let chosen = node(&mut builder, "choice", If { regions }, &[flag, back], float([1, 4]));
    let last = layer(&mut builder, "last", chosen, &LAST);
    let turned = node(&mut builder, "turned", unary(UnaryFunction::Neg), &[last], float([1, 2]));
    builder.finish(vec![turned]).expect("the graph is valid")
}

/// `last(within(first(x)))`.
fn chain() -> Graph {
    let mut builder = GraphBuilder::new("chain");
    let x = builder.input("x", float([1, 4]));
    let first = layer(&mut builder, "first", x, &FIRST);
    let within = layer(&mut builder, "within", first, &WITHIN);
    let last = layer(&mut builder, "last", within, &LAST);
    builder.finish(vec![last]).expect("the graph is valid")
}
