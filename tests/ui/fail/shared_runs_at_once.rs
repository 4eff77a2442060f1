//! Runs of models that share one workspace cannot go on at the same time.
use aot_shared_tests::three::Three;

fn two_runs(three: &mut Three) {
    let mut digits = three.digits().start(&[0; 64]);
    let mut filter = three.filter().start(&[0; 12]);
    digits.step();
    filter.step();
}

fn another_model_within_a_run(three: &mut Three) {
    let mut digits = three.digits().start(&[0; 64]);
    three.filter().run(&[0; 12]);
    digits.step();
}

fn the_runner_within_its_run(three: &mut Three) {
    let mut runner = three.digits();
    let mut digits = runner.start(&[0; 64]);
    runner.run(&[0; 64]);
    digits.step();
}

fn a_result_that_another_run_destroys(three: &mut Three) -> i8 {
    let result = three.digits().start(&[0; 64]).finish();
    let _ = three.filter().start(&[0; 12]);
    result[0]
}

fn main() {}
