//! The profiler sees every step, with the multiply-accumulates that it did.

use aot_rt::{Profiler, StepInfo};

use crate::models::{Digits, DigitsMin, IfBoth, WhileWeights};
use crate::{DIGITS_INPUT, IF, WHILE, f32s, i8s};

/// A clock that counts how often it is read.
fn clock() -> impl FnMut() -> u64 {
    let mut now = 0;
    move || {
        now += 1;
        now
    }
}

/// The kernels of `digits.tflite` and what they do, from the extents of its layers.
const LAYERS: [(&str, u64); 7] = [
    ("conv2d_i8", 8 * 8 * 16 * 9),
    ("conv2d_i8", 8 * 8 * 16 * 9 * 16),
    ("max_pool2d_i8", 0),
    ("conv2d_i8", 4 * 4 * 32 * 9 * 16),
    ("max_pool2d_i8", 0),
    ("fully_connected_i8", 128 * 10),
    ("softmax_i8", 0),
];

#[test]
fn every_step_with_its_multiply_accumulates() {
    let image = i8s(DIGITS_INPUT);
    let mut digits = Digits::new();
    let mut profiler = Profiler::new(Digits::STEPS, clock());
    for runs in 1..=3 {
        digits.run_with(&mut profiler, &image);
        let found: Vec<_> = profiler.steps().collect();
        assert_eq!(found.len(), LAYERS.len());
        for ((step, spent), (kernel, macs)) in found.iter().zip(LAYERS) {
            assert_eq!(step.kernel, Some(kernel));
            // The clock is read before and after.
            assert_eq!((spent.calls, spent.ticks, spent.macs), (runs, runs, runs * macs), "{}", step.name);
        }
        assert_eq!(profiler.ticks(), runs * 7);
    }
    profiler.reset();
    assert!(profiler.steps().all(|(_, spent)| spent.calls == 0) && profiler.ticks() == 0);
}

#[test]
fn rows_are_added_up() {
    let mut digits = DigitsMin::new();
    let mut profiler = Profiler::new(DigitsMin::STEPS, clock());
    digits.run_with(&mut profiler, &i8s(DIGITS_INPUT));
    let calls: Vec<_> = profiler.steps().map(|(_, spent)| spent.calls).collect();
    // Two convolutions of 8 rows and a pooling to 4 run row by row.
    assert_eq!(calls, [8, 8, 4, 1, 1, 1, 1]);
    let macs: Vec<_> = profiler.steps().map(|(_, spent)| spent.macs).collect();
    assert_eq!(macs, LAYERS.map(|(_, macs)| macs));
}

#[test]
fn the_table_adds_up_by_operator() {
    let mut digits = Digits::new();
    let mut profiler = Profiler::new(Digits::STEPS, clock());
    digits.run_with(&mut profiler, &i8s(DIGITS_INPUT));
    let table = profiler.to_string();
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[2], ["conv2d_1", "1", "1", "14.2%", "147456", "147456.00"]);
    let operators: Vec<_> = rows.iter().skip_while(|row| row.first() != Some(&"operator")).collect();
    let names: Vec<_> = operators.iter().map(|row| row[0]).collect();
    assert_eq!(names, ["operator", "conv2d", "max_pool2d", "fully_connected", "softmax", "total"]);
    assert_eq!(operators[1][1..], ["3", "3", "42.8%", "230400", "76800.00"]);
    assert_eq!(operators[5][1..], ["7", "7", "100.0%", "231680", "33097.14"]);
}

/// Calls of the steps with these words in their names.
fn calls<'s>(
    steps: impl Iterator<Item = (&'static StepInfo, aot_rt::Spent)> + Clone + 's,
    word: &str,
) -> Vec<u64> {
    steps.filter(|(step, _)| step.name.contains(word)).map(|(_, spent)| spent.calls).collect()
}

#[test]
fn the_branch_that_runs() {
    for (set, then, otherwise) in [("s0", 1, 0), ("s1", 0, 1)] {
        let array = |name: &str| format!("{IF}/{set}/{name}.npy");
        let [c] = crate::bytes(&array("in0"))[..] else { panic!("a truth value") };
        let mut profiler = Profiler::new(IfBoth::STEPS, clock());
        let x = i8s(&array("in1"));
        let inputs = crate::models::IfBothInputs { c: &[c], x: &x };
        assert_eq!(*IfBoth::new().run_with(&mut profiler, inputs), i8s(&array("out0")));
        let (thens, elses) = (calls(profiler.steps(), "_then_"), calls(profiler.steps(), "_else_"));
        assert!(!thens.is_empty() && thens.iter().all(|calls| *calls == then), "{thens:?}");
        assert!(!elses.is_empty() && elses.iter().all(|calls| *calls == otherwise), "{elses:?}");
    }
}

#[test]
fn each_iteration_of_a_loop() {
    // It counts up to 3.
    for (set, iterations) in [("s0", 3), ("s1", 1)] {
        let array = |name: &str| format!("{WHILE}/{set}/{name}.npy");
        let first = crate::bytes(&array("in0")).try_into().map(i32::from_le_bytes).expect("a number");
        let mut profiler = Profiler::new(WhileWeights::STEPS, clock());
        let x = f32s(&array("in1"));
        let inputs = crate::models::WhileWeightsInputs { i: &[first], x: &x };
        WhileWeights::new().run_with(&mut profiler, inputs);
        let steps = || profiler.steps();
        assert!(calls(steps(), "_body_").iter().all(|calls| *calls == iterations));
        assert!(calls(steps(), "_condition_").iter().all(|calls| *calls == iterations + 1));
        let product = steps().find(|(step, _)| step.operator == "fully_connected").map(|(_, spent)| spent);
        assert_eq!(product.map(|spent| spent.macs), Some(9 * iterations));
        // The loop itself has what its steps leave: the clock is read once more than there
        // are steps in it.
        let (whole, within) = steps().fold((0, 0), |(whole, within), (step, spent)| match step.kernel {
            None => (whole + spent.ticks, within),
            Some(_) => (whole, within + spent.ticks),
        });
        let nested: u64 = calls(steps(), "while_2_").iter().sum();
        assert_eq!(whole, nested + 1);
        assert_eq!(profiler.ticks(), whole + within);
    }
}
