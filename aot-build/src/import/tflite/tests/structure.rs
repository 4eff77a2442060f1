//! References between tensors, operators, inputs and outputs; operators that are not
//! known.

use super::files::*;
use super::writer::{Field, Table};

/// `x` → RELU → `a` → RELU → `y`.
fn chain() -> File {
    let mut file = File::new();
    let (x, a, y) = (file.tensor("x", F32, &[4]), file.tensor("a", F32, &[4]), file.tensor("y", F32, &[4]));
    file.operator(19, &[x], a, None).operator(19, &[a], y, None);
    (file.inputs, file.outputs) = (vec![x], vec![y]);
    file
}

#[test]
fn references_are_refused() {
    type Spoil = fn(&mut File);
    let cases: Vec<(Spoil, &str)> = vec![
        (|f| f.inputs = vec![7], "input 0 of the model: tensor 7 does not exist, there are 3"),
        (|f| f.inputs = vec![-1], "input 0 of the model: tensor -1 does not exist"),
        (|f| f.inputs = vec![0, 0], "input 1 of the model: `x` (tensor #0) is named twice"),
        (|f| f.outputs = vec![3], "output 0 of the model: tensor 3 does not exist, there are 3"),
        (|f| f.outputs = vec![2; 1025], "the model has 1025 outputs, the limit is 1024"),
        (|f| f.operators.truncate(1), "output 0 of the model: nothing writes `y` (tensor #2)"),
        (|f| f.operators.swap(0, 1), "node #0 RELU `y`: reads `a` (tensor #1) before node #1 writes it"),
        (|f| f.operators[0].set(INPUTS, vec![1]), "node #0 RELU `a`: reads and writes `a` (tensor #1)"),
        (|f| f.operators[0].set(INPUTS, vec![2]), "reads `y` (tensor #2) before node #1 writes it"),
        (
            |f| f.inputs = vec![2],
            "reads `x` (tensor #0), which is no input, has no data, and nothing writes it",
        ),
        (
            |f| f.operators[1].set(OUTPUTS, vec![1]),
            "writes `a` (tensor #1), which has been written by node #0",
        ),
        (|f| f.operators[1].set(OUTPUTS, vec![0]), "writes `x` (tensor #0), which is an input of the model"),
        (|f| f.operators[1].set(OUTPUTS, vec![-1]), "tensor -1 does not exist, there are 3"),
        (|f| f.operators[1].set(OUTPUTS, vec![2, 1]), "writes `a` (tensor #1), which has been written"),
        (|f| f.operators[1].set(INPUTS, vec![-2]), "tensor -2 does not exist"),
        (|f| f.operators[1].set(INPUTS, vec![i32::MAX]), "tensor 2147483647 does not exist"),
        (|f| f.operators[1].set(INPUTS, vec![-1]), "operand 0 is left out"),
        (|f| f.operators[1].set(INPUTS, vec![1, 1]), "2 operands, expected 1"),
        (|f| f.operators[1].remove(INPUTS), "0 operands, expected 1"),
        (|f| f.operators[1].set(CODE, 9_u32), "operator code 9 does not exist, there are 2"),
        (|f| f.model.set(0, 2_u32), "the schema has version 2, expected 3"),
        (|f| f.model.set(6, vec![Table::default().with(1, 5_u32)]), "metadata refers to buffer 5 of 1"),
    ];
    for (spoil, expect) in cases {
        let mut file = chain();
        spoil(&mut file);
        let found = file.problems();
        assert!(found.contains(expect), "expected {expect}, found {found}");
    }
}

#[test]
fn no_result() {
    let mut file = chain();
    file.operators[1].remove(OUTPUTS);
    file.outputs = vec![1];
    assert_eq!(file.problems(), "node #1 RELU ``: 0 results, expected 1");
}

#[test]
fn constants_are_not_written() {
    let mut file = chain();
    file.buffers.push(Table::default().with(0, vec![0_u8; 16]));
    file.tensors[1].set(BUFFER, 1_u32);
    assert!(file.problems().contains("node #0 RELU `a`: writes `a` (tensor #1), which is a constant"));
    file.inputs = vec![1];
    assert!(file.problems().contains("input 0 of the model: `a` (tensor #1) is a constant"));
}

#[test]
fn inputs_and_constants_may_be_outputs() {
    let mut file = chain();
    file.buffers.push(Table::default().with(0, vec![0_u8; 16]));
    let constant = file.tensor("constant", F32, &[4]);
    file.tensors[3].set(BUFFER, 1_u32);
    file.outputs.extend([0, constant]);
    assert_eq!(file.read().unwrap().outputs.len(), 3);
}

#[test]
fn no_subgraph() {
    let file = chain();
    let model = file.model.with(1, file.codes).with(4, file.buffers);
    let problems =
        super::super::read(&model.file(b"TFL3"), "model".into(), &crate::Config::default()).unwrap_err();
    assert_eq!(problems[0].message, "the model has no subgraph");
}

