//! Variable tensors: the state of recurrent layers.

use super::files::*;
use super::writer::Table;

const IS_VARIABLE: usize = 5;
/// Tensor and operand.
const STATE: usize = 4;

/// `y` of an SVDF of 2 filters with a memory of 3 features, and all that it takes.
fn svdf() -> File {
    let mut file = File::new();
    let x = file.tensor("x", F32, &[1, 2]);
    let weights = file.constant("weights", F32, &[2, 2], vec![0; 16]);
    let time = file.constant("time", F32, &[2, 3], vec![0; 24]);
    let bias = file.constant("bias", F32, &[2], vec![0; 8]);
    let state = file.tensor("state", F32, &[1, 6]);
    let y = file.tensor("y", F32, &[1, 2]);
    file.tensors[STATE].set(IS_VARIABLE, 1_u8);
    file.operator(27, &[x, weights, time, bias, state], y, Some((6, Table::default().with(0, 1_i32))));
    (file.inputs, file.outputs) = (vec![x], vec![y]);
    file
}

#[test]
fn a_variable_tensor_is_a_state() {
    let graph = svdf().read().unwrap();
    let [state] = &graph.states[..] else { panic!("{} states", graph.states.len()) };
    let [node] = &graph.nodes[..] else { panic!("{} nodes", graph.nodes.len()) };
    assert_eq!((node.inputs[STATE], node.outputs[1]), (Some(state.before), state.after));
    let initial = graph.tensor(state.initial).data.as_ref().unwrap();
    assert_eq!(initial.bytes(), [0; 24]);
}

#[test]
fn the_next_layer_reads_what_a_state_has_become() {
    let mut file = svdf();
    let z = file.tensor("z", F32, &[1, 6]);
    let state = i32::try_from(STATE).unwrap();
    file.operator(0, &[state, state], z, Some((11, Table::default())));
    file.outputs = vec![z];
    let graph = file.read().unwrap();
    assert_eq!(graph.nodes[1].inputs, [Some(graph.states[0].after); 2]);
}

#[test]
fn states_are_refused() {
    let inputs = |f: &mut File, inputs: [i32; 5]| f.operators[0].set(INPUTS, inputs.to_vec());
    for (spoil, expect) in [
        (
            (|f, _| f.tensors[STATE].set(IS_VARIABLE, 0_u8)) as fn(&mut File, fn(&mut File, [i32; 5])),
            "node #0 SVDF `y`: reads `state` (tensor #4), which is no input, has no data, and nothing writes it",
        ),
        (|f, inputs| inputs(f, [0, 1, 2, 3, 0]), "operand 4, `x` (tensor #0), is its state, and no variable"),
        (|f, inputs| inputs(f, [0, 1, 2, 3, -1]), "operand 4, which is its state, is left out"),
        (
            |f, inputs| inputs(f, [0, 1, 4, 3, 4]),
            "operand 4, `state` (tensor #4), is its state, and another operand",
        ),
        (|f, _| f.tensors[STATE].set(BUFFER, 1_u32), "tensor `state`: is a variable that has data"),
        (
            |f, _| f.tensors[STATE].set(SHAPE, vec![1 << 14, 1 << 14]),
            "tensor `state`: is a variable of 1073741824 bytes, the limit is 268435456",
        ),
        (
            |f, _| f.tensors[STATE].set(SHAPE, vec![1, 5]),
            "operand 4, `state`, is f32 [1, 5], expected f32 [1, 6]",
        ),
        (
            |f, _| f.operators[0].set(OUTPUTS, vec![4]),
            "node #0 SVDF `state`: writes `state` (tensor #4), which is a variable",
        ),
    ] {
        let mut file = svdf();
        spoil(&mut file, inputs);
        let problems = file.problems();
        assert!(problems.contains(expect), "expected {expect}, found {problems}");
    }
}

#[test]
fn options_of_recurrent_layers_are_refused() {
    for (slot, value, expect) in
        [(0, 0_i32, "rank is 0, expected at least 1"), (0, 3, "2 filters are no units of rank 3")]
    {
        let mut file = svdf();
        file.operators[0].table(OPTIONS).set(slot, value);
        let problems = file.problems();
        assert!(problems.contains(expect), "expected {expect}, found {problems}");
    }
}
