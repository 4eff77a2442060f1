//! Checksums of steps: equal for every way to compile a model and for the evaluator; a damage
//! shows from where it is.

use std::collections::HashMap;

use aot_build::eval::Evaluator;
use aot_build::{Config, compile_file};
use aot_rt::{Checksum, Checksums};

use crate::models::{
    Digits, DigitsCaller, DigitsMin, IfBoth, IfBothInputs, Layers, LayersDamaged, WhileWeights,
    WhileWeightsInputs,
};
use crate::{DIGITS, DIGITS_INPUT, IF, WHILE, bytes, f32s, file, i8s};

/// The checksum of each step that the evaluator runs, by name.
fn evaluated(model: &str, inputs: &[&[u8]]) -> HashMap<String, Checksum> {
    let model = compile_file(&file(model), &Config::default()).expect("the model compiles");
    let mut found = HashMap::new();
    let mut evaluator = Evaluator::new(&model.compiled);
    let results = evaluator.run_with(inputs, &mut |step, written| {
        let sum = found.entry(step.name.clone()).or_insert(Checksum::START);
        *sum = written.iter().fold(*sum, |sum, bytes| sum.bytes(bytes));
    });
    results.expect("the inputs are as described");
    found
}

fn assert_equal<const STEPS: usize>(found: &Checksums<STEPS>, evaluated: &HashMap<String, Checksum>) {
    let found: HashMap<_, _> =
        found.steps().filter_map(|(step, sum)| Some((step.name.to_owned(), sum?))).collect();
    assert_eq!(&found, evaluated);
    assert!(!found.is_empty());
}

#[test]
fn every_way_to_compile_computes_the_same() {
    let image = i8s(DIGITS_INPUT);
    let mut whole = Checksums::new(Digits::STEPS);
    Digits::new().run_with(&mut whole, &image);
    let mut rows = Checksums::new(DigitsMin::STEPS);
    DigitsMin::new().run_with(&mut rows, &image);
    let mut caller = Checksums::new(DigitsCaller::STEPS);
    DigitsCaller::new().run_with(&mut caller, &image, &mut [0; 10]);
    assert!(DigitsMin::STEPS.iter().any(|step| step.rows > 1));
    assert_eq!(whole.first_difference(&rows), None);
    assert_eq!(rows.first_difference(&whole), None);
    assert_eq!(whole.first_difference(&caller), None);
    let evaluated = evaluated(DIGITS, &[&bytes(DIGITS_INPUT)]);
    assert_equal(&whole, &evaluated);
    assert_equal(&rows, &evaluated);
    assert_equal(&caller, &evaluated);
}

#[test]
fn control_flow() {
    for set in ["s0", "s1"] {
        let array = |case: &str, name: &str| format!("{case}/{set}/{name}.npy");
        let (c, x) = (bytes(&array(IF, "in0")), bytes(&array(IF, "in1")));
        let mut found = Checksums::new(IfBoth::STEPS);
        let inputs = IfBothInputs { c: &[c[0]], x: &i8s(&array(IF, "in1")) };
        IfBoth::new().run_with(&mut found, inputs);
        assert_equal(&found, &evaluated(&format!("{IF}/model.tflite"), &[&c, &x]));

        let (i, x) = (bytes(&array(WHILE, "in0")), bytes(&array(WHILE, "in1")));
        let first = i.clone().try_into().map(i32::from_le_bytes).expect("a number");
        let mut found = Checksums::new(WhileWeights::STEPS);
        let inputs = WhileWeightsInputs { i: &[first], x: &f32s(&array(WHILE, "in1")) };
        WhileWeights::new().run_with(&mut found, inputs);
        assert_equal(&found, &evaluated(&format!("{WHILE}/model.tflite"), &[&i, &x]));
    }
}

/// A weight of the second layer is another.
#[test]
fn a_damage_shows_in_the_step_that_reads_it_and_those_after() {
    let x = [1.0, 2.0, 3.0];
    let mut good = Checksums::new(Layers::STEPS);
    Layers::new().run_with(&mut good, &x);
    let mut bad = Checksums::new(LayersDamaged::STEPS);
    LayersDamaged::new().run_with(&mut bad, &x);
    assert_eq!(good.first_difference(&bad).map(|step| step.node), Some("layer1"));
    let equal: Vec<_> = good.steps().zip(bad.steps()).map(|((_, a), (_, b))| a == b).collect();
    assert_eq!(equal, [true, false, false, false]);
    assert_eq!(good.to_string().lines().count(), 4);

    let mut again = Checksums::new(Layers::STEPS);
    Layers::new().run_with(&mut again, &x);
    assert_eq!(good.first_difference(&again), None);
    again.reset();
    assert_eq!(good.first_difference(&again).map(|step| step.node), Some("layer0"));
}
