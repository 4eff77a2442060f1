//! Tensors that are copied between pools.

use std::collections::BTreeSet;

use aot_rt::DType;

use super::*;
use crate::config::{Device, Pool, Rule};
use crate::graph::Shape;
use crate::program::{CPU, PlacedPool, Step, unit};
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
    let of_step = |step: &Step| {
        let mut views = step.buffers().filter(|(view, _)| program.in_workspace(view.buffer));
        step.control().is_some() || views.all(|(view, _)| place(view).is_reached_by(unit(step)))
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
fn within_a_branch_nothing_is_copied() {
    let graph = branches(&["first", "second", "third"]);
    let problems = compile(graph, &apart(&["first"], &["second"])).unwrap_err();
    assert_eq!(problems.len(), 1);
    let text = problems[0].to_string();
    assert!(
        text.starts_with("tensor `memory within choice` has no place: no pool of kind \"workspace\" is"),
        "{text}"
    );
    assert!(text.ends_with("and not within a branch or a loop"), "{text}");
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
    if salt.is_multiple_of(2) {
        config.pools.insert("tcm".into(), Pool { reach: Some(names(&[CPU])), ..Pool::default() });
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
            let config = Config { outputs, memory, ..random_config(salt) };
            let compiled = crate::compile::compile_as_is(&graph, &config).unwrap();
            prop_assert!(is_reached(&compiled), "{:?}", compiled.program);
            prop_assert!(borrows_are_possible(&compiled.program), "{:?}", compiled.program);
            prop_assert_eq!(&Evaluator::new(&compiled).run(&[&x, &z]).unwrap(), &expect);
        }
    }
}
