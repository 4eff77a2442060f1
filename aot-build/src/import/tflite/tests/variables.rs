//! Variables: how handles, reads, assignments and the subgraph that runs once hang together,
//! and what is refused.

use super::files::*;
use super::writer::Table;

const RESOURCE: i8 = 13;
const CALL_ONCE: i32 = 129;
const VAR_HANDLE: i32 = 142;
const READ_VARIABLE: i32 = 143;
const ASSIGN_VARIABLE: i32 = 144;

fn handle_options() -> Option<(u8, Table)> {
    Some((111, Table::default().with(1, "sum")))
}

/// Adds to a variable what comes in: operators 0 to 3 take the handle, read, add, assign.
fn sum() -> File {
    let mut file = File::new();
    let x = file.tensor("x", F32, &[1, 4]);
    let handle = file.tensor("handle", RESOURCE, &[]);
    let (before, y) = (file.tensor("before", F32, &[1, 4]), file.tensor("y", F32, &[1, 4]));
    file.operator(VAR_HANDLE, &[], handle, handle_options());
    file.operator(READ_VARIABLE, &[handle], before, None);
    file.operator(0, &[before, x], y, Some((11, Table::default())));
    file.operator(ASSIGN_VARIABLE, &[handle, y], 0, None);
    file.operators[3].set(OUTPUTS, Vec::<i32>::new());
    (file.inputs, file.outputs) = (vec![x], vec![y]);
    file
}

/// As [`sum`], with a subgraph that assigns `values` of this type at first.
fn initialised(ty: i8, shape: &[i32], values: Vec<u8>) -> File {
    let mut file = sum();
    file.operator(CALL_ONCE, &[], 0, Some((103, Table::default().with(0, 1_i32))));
    file.operators[4].set(OUTPUTS, Vec::<i32>::new());
    file.operators.rotate_right(1);
    // The operators and tensors of the subgraph, by those of a file of its own.
    let mut once = File::new();
    let (handle, initial) =
        (once.tensor("handle", RESOURCE, &[]), once.constant("initial", ty, shape, values));
    once.operator(VAR_HANDLE, &[], handle, handle_options());
    once.operator(ASSIGN_VARIABLE, &[handle, initial], 0, None);
    once.operators[0].set(CODE, 0_u32);
    once.operators[1].set(CODE, 3_u32);
    once.operators[1].set(OUTPUTS, Vec::<i32>::new());
    once.tensors[1].set(BUFFER, 1_u32);
    file.buffers.push(once.buffers[1].clone());
    file.more = vec![Table::default().with(0, once.tensors).with(3, once.operators)];
    file
}

#[test]
fn a_variable_is_a_state() {
    let ones: Vec<u8> = [1_f32; 4].iter().flat_map(|value| value.to_le_bytes()).collect();
    for (file, expect) in [(sum(), vec![0; 16]), (initialised(F32, &[1, 4], ones.clone()), ones)] {
        let graph = file.read().unwrap();
        let [state] = graph.states[..] else { panic!("{} states", graph.states.len()) };
        assert_eq!(graph.tensor(state.initial).data.as_ref().unwrap().bytes(), expect);
        assert_eq!(state.after, graph.outputs[0]);
    }
}

#[test]
fn variables_are_refused() {
    type Spoil = fn(&mut File);
    let cases: Vec<(Spoil, &str)> = vec![
        (
            |f| f.operators[1].set(INPUTS, vec![0]),
            "node #1 READ_VARIABLE `before`: the first operand is no handle of a variable",
        ),
        (|f| f.operators[0].remove(OPTIONS), "node #0 VAR_HANDLE `handle`: VarHandleOptions are missing"),
        (
            |f| {
                f.operators[0].remove(OPTIONS_TYPE);
                f.operators[0].remove(OPTIONS);
            },
            "node #0 VAR_HANDLE `handle`: VarHandleOptions are missing",
        ),
        (
            |f| f.operators[0].table(OPTIONS).set(2, 1_u8),
            "node #0 VAR_HANDLE `handle`: field 2 of VarHandleOptions is not known",
        ),
        (
            |f| {
                f.operators[1].set(OPTIONS_TYPE, 112_u8);
                f.operators[1].set(OPTIONS, Table::default().with(0, 1_u8));
            },
            "node #1 READ_VARIABLE `before`: field 0 of ReadVariableOptions is not known",
        ),
        (
            |f| f.operators[1].set(INPUTS, vec![1, 1]),
            "node #1 READ_VARIABLE `before`: 2 operands and 1 results, expected 1 operand and 1 result",
        ),
        (
            |f| f.tensors[2].set(SHAPE, vec![4]),
            "node #3 ASSIGN_VARIABLE ``: assigns f32 [1, 4] to a variable that is f32 [4]",
        ),
        (
            |f| f.tensors[2].set(SHAPE, vec![1 << 25]),
            "node #1 READ_VARIABLE `before`: a variable of 134217728 bytes, the limit is 67108864",
        ),
        (|f| f.tensors[2].set(TYPE, RESOURCE), "resource (1 tensor: `before` (tensor #2))"),
    ];
    for (spoil, expect) in cases {
        let mut file = sum();
        spoil(&mut file);
        let found = file.problems();
        assert!(found.contains(expect), "expected {expect}, found {found}");
    }
}

#[test]
fn subgraphs_that_run_once_are_refused() {
    type Spoil = fn(&mut File);
    fn subgraph(file: &mut File, index: i32) {
        file.operators[0].table(OPTIONS).set(0, index);
    }
    let cases: Vec<(Spoil, &str)> = vec![
        (|f| subgraph(f, 0), "node #0 CALL_ONCE ``: calls the subgraph 0, which it is in"),
        (|f| subgraph(f, -1), "node #0 CALL_ONCE ``: calls the subgraph -1, which does not exist"),
        (|f| subgraph(f, 2), "node #0 CALL_ONCE ``: there is no subgraph 2, but 2"),
        (
            |f| {
                let once = Table::default().with(CODE, 4_u32).with(OPTIONS_TYPE, 103_u8);
                let once = once.with(OPTIONS, Table::default().with(0, 1_i32));
                f.more[0].set(3, vec![once]);
            },
            "node #0 CALL_ONCE ``: runs more than assignments of constants once",
        ),
    ];
    for (spoil, expect) in cases {
        let mut file = initialised(F32, &[1, 4], vec![0; 16]);
        spoil(&mut file);
        let found = file.problems();
        assert!(found.contains(expect), "expected {expect}, found {found}");
    }
    for (file, expect) in [
        (initialised(F32, &[4], vec![0; 16]), "the variable `sum` is f32 [1, 4], and f32 [4] at first"),
        (initialised(I32, &[1, 4], vec![0; 16]), "the variable `sum` is f32 [1, 4], and i32 [1, 4] at first"),
        (
            initialised(F32, &[1, 4], vec![0; 12]),
            "tensor `sum at first`: f32 [1, 4] has 16 bytes, the data 12",
        ),
    ] {
        let found = file.problems();
        assert!(found.contains(expect), "expected {expect}, found {found}");
    }
}
