//! Models that share one workspace cannot run at the same time.
use aot_shared_tests::three::Three;

fn two_runners(three: &mut Three) {
    let mut digits = three.digits();
    let mut filter = three.filter();
    digits.run(&[0; 64]);
    filter.run(&[0; 12]);
}

fn a_result_that_another_model_destroys(three: &mut Three) -> i8 {
    let mut digits = three.digits();
    let result = digits.run(&[0; 64]);
    three.filter();
    result[0]
}

fn main() {}
