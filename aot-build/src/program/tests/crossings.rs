//! Tensors that are copied between pools.

use std::collections::{BTreeMap, BTreeSet};

use aot_rt::DType;

use super::*;
use crate::config::{Device, Pool, Rule};
use crate::graph::Shape;
use crate::program::{CPU, Operand, PlacedPool, Step, unit};
use crate::report::Summary;
use crate::{Model, SourceInfo};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// The devices `left` and `right`, which share no pool.
fn apart(left: &[&str], right: &[&str]) -> Config {
    let device =
        |name: &str, nodes: &[&str]| Device { name: name.into(), nodes: names(nodes), ..Device::default() };
    let pool =
        |unit: &str| (format!("{unit}_ram"), Pool { reach: Some(names(&[CPU, unit])), ..Pool::default() });
    Config {
        devices: vec![device("left", left), device("right", right)],
        pools: ["left", "right"].map(pool).into(),
        ..Config::default()
    }
}

/// Without devices and pools.
fn plain(config: &Config) -> Config {
    Config { devices: Vec::new(), pools: Config::default().pools, ..config.clone() }
}

/// Whether every step works on memory that its unit reaches.
fn is_reached(compiled: &Compiled) -> bool {
    let place = |view: View| {
        let at = compiled.offsets[view.buffer.0];
        &compiled.workspaces[PlacedPool::at(&compiled.workspaces, at)].pool
    };
    let program = &compiled.program;
    // The memory of some devices is all out of the CPU's reach: they take no array of the caller's.
    let takes_arrays = |unit: &str| {
        let mut reached =
            compiled.workspaces.iter().map(|pool| &pool.pool).filter(|pool| pool.is_reached_by(unit));
        unit == CPU || reached.clone().next().is_none() || reached.any(|pool| pool.is_reached_by(CPU))
    };
    let of_step = |step: &Step| {
        let transfer = step.call().and_then(|call| call.transfer);
        let reaches = |(i, operand): (usize, &Operand)| {
            let Operand::Buffer(view) = operand else { return true };
            let is_away = transfer.is_some_and(|transfer| transfer.side() == i);
            let user = if transfer.is_some() && !is_away { CPU } else { unit(step) };
            if !program.in_workspace(view.buffer) {
                return takes_arrays(user);
            }
            place(*view).is_reached_by(user) && is_away <= place(*view).is_device_memory()
        };
        step.control().is_some() || step.operands.iter().enumerate().all(reaches)
    };
    program.steps.iter().flat_map(Step::with_nested).all(of_step)
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// What is copied, in order: the tensor, its bytes, and for whom. That the results are those
/// without devices, twice, is checked.
fn copies(graph: &Graph, config: &Config, inputs: &[&[u8]]) -> Vec<(String, u64, Vec<String>)> {
    let compiled = compile(graph.clone(), config).unwrap();
    assert!(is_reached(&compiled));
    let alone = compile(graph.clone(), &plain(config)).unwrap();
    let (mut found, mut expect) = (Evaluator::new(&compiled), Evaluator::new(&alone));
    for _ in 0..2 {
        assert_eq!(found.run(inputs).unwrap(), expect.run(inputs).unwrap());
    }
    let program = &compiled.program;
    let names: BTreeSet<_> = program.steps.iter().map(|step| &step.name).collect();
    assert_eq!(names.len(), program.steps.len());
    let copies = program.steps.iter().filter(|step| step.description.ends_with("between pools"));
    let is_copy = |view: View| program.buffer(view.buffer).name.starts_with("copy of ");
    copies
        .map(|step| {
            let copy = step.buffers().map(|(view, _)| view).find(|view| is_copy(*view)).unwrap();
            let uses =
                |other: &&Step| *other != step && other.buffers().any(|(view, _)| view.buffer == copy.buffer);
            let users = program.steps.iter().filter(uses).map(|step| step.node.clone());
            (step.node.clone(), step.bytes() / 2, users.collect())
        })
        .collect()
}

fn copy(tensor: &str, bytes: u64, users: &[&str]) -> (String, u64, Vec<String>) {
    (tensor.to_owned(), bytes, names(users))
}

const X: [f32; 4] = [1.0, -2.0, 3.0, -4.0];

#[test]
fn a_tensor_is_copied_once_for_all_its_readers() {
    let mut sketch = Sketch::new();
    let x = sketch.input("x", f32_type([4]));
    let a = sketch.node("a", Unary { function: UnaryFunction::Neg }, &[x]);
    let [b, c, d] = ["b", "c", "d"].map(|name| sketch.node(name, Softmax::default(), &[a]));
    let graph = sketch.finish(&[b, c, d, a]);
    let config = apart(&["a"], &["b", "c"]);
    assert_eq!(copies(&graph, &config, &[&bytes(&X)]), [copy("a", 16, &["b", "c"])]);
    // From the other pool, the step that makes it has the copy, of which it is copied home.
    let config = apart(&["b", "c"], &["a"]);
    assert_eq!(copies(&graph, &config, &[&bytes(&X)]), [copy("a", 16, &["a"])]);
    let compiled = compile(graph.clone(), &config).unwrap();
    let model = Model { type_name: "Net".into(), source: SourceInfo::default(), compiled, config };
    let summary = Summary::new(&model).to_string();
    assert!(summary.contains("\n  copies     1, 16 bytes\n"), "{summary}");
    // What all can use in one pool stays there.
    let mut config = apart(&["a"], &["b", "c"]);
    config.pools.insert("shared".into(), Pool { cost: 9, ..Pool::default() });
    assert_eq!(copies(&graph, &config, &[&bytes(&X)]), []);
}

#[test]
fn inputs_and_states_are_copied() {
    let mut sketch = Sketch::new();
    let zeros = sketch.constant("zeros", f32_type([4]), Data::from_f32s(&[0.5; 4]));
    let x = sketch.input("x", f32_type([4]));
    let sum = sketch.state("sum", zeros);
    let next = sketch.node("next", Add::default(), &[sum, x]);
    let y = sketch.node("y", Add::default(), &[x, sum]);
    let z = sketch.node("z", Softmax::default(), &[sum]);
    sketch.keep(sum, next);
    let graph = sketch.finish(&[y, z]);
    let found = copies(&graph, &apart(&["next"], &["y", "z"]), &[&bytes(&X)]);
    let tensors: BTreeSet<_> = found.iter().map(|(tensor, bytes, _)| (tensor.as_str(), *bytes)).collect();
    assert_eq!((found.len(), tensors), (2, BTreeSet::from([("sum", 16), ("x", 16)])));
}

#[test]
fn parts_of_a_tensor_are_made_by_several_units() {
    let mut sketch = Sketch::new();
    let x = sketch.input("x", f32_type([4]));
    let z = sketch.input("z", f32_type([8]));
    let a = sketch.node("a", Unary { function: UnaryFunction::Neg }, &[x]);
    let b = sketch.node("b", Softmax::default(), &[z]);
    let whole = sketch.node("whole", Concatenation { axis: 0 }, &[a, b]);
    let graph = sketch.finish(&[whole]);
    let inputs = [bytes(&X), bytes(&[2.0; 8])];
    let found = copies(&graph, &apart(&["a"], &["b"]), &[&inputs[0], &inputs[1]]);
    // The smaller part is copied to where the other is.
    assert_eq!(found, [copy("whole", 16, &["a"])]);
}

/// `right` works in a branch, on what `left` has made.
fn branches(within: &[&str]) -> Graph {
    let mut sketch = Sketch::new();
    let x = sketch.input("x", f32_type([4]));
    let truth = TensorType::new(DType::Bool, Shape::new([1]).unwrap());
    let flag = sketch.input("flag", truth);
    let t = sketch.node("t", Unary { function: UnaryFunction::Neg }, &[x]);
    let region = |names: &[&str]| {
        let mut sketch = Sketch::new();
        let mut y = sketch.input("x", f32_type([4]));
        for name in names {
            y = sketch.node(name, Softmax::default(), &[y]);
        }
        sketch.finish(&[y]).into()
    };
    let regions = [region(within), region(&["flat"])];
    let y = sketch.node("choice", If { regions }, &[flag, t]);
    sketch.finish(&[y])
}

#[test]
fn a_branch_is_one_user() {
    for flag in [0, 1] {
        let found = copies(&branches(&["inner"]), &apart(&["t"], &["inner"]), &[&bytes(&X), &[flag]]);
        assert_eq!(found, [copy("t", 16, &["choice"])]);
    }
}

#[test]
fn tensors_are_copied_within_a_branch() {
    let graph = branches(&["first", "second", "third"]);
    for pools in [
        pools(&[("left_ram", &[CPU, "left"]), ("right_ram", &[CPU, "right"])]),
        pools(&[("ram", &[CPU]), ("left_sram", &["left"]), ("right_sram", &["right"])]),
    ] {
        let config = Config { pools, ..apart(&["first"], &["second"]) };
        for flag in [0, 1] {
            assert_eq!(copies(&graph, &config, &[&bytes(&X), &[flag]]), []);
        }
        let compiled = compile(graph.clone(), &config).unwrap();
        let choice = compiled.program.steps.iter().find(|step| step.control().is_some()).unwrap();
        let copied = choice.with_nested().into_iter().filter(|step| step.operator == "copy");
        let copied: Vec<_> = copied.map(|step| (step.node.as_str(), unit(step))).collect();
        let expect = match compiled.workspaces.len() {
            2 => vec![("first", CPU)],
            _ => vec![("x", "left"), ("first", "left"), ("first", "right"), ("second", "right")],
        };
        assert_eq!(copied, expect);
    }
}

/// In a loop, what changes is the CPU's, too.
#[test]
fn tensors_are_copied_within_a_loop() {
    let count = || TensorType::new(DType::I32, Shape::new([1]).unwrap());
    let truth = TensorType::new(DType::Bool, Shape::new([1]).unwrap());
    let mut sketch = Sketch::new();
    let i = sketch.input("i", count());
    let _ = sketch.input("v", f32_type([4]));
    let three = sketch.constant("three", count(), Data::from_i32s(&[3]));
    let less = sketch.typed("less", Compare { relation: Relation::Less }, &[i, three], truth);
    let condition = sketch.finish(&[less]);
    let mut sketch = Sketch::new();
    let [i, v] = [sketch.input("i", count()), sketch.input("v", f32_type([4]))];
    let one = sketch.constant("one", count(), Data::from_i32s(&[1]));
    let next = sketch.typed("next", Add::default(), &[i, one], count());
    let neg = sketch.node("neg", Unary { function: UnaryFunction::Neg }, &[v]);
    let soft = sketch.node("soft", Softmax::default(), &[neg]);
    let body = sketch.finish(&[next, soft]);
    let mut sketch = Sketch::new();
    let x = sketch.input("x", f32_type([4]));
    let zero = sketch.constant("zero", count(), Data::from_i32s(&[0]));
    let regions = [condition.into(), body.into()];
    let [_, result] = sketch.nodes(&["n", "y"], While { regions }, &[zero, x])[..] else { panic!() };
    let graph = sketch.finish(&[result]);
    for nodes in [[&["neg", "soft"][..], &[]], [&["neg"], &["soft"]], [&["soft"], &["neg"]]] {
        let mut config = apart(nodes[0], nodes[1]);
        config.pools = pools(&[("ram", &[CPU]), ("left_sram", &["left"]), ("right_sram", &["right"])]);
        assert_eq!(copies(&graph, &config, &[&bytes(&X)]), []);
    }
}

/// A sum that lies in the place of an operand must be reached by all who use either.
#[test]
fn results_replace_operands_within_a_pool() {
    let mut sketch = Sketch::new();
    let x = sketch.input("x", f32_type([4]));
    let a = sketch.node("a", Softmax::default(), &[x]);
    let b = sketch.node("b", Unary { function: UnaryFunction::Neg }, &[a]);
    let c = sketch.node("c", Softmax::default(), &[b]);
    let graph = sketch.finish(&[c]);
    // `b` runs on the CPU: it takes `a` from one pool to the other, and nothing else need.
    assert_eq!(copies(&graph, &apart(&["a"], &["c"]), &[&bytes(&X)]), []);
}

/// Pools with a reach each.
fn pools(pools: &[(&str, &[&str])]) -> BTreeMap<String, Pool> {
    let pool = |reach: &[&str]| Pool { reach: Some(names(reach)), ..Pool::default() };
    pools.iter().map(|(name, reach)| ((*name).to_owned(), pool(reach))).collect()
}

/// Calls of devices and copies by the CPU: what runs each, the method or kernel, and the node.
fn schedule(compiled: &Compiled) -> Vec<(&str, String, &str)> {
    let steps = compiled.program.steps.iter();
    steps.filter_map(|step| Some((unit(step), step.kernel_name()?, step.node.as_str()))).collect()
}

#[test]
fn devices_copy_where_the_cpu_does_not_reach() {
    let mut sketch = Sketch::new();
    let x = sketch.input("x", f32_type([4]));
    let a = sketch.node("a", Unary { function: UnaryFunction::Neg }, &[x]);
    let b = sketch.node("b", Softmax::default(), &[a]);
    let c = sketch.node("c", Unary { function: UnaryFunction::Neg }, &[b]);
    let graph = sketch.finish(&[c]);
    let mut config = apart(&["a", "b"], &["c"]);
    config.pools = pools(&[("ram", &[CPU]), ("left_sram", &["left"]), ("right_sram", &["right"])]);
    assert_eq!(copies(&graph, &config, &[&bytes(&X)]).len(), 4);
    let compiled = compile(graph.clone(), &config).unwrap();
    let step = |unit, method: &str, node| (unit, method.to_owned(), node);
    assert_eq!(
        schedule(&compiled),
        [
            step("left", "copy_in", "x"),
            step("left", "neg_f32", "a"),
            step("left", "softmax_f32", "b"),
            step("left", "copy_out", "b"),
            step("right", "copy_in", "b"),
            step("right", "neg_f32", "c"),
            step("right", "copy_out", "c"),
        ]
    );
    // Input, what goes from device to device and output have their times; the CPU's RAM counts alone.
    let sizes: Vec<_> = compiled.workspaces.iter().map(|pool| (pool.name.as_str(), pool.bytes)).collect();
    assert_eq!(sizes, [("left_sram", 32), ("ram", 16), ("right_sram", 32)]);
    assert_eq!((compiled.arena_bytes, compiled.lower_bound, compiled.proved), (16, 16, true));
    // The limit of such a pool is one like others; it is no RAM.
    config.ram_limit = Some(16);
    config.pools.get_mut("left_sram").unwrap().limit = Some(20);
    let problems = compile(graph, &config).unwrap_err();
    let text = problems[0].to_string();
    assert_eq!(
        (problems.len(), text.lines().next().unwrap()),
        (1, "key `pools.left_sram.limit`: needs 32 bytes of pool `left_sram`, the limit is 20 (12 too many)")
    );
}

/// The first device that the reach names copies; it need not compute anything.
#[test]
fn a_pool_of_two_devices() {
    let mut sketch = Sketch::new();
    let x = sketch.input("x", f32_type([4]));
    let a = sketch.node("a", Unary { function: UnaryFunction::Neg }, &[x]);
    let b = sketch.node("b", Softmax::default(), &[a]);
    let graph = sketch.finish(&[b]);
    for (reach, copier) in [(["right", "left"], "right"), (["left", "right"], "left")] {
        for nodes in [[&["a", "b"][..], &[]], [&["a"], &["b"]]] {
            let mut config = apart(nodes[0], nodes[1]);
            config.pools = pools(&[("ram", &[CPU]), ("sram", &reach)]);
            assert_eq!(copies(&graph, &config, &[&bytes(&X)]).len(), 2);
            let compiled = compile(graph.clone(), &config).unwrap();
            let schedule = schedule(&compiled);
            assert_eq!(schedule[0], (copier, "copy_in".into(), "x"));
            assert_eq!(schedule[3], (copier, "copy_out".into(), "b"));
        }
    }
}

/// The caller's arrays are copied for devices that have no memory which the CPU reaches.
#[test]
fn arrays_of_the_caller_are_copied() {
    let mut sketch = Sketch::new();
    let x = sketch.input("x", f32_type([4]));
    let a = sketch.node("a", Unary { function: UnaryFunction::Neg }, &[x]);
    let graph = sketch.finish(&[a]);
    let mut config = apart(&["a"], &[]);
    (config.inputs, config.outputs) = (InputPlacement::Caller, Placement::Caller);
    config.pools = pools(&[("left_sram", &["left"])]);
    assert_eq!(copies(&graph, &config, &[&bytes(&X)]).len(), 2);
    assert_eq!(compile(graph.clone(), &config).unwrap().arena_bytes, 0);
    config.pools = pools(&[("left_sram", &["left"]), ("ram", &[CPU, "left"])]);
    assert_eq!(copies(&graph, &config, &[&bytes(&X)]), []);
    // Without memory of the CPU's, inputs have no place.
    (config.inputs, config.pools) = (InputPlacement::Workspace, pools(&[("left_sram", &["left"])]));
    let problem = compile(graph, &config).unwrap_err()[0].to_string();
    assert!(problem.starts_with("tensor `x` has no place: no pool of kind \"workspace\" is"), "{problem}");
}

/// On two devices and the CPU, by the names of nodes.
fn random_config(salt: u32) -> Config {
    let rule = move |device: u32| {
        let sum =
            move |name: &str| name.bytes().fold(salt, |sum, byte| sum.wrapping_mul(31) ^ u32::from(byte));
        Some(Rule::new(move |node| sum(node.name()) / 8 % 3 == device))
    };
    let mut config = apart(&[], &[]);
    for (i, device) in config.devices.iter_mut().enumerate() {
        device.rule = rule(i as u32);
    }
    let choices: [(&str, [&[&str]; 4]); 4] = [
        ("left_ram", [&[CPU, "left"], &["left"], &["left", "right"], &["right", "left"]]),
        ("right_ram", [&[CPU, "right"], &["right"], &["right"], &[CPU, "left", "right"]]),
        ("tcm", [&[CPU], &[CPU], &["left"], &[CPU, "right"]]),
        ("zram", [&[CPU], &["left", "right"], &[], &[]]),
    ];
    let chosen =
        choices.iter().enumerate().map(|(i, (name, reach))| (*name, reach[(salt >> (2 * i)) as usize % 4]));
    config.pools = pools(&chosen.filter(|(_, reach)| !reach.is_empty()).collect::<Vec<_>>());
    if config.pools.values().all(Pool::is_device_memory) {
        config.pools.extend(pools(&[("ram", &[CPU])]));
    }
    config
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn copies_change_no_result(numbers in prop::collection::vec(any::<u8>(), 300), salt in any::<u32>()) {
        let graph = Numbers(numbers).graph();
        let (x, z) = (bytes(&counted::<24>(0.5)), bytes(&counted::<6>(-0.25)));
        let expect = one_by_one(&graph, &[&x, &z]);
        for (outputs, memory) in [(Placement::Workspace, Memory::Auto), (Placement::Caller, Memory::Min)] {
            let inputs = if salt & 256 == 0 { InputPlacement::Workspace } else { InputPlacement::Caller };
            let config = Config { inputs, outputs, memory, ..random_config(salt) };
            let compiled = crate::compile::compile_as_is(&graph, &config).unwrap();
            prop_assert!(is_reached(&compiled), "{:?}", compiled.program);
            prop_assert!(borrows_are_possible(&compiled.program), "{:?}", compiled.program);
            prop_assert_eq!(&Evaluator::new(&compiled).run(&[&x, &z]).unwrap(), &expect);
        }
    }

    #[test]
    fn copies_within_branches_and_loops_change_no_result(
        numbers in prop::collection::vec(any::<u8>(), 400),
        salt in any::<u32>(),
    ) {
        let graph = Numbers(numbers).flow();
        let (x, z) = (bytes(&counted::<6>(0.5)), bytes(&counted::<6>(-0.25)));
        let expect = one_by_one(&graph, &[&x, &z]);
        for (outputs, memory) in [(Placement::Workspace, Memory::Auto), (Placement::Caller, Memory::Min)] {
            let inputs = if salt & 256 == 0 { InputPlacement::Workspace } else { InputPlacement::Caller };
            let config = Config { inputs, outputs, memory, ..random_config(salt) };
            let compiled = crate::compile::compile_as_is(&graph, &config);
            let compiled = compiled.map_err(|problems| TestCaseError::fail(format!("{:?} {config:?}", problems[0])))?;
            prop_assert!(is_reached(&compiled), "{:?}", compiled.program);
            prop_assert!(borrows_are_possible(&compiled.program), "{:?}", compiled.program);
            prop_assert!(compiled.lower_bound <= compiled.arena_bytes);
            let names = compiled.program.steps.iter().flat_map(Step::with_nested).map(|step| &step.name);
            let names: Vec<_> = names.collect();
            prop_assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
            prop_assert_eq!(&Evaluator::new(&compiled).run(&[&x, &z]).unwrap(), &expect);
        }
    }
}
