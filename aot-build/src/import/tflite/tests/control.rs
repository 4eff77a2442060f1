//! Operators that run other subgraphs.

use super::files::*;
use super::writer::Table;
use crate::eval::Evaluator;
use crate::ops::Op;
use crate::{Config, compile};

/// `x` → CALL of a subgraph that adds `x` to itself → `y`.
fn called() -> File {
    let mut file = File::new();
    let (x, y) = (file.tensor("x", F32, &[1]), file.tensor("y", F32, &[1]));
    file.operator(31, &[x], y, Some((16, Table::default().with(0, 1_i32))));
    (file.inputs, file.outputs) = (vec![x], vec![y]);
    file.subgraph(|file| {
        let (a, b) = (file.tensor("a", F32, &[1]), file.tensor("b", F32, &[1]));
        file.operator(0, &[a, a], b, Some((11, Table::default())));
        (file.inputs, file.outputs) = (vec![a], vec![b]);
    });
    file
}

/// What is done to a file, and what is said of it then.
type Case = (fn(&mut File), &'static str);

fn check(file: impl Fn() -> File, cases: &[Case]) {
    for (spoil, expect) in cases {
        let mut file = file();
        spoil(&mut file);
        let found = file.problems();
        assert!(found.contains(expect), "expected {expect}, found {found}");
    }
}

fn options(file: &mut File) -> &mut Table {
    file.operators[0].table(OPTIONS)
}

#[test]
fn subgraphs_become_regions() {
    for file in [branches(), repeated()] {
        let graph = file.read().unwrap();
        assert_eq!((graph.nodes.len(), graph.nodes[0].op.regions().len(), graph.depth()), (1, 2, 1));
    }
    let compiled = compile(repeated().read().unwrap(), &Config::default()).unwrap();
    let inputs: [&[u8]; 2] = [&3_i32.to_le_bytes(), &1.5_f32.to_le_bytes()];
    let outputs = Evaluator::new(&compiled).run(&inputs).unwrap();
    assert_eq!(outputs, [5_i32.to_le_bytes().to_vec(), 6.0_f32.to_le_bytes().to_vec()]);
}

#[test]
fn calls_are_put_in_place() {
    let graph = called().read().unwrap();
    let ops: Vec<_> = graph.nodes.iter().map(|node| node.op.name()).collect();
    assert_eq!(ops, ["add", "reshape"]);
    assert_eq!(graph.tensor(graph.outputs[0]).name, "y");
}

#[test]
fn wrong_subgraphs() {
    check(
        branches,
        &[
            (|f| options(f).set(1, 3_i32), "node #0 IF `y`: subgraph 3: there is no subgraph 3, but 3"),
            (|f| options(f).set(0, -1_i32), "node #0 IF `y`: there is no subgraph -1"),
            (|f| options(f).set(0, 0_i32), "subgraphs run each other without end: 0 → 0"),
            (|f| options(f).set(2, 1_i32), "field 2 of IfOptions is not known"),
            (|f| f.operators[0].remove(OPTIONS), "IfOptions are missing"),
            (|f| f.operators[0].set(OPTIONS_TYPE, 93_u8), "expected IfOptions (92)"),
            (|f| f.subgraphs[0].outputs.clear(), "the branches have no output"),
            (
                |f| f.subgraphs[1].outputs = vec![9],
                "subgraph 2: output 0 of the model: tensor 9 does not exist",
            ),
            (
                |f| f.subgraphs[0].tensors[1].set(SHAPE, vec![3]),
                "node #0 IF `y`: subgraph 1: node #0 add `b`: `b` is declared as f32 [3], computed is f32 [2]",
            ),
        ],
    );
}

#[test]
fn wrong_arguments_of_branches() {
    check(
        branches,
        &[
            (|f| f.tensors[0].set(TYPE, I8), "the condition is i8 [1], expected one bool"),
            (|f| f.tensors[0].set(SHAPE, vec![2]), "the condition is bool [2], expected one bool"),
            (
                |f| f.operators[0].set(INPUTS, vec![0]),
                "the branch where it is true has 1 inputs, 0 operands are for it",
            ),
            (|f| f.operators[0].set(INPUTS, vec![0, -1]), "operand 1 is missing"),
            (|f| f.operators[0].set(INPUTS, Vec::<i32>::new()), "operand 0 is missing"),
            (
                |f| f.tensors[1].set(SHAPE, vec![3]),
                "input `a` of the branch where it is true is f32 [2], the operand f32 [3]",
            ),
            (
                |f| f.tensors[1].set(TYPE, I32),
                "input `a` of the branch where it is true is f32 [2], the operand i32 [2]",
            ),
            (|f| f.tensors[2].set(SHAPE, vec![4]), "`y` is declared as f32 [4], computed is f32 [2]"),
            (
                |f| {
                    f.subgraphs[1].tensors.iter_mut().for_each(|tensor| tensor.set(SHAPE, vec![1]));
                },
                "input `a` of the branch where it is false is f32 [1], the operand f32 [2]",
            ),
            (
                |f| f.subgraphs[1].outputs = vec![0, 1],
                "the branch where it is false has 2 outputs, expected 1",
            ),
        ],
    );
}

#[test]
fn wrong_variables_of_loops() {
    check(
        repeated,
        &[
            (|f| f.subgraphs[0].outputs = vec![3, 3], "the condition has 2 outputs, expected 1"),
            (|f| f.subgraphs[0].outputs = vec![0], "the condition is i32 [1], expected one bool"),
            (|f| f.subgraphs[1].outputs = vec![2], "the body has 1 outputs, expected 2"),
            (|f| f.subgraphs[1].outputs = vec![3, 2], "output `y` of the body is f32 [1], expected i32 [1]"),
            (|f| f.subgraphs[1].inputs = vec![0], "subgraph 2: node #1 ADD `y`: reads `x` (tensor #1)"),
            (
                |f| {
                    f.operators[0].set(OUTPUTS, vec![2]);
                    f.outputs = vec![2];
                },
                "1 results are declared, there are 2",
            ),
            (|f| f.operators[0].set(INPUTS, vec![0]), "the condition has 2 inputs, 1 operands are for it"),
        ],
    );
}

#[test]
fn integers_must_mean_the_same() {
    let mut file = File::new();
    let (c, x, y) = (file.tensor("c", BOOL, &[1]), file.tensor("x", I8, &[2]), file.tensor("y", I8, &[2]));
    let options = Table::default().with(0, 1_i32).with(1, 1_i32);
    file.operator(118, &[c, x], y, Some((92, options)));
    (file.inputs, file.outputs) = (vec![c, x], vec![y]);
    file.subgraph(|file| {
        let a = file.tensor("a", I8, &[2]);
        (file.inputs, file.outputs) = (vec![a], vec![a]);
    });
    let mut result = file.clone();
    file.tensors[1].set(QUANTIZATION, quantization(&[0.25], &[3]));
    let expect = "is i8 [2] with scale 0.5 and zero point 3, the operand i8 [2] with scale 0.25";
    assert!(file.problems().contains(expect), "{}", file.problems());
    result.tensors[2].set(QUANTIZATION, quantization(&[0.25], &[3]));
    let problems = compile(result.read().unwrap(), &Config::default()).unwrap_err();
    let expect = "`y` is i8 [2] with scale 0.25 and zero point 3, both branches give i8 [2] with scale 0.5";
    assert!(problems[0].message.contains(expect), "{}", problems[0]);
}

#[test]
fn wrong_calls() {
    check(
        called,
        &[
            (
                |f| f.tensors[0].set(SHAPE, vec![2]),
                "input `a` of the subgraph is f32 [1], the operand f32 [2]",
            ),
            (|f| f.tensors[1].set(SHAPE, vec![2]), "output `b` of the subgraph is f32 [1], expected f32 [2]"),
            (|f| options(f).set(0, 7_i32), "there is no subgraph 7, but 2"),
        ],
    );
}

#[test]
fn recursion() {
    let mut file = called();
    file.subgraphs.clear();
    for callee in [2, 1] {
        file.subgraph(|file| {
            let (a, b) = (file.tensor("a", F32, &[1]), file.tensor("b", F32, &[1]));
            file.operator(31, &[a], b, Some((16, Table::default().with(0, callee))));
            (file.inputs, file.outputs) = (vec![a], vec![b]);
        });
    }
    let expect = "node #0 CALL `y`: subgraph 1: node #0 CALL `b`: subgraph 2: node #0 CALL `b`: \
                  subgraphs run each other without end: 1 → 2 → 1";
    assert_eq!(file.problems(), expect);
}

/// `count` subgraphs, each of which runs the next one twice.
fn doubling(count: i32, code: i32) -> File {
    let mut file = File::new();
    let run = |file: &mut File, next: i32| {
        let (c, x) = (file.tensor("c", BOOL, &[1]), file.tensor("x", F32, &[1]));
        let (t, y) = (file.tensor("t", F32, &[1]), file.tensor("y", F32, &[1]));
        for (x, y) in [(x, t), (t, y)] {
            match code {
                31 => file.operator(31, &[c, x], y, Some((16, Table::default().with(0, next)))),
                _ => file.operator(
                    118,
                    &[c, c, x],
                    y,
                    Some((92, Table::default().with(0, next).with(1, next))),
                ),
            };
        }
        (file.inputs, file.outputs) = (vec![c, x], vec![y]);
    };
    run(&mut file, 1);
    for next in 2..=count {
        file.subgraph(|file| run(file, next));
    }
    file.subgraph(|file| {
        let (c, x, y) =
            (file.tensor("c", BOOL, &[1]), file.tensor("x", F32, &[1]), file.tensor("y", F32, &[1]));
        file.operator(19, &[x], y, None);
        (file.inputs, file.outputs) = (vec![c, x], vec![y]);
    });
    file
}

/// A small file that describes a large model.
#[test]
fn too_many_subgraphs() {
    assert_eq!(
        doubling(3, 31).read().unwrap().nodes.iter().filter(|node| matches!(node.op, Op::Relu(_))).count(),
        8
    );
    assert!(doubling(3, 118).read().is_ok());
    for (count, code, expect) in [
        (16, 31, "operators, the limit is 65536"),
        (17, 31, "deeper than 16"),
        (4, 118, "more than 256 graphs run in one"),
        (16, 118, "more than 256 graphs run in one"),
    ] {
        let found = doubling(count, code).problems();
        assert!(found.contains(expect), "expected {expect}, found {found}");
    }
}

/// Calls multiply the branches in what they call.
#[test]
fn too_many_branches_by_calls() {
    let mut file = doubling(9, 31);
    let leaf = file.subgraphs.last_mut().unwrap();
    // Nine doublings of one branch, whose own subgraph is the one behind.
    let position = 10_i32;
    leaf.operators[0].set(INPUTS, vec![0, 0, 1]);
    leaf.operators[0].set(OPTIONS_TYPE, 92_u8);
    leaf.operators[0].set(OPTIONS, Table::default().with(0, position).with(1, position));
    file.codes.last_mut().unwrap().set(0, 118_i8);
    file.codes.last_mut().unwrap().set(3, 118_i32);
    file.subgraph(|file| {
        let (c, x) = (file.tensor("c", BOOL, &[1]), file.tensor("x", F32, &[1]));
        (file.inputs, file.outputs) = (vec![c, x], vec![x]);
    });
    let found = file.problems();
    assert!(found.contains("more than 256 graphs run in one"), "{found}");
}

#[test]
fn variables_within_control_flow() {
    let mut file = branches();
    file.subgraph(|file| {
        let (a, handle, b) =
            (file.tensor("a", F32, &[2]), file.tensor("h", 13, &[]), file.tensor("b", F32, &[2]));
        let options = Table::default().with(1, "v");
        file.operator(142, &[], handle, Some((111, options)));
        file.operator(143, &[handle], b, None);
        (file.inputs, file.outputs) = (vec![a], vec![b]);
    });
    options(&mut file).set(1, 3_i32);
    let found = file.problems();
    let expect = "node #0 IF `y`: subgraph 3: node #0 VAR_HANDLE `h`: \
                  variables in subgraphs that control flow runs are not supported";
    assert!(found.contains(expect), "{found}");
}
