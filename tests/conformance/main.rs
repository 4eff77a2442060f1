//! Models with known answers, through importer, passes, lowering and evaluator.
//!
//! Integers must be equal; floats may differ by 1e-5 of the largest output, since
//! exponentials are not the C library's. `-- --nocapture` shows the figures.

mod case;
#[path = "../generated/models.rs"]
mod models;
mod refused;
mod tables;

use std::path::{Path, PathBuf};

use case::Tally;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Real models, which are not part of the repository: `AOT_SHARED` names the folder.
fn shared_models_folder() -> PathBuf {
    let shared = std::env::var_os("AOT_SHARED").map_or_else(|| workspace().join("../shared"), PathBuf::from);
    shared.join("models")
}

#[test]
fn operators() {
    let mut tally = Tally::default();
    for folder in case::folders(&workspace().join("tests/conformance/cases")) {
        tally.add(case::run(&folder));
    }
    tally.conclude("operators");
    assert!(tally.divided > 300, "{} cases are divided", tally.divided);
}

#[test]
fn digits() {
    let mut tally = Tally::default();
    for folder in case::folders(&workspace().join("examples/digits/model/cases")) {
        tally.add(case::run(&folder));
    }
    tally.conclude("digits");
}

/// Beginnings of the names of single-operator cases beside the models.
const SHARED_OPERATORS: &[&str] = &[
    "seanet_add",
    "seanet_conv",
    "seanet_leaky_relu",
    "seanet_pad",
    "seanet_quantize",
    "seanet_strided_slice",
    "seanet_transpose_conv",
    "seanet_sub",
];

#[test]
fn shared_operators() {
    let models = shared_models_folder();
    if !models.is_dir() {
        aot_tests::skipped(&format!("{} is not there; AOT_SHARED names the folder", models.display()));
        return;
    }
    let mut tally = Tally::default();
    for folder in case::folders(&models) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        if SHARED_OPERATORS.iter().any(|operator| name.starts_with(operator)) {
            tally.add(case::run(&folder));
        }
    }
    tally.conclude("shared operators");
}

/// Models that the evaluator runs only: the stack of a test has no room for their runners.
const LARGE: [&str; 1] = ["mediapipe_hand_recrop"];

#[test]
fn shared_models() {
    let models = shared_models_folder();
    if !models.is_dir() {
        let hint = "AOT_SHARED names the folder that holds it";
        aot_tests::skipped(&format!("{} is not there; {hint}", models.display()));
        return;
    }
    let mut all = Tally::default();
    for name in models::SHARED.iter().copied().chain(LARGE) {
        let folder = models.join(name);
        if !folder.is_dir() {
            aot_tests::skipped(&format!("{} is not there", folder.display()));
            continue;
        }
        let tally = case::run(&folder);
        println!(
            "{name}: {} sets, {} of {} integers differ, floats by at most {:.1e}",
            tally.sets, tally.differing, tally.elements, tally.largest
        );
        all.add(tally);
    }
    all.conclude("shared models");
}

/// Models that leave their first extent open: what a batch gives is what its parts give.
const OPEN: [&str; 4] = ["mlperf_ad_float", "mlperf_kws_int8", "mlperf_resnet_int8", "tinymaix_mnist_int8"];

#[test]
fn batches() {
    let models = shared_models_folder();
    if !models.is_dir() {
        aot_tests::skipped(&format!("{} is not there; AOT_SHARED names the folder", models.display()));
        return;
    }
    let mut tally = Tally::default();
    for name in OPEN {
        tally.add(case::run_as_batch(&models.join(name)));
    }
    tally.conclude("batches");
}
