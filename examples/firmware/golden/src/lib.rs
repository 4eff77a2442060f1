//! For the build scripts here: which model an example takes, and what the reference gives
//! for an input.

use std::path::{Path, PathBuf};
use std::{env, fs};

use aot_build::weights::npy;

/// A model's file, and a folder with an input and the reference's output.
pub struct Case {
    pub model: PathBuf,
    pub set: PathBuf,
}

impl Case {
    /// The model `name` of `shared/models`, which are not in the repository, and a set of it.
    pub fn published(name: &str, set: &str) -> Self {
        let folder = Path::new("../../../../shared/models").join(name);
        Self { model: folder.join("model.tflite"), set: folder.join(set) }
    }

    /// The digits network.
    pub fn digits() -> Self {
        let folder = Path::new("../../digits/model");
        Self { model: folder.join("digits.tflite"), set: folder.join("cases/digits_int8/s0") }
    }
}

/// The `published` model where it is there, which the configuration of that name says; the
/// one of our `own` otherwise, and where the environment has `OWN_MODELS`. Its input and output go to `input.bin` and `expected.bin` in
/// `OUT_DIR`.
///
/// # Panics
///
/// When a file cannot be read or written: the build script cannot go on.
pub fn choose(published: Case, own: Case) -> PathBuf {
    println!("cargo::rustc-check-cfg=cfg(published)");
    println!("cargo::rerun-if-env-changed=OWN_MODELS");
    let is_there = published.model.is_file() && env::var_os("OWN_MODELS").is_none();
    if is_there {
        println!("cargo::rustc-cfg=published");
    }
    let case = if is_there { published } else { own };
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    for (from, to) in [("in0.npy", "input.bin"), ("out0.npy", "expected.bin")] {
        let path = case.set.join(from);
        println!("cargo::rerun-if-changed={}", path.display());
        let file = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let array = npy::read(&file).expect("the array is well-formed");
        fs::write(out.join(to), array.bytes).expect("OUT_DIR can be written");
    }
    case.model
}
