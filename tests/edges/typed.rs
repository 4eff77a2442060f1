//! The typed face of the same code: structs of outputs, arrays of packed elements, regions that
//! are written in place.

use aot_rt::{Model, bf16, f16, unpack_i4};

use crate::generated as code;

const X: [f32; 6] = [1.0, -2.0, 3.5, -4.0, 5.0, -6.0];
const RELU_X: [f32; 6] = [1.0, 0.0, 3.5, 0.0, 5.0, 0.0];

#[test]
fn equal_outputs_are_both_written() {
    use code::{value_twice_caller as caller, value_twice_workspace as workspace};
    let mut runner = workspace::Edge::new();
    let workspace::EdgeOutputs { y, output_y } = runner.run(&X);
    assert_eq!((y, output_y), (&RELU_X, &RELU_X));
    let (mut first, mut second) = ([9.0; 6], [9.0; 6]);
    caller::Edge::new().run(&X, caller::EdgeOutputs { y: &mut first, output_y: &mut second });
    assert_eq!((first, second), (RELU_X, RELU_X));
}

#[test]
fn an_input_written_in_place_is_an_output() {
    use code::{input_as_output_outputs_caller as caller, input_as_output_workspace as workspace};
    let mut runner = workspace::Edge::new();
    for _ in 0..2 {
        *runner.x_mut() = X;
        assert_eq!(runner.run_in_place(), &X);
    }
    let mut runner = caller::Edge::new();
    let mut found = [9.0; 6];
    *runner.x_mut() = X;
    runner.run_in_place(&mut found);
    assert_eq!(found, X);
}

#[test]
fn a_value_and_its_reshape() {
    use code::{value_and_reshape_caller as caller, value_and_reshape_workspace as workspace};
    let mut runner = workspace::Edge::new();
    *runner.x_mut() = X;
    let outputs = runner.run_in_place();
    assert_eq!((outputs.y, outputs.flat), (&RELU_X, &RELU_X));
    assert_eq!((workspace::Edge::Y_SHAPE, workspace::Edge::FLAT_SHAPE), ([2, 3], [6]));
    let (mut y, mut flat) = ([9.0; 6], [9.0; 6]);
    caller::Edge::new().run(&X, caller::EdgeOutputs { y: &mut y, flat: &mut flat });
    assert_eq!((y, flat), (RELU_X, RELU_X));
}

#[test]
fn nothing_to_give_and_nothing_to_take() {
    code::no_inputs_and_no_outputs_workspace::Edge::new().run();
    code::no_inputs_and_no_outputs_caller::Edge::new().run();
    code::no_outputs_workspace::Edge::new().run(&X);
    code::no_outputs_caller::Edge::new().run(&X);
    assert_eq!(code::no_outputs_workspace::Edge::OUTPUTS, []);
}

#[test]
fn the_state_of_a_model_without_outputs() {
    let mut runner = code::state_without_outputs_workspace::Edge::new();
    runner.run(&[1.0]);
    *runner.x_mut() = [2.0];
    runner.run_in_place();
    runner.reset();
}

#[test]
fn scalars_are_arrays_of_one() {
    let mut runner = code::scalars_workspace::Edge::new();
    let outputs = runner.run(&[2.0]);
    assert_eq!((outputs.y, outputs.output_x, outputs.c), (&[2.25], &[2.0], &[0.25]));
    assert_eq!(code::scalars_workspace::Edge::X_SHAPE, [0; 0]);
    assert_eq!(code::scalars_workspace::Edge::X_LEN, 1);
}

#[test]
fn no_elements_are_arrays_of_none() {
    let mut runner = code::no_elements_workspace::Edge::new();
    let outputs = runner.run(&[]);
    assert_eq!((outputs.output_x, outputs.c, outputs.output_x_2), (&[], &[], &[]));
    assert_eq!(
        (code::no_elements_workspace::Edge::C_SHAPE, code::no_elements_workspace::Edge::C_LEN),
        ([2, 0], 0)
    );
    assert_eq!(code::no_elements_workspace::Edge::ARENA_BYTES, 0);
}

#[test]
fn four_bits_are_two_in_a_byte() {
    use code::{cast_i4_caller as caller, cast_i4_workspace as workspace};
    let packed: [u8; 3] = [0x78, 0xf0, 0x03];
    let mut runner = workspace::Edge::new();
    let outputs = runner.run(&packed);
    assert_eq!((outputs.wide, outputs.narrow), (&[-8, 7, 0, -1, 3], &packed));
    assert_eq!((workspace::Edge::X_LEN, workspace::Edge::INPUTS[0].bytes()), (5, 3));
    let mut elements = [0; workspace::Edge::X_LEN];
    unpack_i4(outputs.narrow, &mut elements);
    assert_eq!(elements, [-8, 7, 0, -1, 3]);
    assert_eq!(workspace::Edge::quantize_x(100.0), 7);
    let (mut wide, mut narrow, mut integers) = ([9; 5], [9; 3], [9; 5]);
    let (mut floats, mut real) = ([9.0; 5], [9.0; 5]);
    let outputs = caller::EdgeOutputs {
        wide: &mut wide,
        narrow: &mut narrow,
        integers: &mut integers,
        floats: &mut floats,
        real: &mut real,
    };
    caller::Edge::new().run(&packed, outputs);
    assert_eq!((wide, narrow, integers), ([-8, 7, 0, -1, 3], packed, [-8, 7, 0, -1, 3]));
    assert_eq!(real, [-3.5, 4.0, 0.5, 0.0, 2.0]);
}

#[test]
fn half_precision_and_bfloat16() {
    let x = [1.0, -2.5, 3.0, 1000.0, 0.5].map(f16::from_f32);
    let mut runner = code::cast_f16_workspace::Edge::new();
    let outputs = runner.run(&x);
    assert_eq!(outputs.again, &x);
    assert_eq!(outputs.brain, &[1.0, -2.5, 3.0, 1000.0, 0.5].map(bf16::from_f32));
}
