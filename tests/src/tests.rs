//! What the odd graphs compute.

use aot_rt::{IoError, Model};

use super::{
    chain, copies, moves, moves_caller, names, names_caller, names_inputs_caller, names_outputs_caller,
    private, states, states_caller, truth, truth_caller,
};

const A: [i8; 4] = [3, 4, 5, 127];
const B: [i8; 4] = [3, 3, 4, 3];
/// `a + b`, where 3 stands for 0.
const SUM: [i8; 4] = [3, 4, 6, 127];
const TWICE: [i8; 4] = [3, 5, 9, 127];
const UNUSED: [i8; 4] = [0; 4];

#[test]
fn names_become_fields() {
    let mut odd = names::Odd::new();
    let inputs = names::OddInputs { input_type: &A, input_run: &B, input: &UNUSED, a_b_x_y: &UNUSED };
    let names::OddOutputs { output_type, very_long_name_very_long_name_very_long_name_very: twice } =
        odd.run(inputs);
    assert_eq!((output_type, twice), (&SUM, &TWICE));
}

#[test]
fn regions_are_written_in_place() {
    let mut odd = names::Odd::default();
    for _ in 0..2 {
        *odd.input_type_mut() = A;
        *odd.input_run_mut() = B;
        odd.input_mut().fill(1);
        odd.run_in_place();
        assert_eq!(odd.output_type(), &SUM);
    }
}

#[test]
fn placements_agree() {
    let inputs = [A, B, UNUSED, UNUSED].map(|x| x.map(i8::cast_unsigned));
    let inputs = inputs.each_ref().map(<[u8; 4]>::as_slice);
    let expected = [SUM, TWICE].map(|x| x.map(i8::cast_unsigned));
    run_bytes(&mut names::Odd::new(), &inputs, expected);
    run_bytes(&mut names_inputs_caller::Odd::new(), &inputs, expected);
    run_bytes(&mut names_outputs_caller::Odd::new(), &inputs, expected);
    run_bytes(&mut names_caller::Odd::new(), &inputs, expected);
}

fn run_bytes<M: Model>(model: &mut M, inputs: &[&[u8]], expected: [[u8; 4]; 2]) {
    assert_eq!(M::INPUTS.len(), 4);
    assert_eq!((M::INPUTS[0].name, M::INPUTS[2].name), ("type", ""));
    assert_eq!(M::NAME, "odd \"names\" \u{202e}\n");
    let (mut a, mut b) = ([9; 4], [9; 4]);
    model.run_bytes(inputs, &mut [&mut a, &mut b]).unwrap();
    assert_eq!([a, b], expected);
    assert_eq!(model.run_bytes(&inputs[1..], &mut [&mut a, &mut b]), Err(IoError::InputCount));
    assert_eq!(model.run_bytes(inputs, &mut [&mut a]), Err(IoError::OutputCount));
    assert_eq!(model.run_bytes(inputs, &mut [&mut a, &mut b[1..]]), Err(IoError::OutputBytes(1)));
}

#[test]
fn arrays_are_the_callers() {
    let inputs = names_caller::OddInputs { input_type: &A, input_run: &B, input: &UNUSED, a_b_x_y: &UNUSED };
    let (mut sum, mut twice) = ([0; 4], [0; 4]);
    names_caller::Odd::new().run(
        inputs,
        names_caller::OddOutputs {
            output_type: &mut sum,
            very_long_name_very_long_name_very_long_name_very: &mut twice,
        },
    );
    assert_eq!((sum, twice), (SUM, TWICE));
}

#[test]
fn inputs_and_constants_are_copied_to_outputs() {
    let mut copies = copies::Copies::new();
    let outputs = copies.run(&[1.0, -2.0, f32::NAN]);
    assert_eq!(outputs.seven, &[7, -7]);
    for x in [outputs.output_x, outputs.output_x_2] {
        assert_eq!(x.map(f32::to_bits), [1.0, -2.0, f32::NAN].map(f32::to_bits));
    }
    assert_eq!(private::copy(&[1.0, 2.0, 3.0]), ([1.0, 2.0, 3.0], [7, -7]));
}

