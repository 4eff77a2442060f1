//! What must compile, and what must not and how it says so.
//!
//! `TRYBUILD=overwrite cargo test -p aot-ui-tests` writes the expected messages anew.

use std::fs;
use std::path::{Path, PathBuf};

/// Paths in `aot_model!` are relative to the crate's manifest; that of the crate which
/// trybuild makes is here.
fn crate_folder() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("tmp is in the target folder");
    target.join("tests/trybuild").join(env!("CARGO_PKG_NAME"))
}

fn copy_models() {
    let models = crate_folder().join("models");
    fs::create_dir_all(&models).unwrap();
    for file in fs::read_dir("models").unwrap() {
        let file = file.unwrap().path();
        fs::copy(&file, models.join(file.file_name().unwrap())).unwrap();
    }
}

#[test]
fn ui() {
    copy_models();
    // Checked only, all in one call of cargo.
    trybuild::TestCases::new().compile_fail("fail/*.rs");

    // Built, one after the other, since a `const` block in a generic function is
    // computed when its caller is.
    let built = trybuild::TestCases::new();
    built.pass("pass/*.rs");
    built.compile_fail("regions/*.rs");
}
