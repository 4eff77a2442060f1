//! Generated code, observed by the instruments of `aot-rt`, and tensors that are kept.

mod checksums;
mod keep;
mod models;
mod profiler;
mod saturation;
mod skip;
mod zero_cost;

use std::path::{Path, PathBuf};

use aot_build::weights::npy;
use aot_rt::{Elements, Instrument, StepInfo};

/// A file of the repository.
fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// The bytes of an array.
fn bytes(path: &str) -> Vec<u8> {
    let file = std::fs::read(file(path)).expect("the array can be read");
    npy::read(&file).expect("the array is well-formed").bytes.to_vec()
}

/// An array of int8.
fn i8s<const LEN: usize>(path: &str) -> [i8; LEN] {
    let bytes: [u8; LEN] = bytes(path).try_into().expect("the array is as long as the tensor");
    bytes.map(u8::cast_signed)
}

/// An array of f32.
fn f32s<const LEN: usize>(path: &str) -> [f32; LEN] {
    let values = bytes(path).as_chunks().0.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect::<Vec<_>>();
    values.try_into().expect("the array is as long as the tensor")
}

const DIGITS: &str = "examples/digits/model/digits.tflite";
const DIGITS_INPUT: &str = "examples/digits/model/cases/digits_int8/s0/in0.npy";
const IF: &str = "tests/conformance/cases/if_i8_both";
const WHILE: &str = "tests/conformance/cases/while_f32_weights";

/// The results of one step.
struct Results {
    step: &'static str,
    found: Vec<i8>,
}

impl Instrument for Results {
    fn after(&mut self, step: &'static StepInfo, outputs: &[Elements<'_>]) {
        if let (true, [Elements::I8(result), ..]) = (step.name == self.step, outputs) {
            self.found.extend_from_slice(result);
        }
    }
}
