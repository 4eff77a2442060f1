//! Steps that are skipped.

use aot_rt::{Action, Instrument, StepInfo};

use crate::models::{Digits, DigitsMin};
use crate::{DIGITS_INPUT, Results, i8s};

/// Skips the steps of an operator; counts what is asked and what runs.
struct Skip(&'static str);

impl Instrument for Skip {
    fn before(&mut self, step: &'static StepInfo) -> Action {
        if [step.operator, "all"].contains(&self.0) { Action::Skip } else { Action::Run }
    }

    fn after(&mut self, step: &'static StepInfo, _: &[aot_rt::Elements<'_>]) {
        assert_ne!(step.operator, self.0, "a step that is skipped has no results");
    }
}

/// The softmax works in place: without it, the output is what the matrix product gives.
#[test]
fn a_step_that_is_skipped_leaves_its_memory() {
    let image = i8s(DIGITS_INPUT);
    let mut product = Results { step: "fully_connected_5", found: Vec::new() };
    let probabilities = *Digits::new().run_with(&mut product, &image);
    assert_ne!(probabilities[..], product.found);
    let mut digits = Digits::new();
    assert_eq!(digits.run_with(&mut Skip("softmax"), &image)[..], product.found);
    // Both of a pair decide.
    assert_eq!(digits.run_with(&mut ((), Skip("softmax")), &image)[..], product.found);
    assert_eq!(digits.run_with(&mut (Skip("softmax"), ()), &image)[..], product.found);
    assert_eq!(*digits.run(&image), probabilities);
}

#[test]
fn nothing_runs_where_all_is_skipped() {
    let mut digits = Digits::new();
    digits.fill_workspace(0x55);
    assert_eq!(digits.run_in_place_with(&mut Skip("all")), &[0x55; 10]);
    let mut rows = DigitsMin::new();
    rows.fill_workspace(0x55);
    assert_eq!(rows.run_in_place_with(&mut Skip("all")), &[0x55; 10]);
}