#[test]
fn views_and_parts() {
    let x: [i8; 8] = [1, 2, 3, 4, 10, 20, 30, 40];
    // 3 stands for 0.
    let all = [[8, 19, 30, 41], [2, 3, 20, 30], [8, 19, 30, 41], [41, 30, 19, 8], [10, 20, 30, 40]];
    let wide = all.map(|row| [row, row].concat()).concat();
    let twice = [all[3], all[4]].concat().iter().map(|q| 2 * q - 3).collect::<Vec<i8>>();
    let (all, last) = (all.concat(), all[3..].concat());
    let mut runner = moves::Moves::new();
    for _ in 0..2 {
        let outputs = runner.run(&x);
        assert_eq!((&outputs.all[..], &outputs.wide[..]), (&all[..], &wide[..]));
        assert_eq!((&outputs.last[..], &outputs.twice[..]), (&last[..], &twice[..]));
    }
    let (mut found_all, mut found_wide, mut found_last, mut found_twice) = ([0; 20], [0; 40], [0; 8], [0; 8]);
    let outputs = moves_caller::MovesOutputs {
        all: &mut found_all,
        wide: &mut found_wide,
        last: &mut found_last,
        twice: &mut found_twice,
    };
    moves_caller::Moves::new().run(&x, outputs);
    assert_eq!((&found_all[..], &found_wide[..]), (&all[..], &wide[..]));
    assert_eq!((&found_last[..], &found_twice[..]), (&last[..], &twice[..]));
}

#[test]
fn truth_values_are_bytes() {
    let (x, mask) = ([-1.0, -2.0, 3.0, 4.0], [1, 0, 1, 0]);
    let (y, rest) = ([1.0, -2.0, 3.0, -4.0], [0, 1, 1, 0]);
    let mut runner = truth::Truth::new();
    for _ in 0..2 {
        let outputs = runner.run(truth::TruthInputs { x: &x, mask: &mask });
        assert_eq!((outputs.y, outputs.rest), (&y, &rest));
    }
    let (mut found_y, mut found_rest) = ([0.0; 4], [7; 4]);
    let outputs = truth_caller::TruthOutputs { y: &mut found_y, rest: &mut found_rest };
    truth_caller::Truth::new().run(truth_caller::TruthInputs { x: &x, mask: &mask }, outputs);
    assert_eq!((found_y, found_rest), (y, rest));
}

#[test]
fn many_steps() {
    assert_eq!(chain::Workspace::new().run(&[1.5]).map(f32::to_bits), [1.5_f32.to_bits()]);
    assert_eq!(chain::Workspace::MACS, 120);
}

/// The constants are constants.
const _: () = {
    assert!(names::Odd::INPUT_TYPE_LEN == 4 && names::Odd::INPUT_TYPE_SHAPE[1] == 4);
    assert!(names::Odd::INPUT_TYPE_QUANTIZATION.zero_point == 3);
    assert!(names::Odd::ARENA_BYTES <= 24 && names_caller::Odd::ARENA_BYTES == 0);
};

#[test]
fn integers_and_real_numbers() {
    assert_eq!(names::Odd::quantize_input_type(1.0), 5);
    assert_eq!(names::Odd::quantize_input_type(f32::INFINITY), 127);
    assert_eq!(names::Odd::dequantize_output_type(5).to_bits(), 1.0_f32.to_bits());
}

#[test]
fn there_is_one_static_runner() {
    let odd = names::Odd::take().unwrap();
    assert!(names::Odd::take().is_none());
    assert_eq!(odd.output_type(), &[0; 4]);
}

#[test]
fn states_are_kept_until_they_are_reset() {
    let mut states = states::States::new();
    let mut states_caller = states_caller::States::new();
    for round in 0..2 {
        for (x, sum, before, a) in [
            ([1.0, 2.0], [1.0, 2.0], [0.0, 0.0], [1.0, 2.0]),
            ([10.0, -5.0], [11.0, -3.0], [1.0, 2.0], [-1.0, 3.0]),
            ([0.5, 0.5], [11.5, -2.5], [11.0, -3.0], [1.0, 2.0]),
        ] {
            let outputs = states.run(&x);
            assert_eq!((outputs.next, outputs.sum, outputs.a), (&sum, &before, &a), "round {round}");
            let (mut next, mut sum_before, mut swapped) = ([0.0; 2], [0.0; 2], [0.0; 2]);
            let outputs =
                states_caller::StatesOutputs { next: &mut next, sum: &mut sum_before, a: &mut swapped };
            states_caller.run(&x, outputs);
            assert_eq!((next, sum_before, swapped), (sum, before, a), "round {round}");
        }
        states.reset();
        // What the workspace held does not matter to the next run.
        states_caller.fill_workspace(0xa5);
    }
    assert_eq!(states::States::STATE_BYTES, 24);
}
