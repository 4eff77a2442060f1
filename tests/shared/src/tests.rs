//! Models take turns in one workspace: each gives what it gives alone, and what the reference
//! gives; what it keeps from run to run stays while others run.

use std::path::Path;

use aot_build::weights::npy;
use aot_rt::Model;

use crate::alone::{AloneDigits, AloneFilter, AloneTwin};
use crate::{fed, placed, three};

/// What the workspace holds at first.
const POISON: u8 = 0xa5;

/// Digits in the test set.
const DIGITS: usize = 20;

fn array(path: &Path) -> Vec<i8> {
    let file = std::fs::read(path).expect("the array can be read");
    npy::read(&file).expect("the array is well-formed").bytes.iter().map(|byte| byte.cast_signed()).collect()
}

/// The inputs and the reference's outputs of a set.
fn set(folder: &str) -> (Vec<i8>, Vec<i8>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    (array(&folder.join("in0.npy")), array(&folder.join("out0.npy")))
}

fn digit(i: usize) -> (Vec<i8>, Vec<i8>) {
    set(&format!("examples/digits/model/cases/digits_int8/s{i}"))
}

fn filter() -> (Vec<i8>, Vec<i8>) {
    set("tests/conformance/cases/svdf_i8_memory_i8/s0")
}

fn bytes(elements: &[i8]) -> Vec<u8> {
    elements.iter().map(|element| element.cast_unsigned()).collect()
}

/// Runs a model on one input.
fn run<M: Model>(mut model: M, input: &[i8]) -> Vec<i8> {
    let mut output = vec![0; M::OUTPUTS[0].bytes()];
    model.run_bytes(&[&bytes(input)], &mut [&mut output]).expect("the arrays are as described");
    output.iter().map(|byte| byte.cast_signed()).collect()
}

/// Runs three models in turns; `$shared` is their memory.
macro_rules! take_turns {
    ($shared:expr) => {{
        let shared = $shared;
        shared.fill_workspace(POISON);
        let (frames, expected) = filter();
        let (input, output) = (AloneFilter::INPUTS[0].bytes(), AloneFilter::OUTPUTS[0].bytes());
        let steps = frames.len() / input;
        assert!(steps > 1, "the state matters");
        for step in 0..DIGITS {
            let (image, digits) = digit(step);
            assert_eq!(run(shared.digits(), &image), digits);
            let filtered = run(shared.filter(), &frames[step % steps * input..][..input]);
            if step < steps {
                assert_eq!(filtered, &expected[step * output..][..output], "step {step}");
            }
            assert_eq!(run(shared.twin(), &image), digits);
        }
        // From the start again.
        shared.filter().reset();
        assert_eq!(run(shared.filter(), &frames[..input]), &expected[..output]);
    }};
}

#[test]
fn models_take_turns() {
    take_turns!(&mut three::Three::new());
    take_turns!(three::Three::take().expect("it is taken once"));
    assert!(three::Three::take().is_none());
}

#[test]
fn models_take_turns_in_pools() {
    let mut placed = placed::Placed::take().expect("it is taken once");
    take_turns!(&mut placed);
    assert!(placed::Placed::take().is_none());
}

#[test]
fn the_workspace_is_as_large_as_the_largest_needs() {
    let alone = [AloneDigits::ARENA_BYTES, AloneTwin::ARENA_BYTES, AloneFilter::ARENA_BYTES];
    let largest = alone.into_iter().max().unwrap_or(0);
    let states = three::Three::STATE_BYTES;
    assert_eq!(states, AloneFilter::STATE_BYTES);
    assert!((largest..=largest + states).contains(&three::Three::ARENA_BYTES));
    assert!(three::Three::ARENA_BYTES < alone.iter().sum());
    let workspace = three::Three::ARENA_BYTES.next_multiple_of(16);
    assert!(size_of::<three::Three>() <= workspace + 16);
    assert_eq!(three::Digits::ARENA_BYTES, three::Three::ARENA_BYTES);
}

#[test]
fn equal_constants_are_stored_once() {
    assert_eq!(AloneTwin::CONSTANT_BYTES, AloneDigits::CONSTANT_BYTES);
    let both = AloneDigits::CONSTANT_BYTES + AloneFilter::CONSTANT_BYTES;
    const { assert!(three::Three::CONSTANT_BYTES >= AloneDigits::CONSTANT_BYTES) };
    assert!(three::Three::CONSTANT_BYTES <= both.next_multiple_of(16));
}

#[test]
fn rows_that_were_pushed_are_forgotten_with_the_runner() {
    let (image, digits) = digit(0);
    let (frames, expected) = filter();
    let rows: Vec<[i8; 8]> = image.as_chunks().0.to_vec();
    let mut fed = fed::Fed::new();
    fed.fill_workspace(POISON);
    let mut runner = fed.by_rows();
    for row in &rows[..rows.len() / 2] {
        assert!(runner.feed_row(row).is_none());
    }
    // Its memory goes to another model; the next runner starts with the first row.
    let input = AloneFilter::INPUTS[0].bytes();
    let filtered = run(fed.other(), &frames[..input]);
    assert_eq!(filtered, &expected[..AloneFilter::OUTPUTS[0].bytes()]);
    let mut runner = fed.by_rows();
    let (last, first) = rows.split_last().expect("there are rows");
    assert!(first.iter().all(|row| runner.feed_row(row).is_none()));
    assert_eq!(runner.feed_row(last).map(|output| &output[..]), Some(&digits[..]));
}
