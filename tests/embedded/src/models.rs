//! The models, and the inputs and outputs that a reference gave for them.

use std::fs;
use std::path::{Path, PathBuf};

use aot_build::Compiled;
use aot_build::eval::Evaluator;
use aot_build::program::Port;
use aot_build::weights::npy;
use aot_rt::DType;

/// Models that are not in the repository: folders of `shared/models`.
const PUBLISHED: [&str; 9] = [
    "mlperf_ad_int8",
    "mlperf_kws_int8",
    "mlperf_resnet_int8",
    "mlperf_sww_int8",
    "mlperf_vww_int8",
    "mww_okay_nabu",
    "tflm_hello_world_int8",
    "tflm_micro_speech",
    "tflm_person_detect",
];

/// Sets of inputs that are run, of those that there are.
const SETS: usize = 3;

/// The largest difference of float results, as a part of the largest result: exponentials
/// are not the C library's.
const TOLERANCE: f32 = 1e-5;

/// A model's file and the folder with its sets of inputs and outputs.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) name: &'static str,
    pub(crate) file: PathBuf,
    folder: PathBuf,
}

/// All models that are there.
pub(crate) fn all(workspace: &Path, shared: &Path) -> Vec<Model> {
    let digits = workspace.join("examples/digits/model");
    let own = [("digits_float", "digits.json"), ("digits_int8", "digits.tflite")].map(|(name, file)| Model {
        name,
        file: digits.join(file),
        folder: digits.join("cases").join(name),
    });
    let published = PUBLISHED.map(|name| {
        let folder = shared.join("models").join(name);
        Model { name, file: folder.join("model.tflite"), folder }
    });
    own.into_iter().chain(published).filter(|model| model.file.is_file()).collect()
}

/// Names of the published models that are not among `models`.
pub(crate) fn missing(models: &[Model]) -> Vec<&'static str> {
    let is_there = |name: &&str| models.iter().any(|model| model.name == *name);
    PUBLISHED.into_iter().filter(|name| !is_there(name)).collect()
}

/// Inputs of runs in a row, and the outputs that they must give, one after the other.
#[derive(Debug)]
pub(crate) struct Set {
    pub(crate) inputs: Vec<u8>,
    pub(crate) outputs: Vec<u8>,
}

impl Set {
    /// The same, so many times in a row.
    pub(crate) fn repeated(&self, times: usize) -> Self {
        Self { inputs: self.inputs.repeat(times), outputs: self.outputs.repeat(times) }
    }

    /// What is wrong with the `outputs` of a model, a line each.
    pub(crate) fn problems(&self, outputs: &[u8], compiled: &Compiled) -> Vec<String> {
        let dtype = compiled.program.outputs[0].ty.dtype;
        let mut problems = self.differences(outputs, dtype);
        // Floats may differ from the reference, but not from target to target.
        if dtype == DType::F32 && self.on_host(compiled).as_deref() != Ok(outputs) {
            problems.push("not the bits of the host".into());
        }
        problems
    }

    /// The outputs on the host.
    fn on_host(&self, compiled: &Compiled) -> Result<Vec<u8>, String> {
        let mut evaluator = Evaluator::new(compiled);
        let inputs = self.inputs.chunks(compiled.program.inputs[0].ty.bytes());
        let outputs = inputs.map(|input| Ok(evaluator.run(&[input])?.concat()));
        Ok(outputs.collect::<Result<Vec<_>, String>>()?.concat())
    }

    /// How `outputs` of type `dtype` differ from the reference's, a line each.
    fn differences(&self, outputs: &[u8], dtype: DType) -> Vec<String> {
        let mut problems = Vec::new();
        if outputs.len() != self.outputs.len() {
            problems.push(format!("{} bytes came out instead of {}", outputs.len(), self.outputs.len()));
        }
        let differing = differing(outputs, &self.outputs, dtype);
        if differing > 0 {
            problems.push(format!("{differing} elements differ from the reference"));
        }
        problems
    }
}

impl Model {
    /// The first sets of the model, whose one input and one output are these.
    pub(crate) fn sets(&self, input: &Port, output: &Port) -> Result<Vec<Set>, String> {
        let at = |error: std::io::Error| format!("{}: {error}", self.folder.display());
        let entries = fs::read_dir(&self.folder).map_err(at)?;
        let paths = entries.map(|entry| entry.map(|entry| entry.path()));
        let mut folders = paths.collect::<Result<Vec<_>, _>>().map_err(at)?;
        folders.retain(|folder| folder.join("in0.npy").is_file());
        folders.sort();
        let set = |folder: &PathBuf| {
            Ok(Set {
                inputs: runs(&folder.join("in0.npy"), input)?,
                outputs: runs(&folder.join("out0.npy"), output)?,
            })
        };
        folders.iter().take(SETS).map(set).collect()
    }
}

/// The arrays of all runs.
fn runs(path: &Path, port: &Port) -> Result<Vec<u8>, String> {
    let at = |error: String| format!("{}: {error}", path.display());
    let file = fs::read(path).map_err(|error| at(error.to_string()))?;
    let array = npy::read(&file).map_err(at)?;
    if array.dtype != port.ty.dtype || !array.shape.ends_with(&port.ty.shape) {
        return Err(at(format!("elements or shape are not those of `{}`, {}", port.name, port.ty)));
    }
    Ok(array.bytes.to_vec())
}

/// Number of elements of type `dtype` that differ.
fn differing(found: &[u8], expected: &[u8], dtype: DType) -> usize {
    if dtype != DType::F32 {
        return found.chunks(dtype.size()).zip(expected.chunks(dtype.size())).filter(|(a, b)| a != b).count();
    }
    let floats = |bytes: &[u8]| -> Vec<f32> {
        bytes.as_chunks().0.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect()
    };
    let (found, expected) = (floats(found), floats(expected));
    let largest = expected.iter().fold(0.0, |max: f32, x| max.max(x.abs()));
    let differs = |(a, b): &(&f32, &f32)| (*a - *b).abs() > TOLERANCE * largest || a.is_nan();
    found.iter().zip(&expected).filter(differs).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_and_differing_outputs_are_problems() {
        let set = Set { inputs: vec![], outputs: vec![1, 2, 3] };
        assert!(set.differences(&[1, 2, 3], DType::I8).is_empty());
        assert_eq!(set.differences(&[1, 2, 4], DType::I8), ["1 elements differ from the reference"]);
        assert_eq!(set.differences(&[1, 2], DType::I8), ["2 bytes came out instead of 3"]);
    }

    #[test]
    fn integers_differ_at_all_and_floats_beyond_the_tolerance() {
        assert_eq!(differing(&[1, 2, 3, 4], &[1, 3, 3, 5], DType::I8), 2);
        assert_eq!(differing(&[1, 2, 3, 4], &[1, 3, 3, 5], DType::I16), 2);
        let floats = |x: [f32; 2]| x.map(f32::to_le_bytes).concat();
        for (found, count) in [([100.0, 1.0005], 0), ([100.0, 1.01], 1), ([f32::NAN, 1.0], 1)] {
            assert_eq!(differing(&floats(found), &floats([100.0, 1.0]), DType::F32), count, "{found:?}");
        }
    }
}
