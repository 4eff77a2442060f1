//! The `aot` tool as its users see it: exit codes, output, JSON, files.

mod bundle;
mod check;
mod convert;
mod intervals;
mod plan;
mod run;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use aot_build::graph::Shape;
use aot_build::weights::{Stored, npy};
use aot_rt::DType;
use serde_json::Value;

const DIGITS: &str = "examples/digits/model/digits.tflite";
const DIGITS_FLOAT: &str = "examples/digits/model/digits.json";
const CASE: &str = "examples/digits/model/cases/digits_int8";
const CASE_FLOAT: &str = "examples/digits/model/cases/digits_float";

/// What a command did.
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Ran {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}{}", self.out, self.err))
    }
}

/// Runs the tool in the root of the repository.
fn aot<S: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = S>) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_aot"));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).args(arguments);
    let Output { status, stdout, stderr } = command.output().unwrap();
    Ran {
        code: status.code(),
        out: String::from_utf8(stdout).unwrap(),
        err: String::from_utf8(stderr).unwrap(),
    }
}

/// Runs the tool with the words of `line` as arguments.
fn line(line: &str) -> Ran {
    aot(line.split_whitespace())
}

/// A path relative to the root of the repository.
fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// An empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tool").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn write_npy(path: &Path, dtype: DType, shape: &[usize], bytes: &[u8]) {
    let shape = Shape::new(shape).unwrap();
    std::fs::write(path, npy::write(&Stored { dtype, shape, bytes })).unwrap();
}

/// The elements of a `.npy` file.
fn read_npy(path: &Path) -> Vec<u8> {
    npy::read(&std::fs::read(path).unwrap()).unwrap().bytes.to_vec()
}