/// The format of `style.md`.
#[test]
fn unknown_operators_are_listed_together() {
    let mut file = chain();
    let (z, unnamed) = (file.tensor("detection", F32, &[4]), file.tensor("", F32, &[4]));
    file.operator(32, &[2], z, None).operator(120, &[z], unnamed, None).operator(32, &[2], 2, None);
    file.codes[2].set(1, "TFLite_Detection_PostProcess");
    file.codes[4].set(1, "TFLite_Detection_PostProcess");
    // The third is the first again, of another version than is known.
    let next = file.tensor("next", F32, &[4]);
    file.operators[4].set(OUTPUTS, vec![next]);
    file.operator(19, &[2], 0, None).operator(-3, &[2], 0, None).operator(5000, &[2], 0, None);
    for (i, name) in ["b", "c", "d"].into_iter().enumerate() {
        let tensor = file.tensor(name, F32, &[4]);
        file.operators[5 + i].set(OUTPUTS, vec![tensor]);
    }
    file.codes[5].set(2, 9_i32);
    file.codes[6] = Table::default().with(0, -3_i8);
    assert_eq!(
        file.problems(),
        "5 operators are not supported
  - CUSTOM \"TFLite_Detection_PostProcess\" (2 nodes: #2 `detection`, #4 `next`)
  - NON_MAX_SUPPRESSION_V4 (1 node: #3)
  - RELU version 9, known are 1 to 3 (1 node: #5 `b`)
  - operator -3 (1 node: #6 `c`)
  - operator 5000 (1 node: #7 `d`)
  = help: cut the model before node #2 and compute the rest in Rust"
    );
}

/// Problems on both sides of an unknown operator are reported with it.
#[test]
fn an_unknown_operator_hides_nothing() {
    let mut file = chain();
    file.codes[0] = Table::default().with(0, 113_i8);
    file.tensors[2].set(SHAPE, vec![5]);
    let found = file.problems();
    assert!(found.contains("1 operator is not supported\n  - MATRIX_DIAG (1 node: #0 `a`)"), "{found}");
    assert!(found.contains("`y` is declared as f32 [5], computed is f32 [4]"), "{found}");
}

#[test]
fn operator_codes_of_all_writers() {
    for (deprecated, builtin, expect) in [
        (Some(19_i8), Some(19_i32), Ok(())),
        (Some(19), None, Ok(())),
        (None, Some(19), Ok(())),
        (Some(127), Some(19), Ok(())),
        (Some(18), Some(19), Err("an operator code is both 18 and 19")),
        (Some(19), Some(-1), Err("an operator code is both 19 and -1")),
        (Some(127), None, Err("PLACEHOLDER_FOR_GREATER_OP_CODES (2 nodes")),
        (Some(127), Some(131), Err("RFFT2D (2 nodes")),
    ] {
        let mut file = chain();
        let mut code = Table::default();
        if let Some(deprecated) = deprecated {
            code.set(0, deprecated);
        }
        if let Some(builtin) = builtin {
            code.set(3, builtin);
        }
        file.codes = vec![code.clone(), code];
        match expect {
            Ok(()) => assert_eq!(file.read().unwrap().nodes.len(), 2),
            Err(expect) => assert!(file.problems().contains(expect), "{}", file.problems()),
        }
    }
}

/// 20,000 operators that all are one table, which has 20,000 operands: 400 million
/// from 200 kB.
#[test]
fn shared_parts_do_not_multiply() {
    let operator = Table::default().with(INPUTS, vec![0_i32; 20_000]).with(OUTPUTS, vec![1]);
    let graph = Table::default().with(3, Field::Repeated(operator, 20_000));
    let file = Table::default().with(0, 3_u32).with(2, vec![graph]).file(b"TFL3");
    let problems = super::super::read(&file, "model".into(), &crate::Config::default()).unwrap_err();
    assert!(problems[0].message.contains("parts overlap so often that 16 times"), "{problems:?}");
}

#[test]
fn too_many_tables() {
    let graph = Table::default().with(0, Field::Repeated(Table::default(), 200_000));
    let file = Table::default().with(0, 3_u32).with(2, vec![graph]).file(b"TFL3");
    let problems = super::super::read(&file, "model".into(), &crate::Config::default()).unwrap_err();
    assert!(problems[0].message.contains("a vector of 200000 tables, the limit is 131072"), "{problems:?}");
}

#[test]
fn the_number_of_problems_is_limited() {
    let mut file = chain();
    file.inputs = vec![9; 1000];
    let problems = file.read().unwrap_err();
    assert_eq!(problems.len(), 65);
    assert_eq!(problems[64].message, "and 937 more problems");
}
