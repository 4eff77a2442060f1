//! A case: a model, and folders of inputs with the outputs that a reference gives.
//!
//! The layout is that of `README.md` beside this file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use aot_build::config::{Device, InputPlacement, Memory, Value};
use aot_build::eval::Evaluator;
use aot_build::program::Port;
use aot_build::weights::npy;
use aot_build::{Compiled, Config, compile, import};
use aot_rt::DType;
use serde::Deserialize;

/// The largest difference of float results, as a part of the largest result.
const TOLERANCE: f64 = 1e-5;

/// What the tests need of `meta.json`.
#[derive(Deserialize)]
struct Meta {
    #[serde(default = "tflite")]
    file: PathBuf,
    sequence_steps: Option<serde_json::Value>,
    /// Keys of the configuration.
    #[serde(default)]
    config: BTreeMap<String, Value>,
}

fn tflite() -> PathBuf {
    "model.tflite".into()
}

/// What came out of a case, or of several.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) cases: usize,
    /// Cases whose steps can be divided.
    pub(crate) divided: usize,
    pub(crate) sets: usize,
    /// Elements compared.
    pub(crate) elements: usize,
    /// Integers that differ.
    pub(crate) differing: usize,
    /// The largest difference of floats, as a part of the largest expected one.
    pub(crate) largest: f64,
    /// What is wrong, a line each.
    pub(crate) failures: Vec<String>,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Self) {
        self.cases += other.cases;
        self.divided += other.divided;
        self.sets += other.sets;
        self.elements += other.elements;
        self.differing += other.differing;
        self.largest = self.largest.max(other.largest);
        self.failures.extend(other.failures);
    }

    /// Prints the figures of `what`.
    ///
    /// # Panics
    ///
    /// When something differs.
    pub(crate) fn conclude(&self, what: &str) {
        println!(
            "{what}: {} cases ({} divided), {} sets, {} elements; {} integers differ, floats by at most {:.1e}",
            self.cases, self.divided, self.sets, self.elements, self.differing, self.largest
        );
        assert!(self.cases > 0, "{what}: no case was found");
        assert!(self.failures.is_empty(), "{what}:\n{}", self.failures.join("\n"));
    }
}

/// Folders within `folder`, by name.
pub(crate) fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("a folder can be listed").path());
    let mut folders: Vec<_> = paths.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// The ways to compile a case: in tensors, row by row, with rows pushed, and for a device.
pub(crate) fn configurations() -> [(&'static str, Config); 4] {
    let min = Config { memory: Memory::Min, ..Config::default() };
    let rows = Config { inputs: InputPlacement::Rows, ..min.clone() };
    let all = Device { name: "device".into(), operators: vec!["*".into()], ..Device::default() };
    let device = Config { devices: vec![all], ..Config::default() };
    [("auto", Config::default()), ("min", min), ("rows", rows), ("device", device)]
}

/// Runs every set of inputs in `folder` through import, compilation and evaluator, as
/// tensors and row by row.
pub(crate) fn run(folder: &Path) -> Tally {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut tally = Tally { cases: 1, ..Tally::default() };
    for (configuration, config) in configurations() {
        match run_sets(folder, &config, &mut tally) {
            Ok(()) => assert!(tally.sets > 0, "{name}: no set of inputs"),
            Err(error) => tally.failures.push(format!("{configuration}: {error}")),
        }
    }
    match run_divided(folder) {
        Ok(is_divided) => tally.divided += usize::from(is_divided),
        Err(error) => tally.failures.push(format!("divided: {error}")),
    }
    for failure in &mut tally.failures {
        failure.insert_str(0, &format!("{name}: "));
    }
    tally
}

/// The same with steps divided into parts as small as they can be: every output is the same
/// to the bit. Gives whether there is one that is divided.
fn run_divided(folder: &Path) -> Result<bool, String> {
    let (meta, mut config) = configured(folder, &Config::default())?;
    let graph = import::import(&folder.join(&meta.file), &config).map_err(|error| error.to_string())?.graph;
    let text = |problems: Vec<aot_build::Problem>| {
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let whole = compile(graph.clone(), &config).map_err(text)?;
    config.max_step_macs = std::num::NonZeroU64::new(1);
    let divided = match compile(graph.clone(), &config) {
        Ok(divided) => divided,
        Err(problems) => {
            let text = text(problems);
            let least = text.rsplit_once("`max_step_macs = ").and_then(|(_, least)| least.split_once('`'));
            config.max_step_macs = least.and_then(|(least, _)| least.parse().ok());
            if config.max_step_macs.is_none() {
                return Err(format!("which number would do? {text}"));
            }
            compile(graph, &config).map_err(|_| text)?
        }
    };
    let mut run = Evaluator::new(&whole);
    let mut run_divided = Evaluator::new(&divided);
    for set in folders(folder).into_iter().filter(|path| is_set(path)) {
        for inputs in inputs(&set, &whole, meta.sequence_steps.is_some())? {
            let inputs: Vec<_> = inputs.iter().map(Vec::as_slice).collect();
            if run.run(&inputs)? != run_divided.run(&inputs)? {
                return Err(format!("{}: other outputs", set.display()));
            }
        }
    }
    let parts = |compiled: &Compiled| (compiled.program.steps.len(), compiled.program.runs.len());
    Ok(parts(&divided) != parts(&whole))
}

/// The inputs of each run of a set.
fn inputs(set: &Path, compiled: &Compiled, sequence: bool) -> Result<Vec<Vec<Vec<u8>>>, String> {
    let ports = compiled.program.inputs.iter().enumerate();
    let inputs = ports.map(|(i, port)| read_steps(&set.join(format!("in{i}.npy")), port, sequence));
    let inputs: Vec<_> = inputs.collect::<Result<_, _>>()?;
    let steps = inputs.iter().map(Vec::len).max().unwrap_or(0);
    Ok((0..steps).map(|step| inputs.iter().filter_map(|input| input.get(step).cloned()).collect()).collect())
}

fn is_set(path: &Path) -> bool {
    path.join("in0.npy").is_file()
}

/// What `meta.json` says, and the configuration with its keys.
fn configured(folder: &Path, config: &Config) -> Result<(Meta, Config), String> {
    let meta = std::fs::read(folder.join("meta.json")).map_err(|error| error.to_string())?;
    let meta: Meta = serde_json::from_slice(&meta).map_err(|error| error.to_string())?;
    let mut config = config.clone();
    for (key, value) in &meta.config {
        config.set(key, value.clone()).map_err(|problem| problem.to_string())?;
    }
    Ok((meta, config))
}

fn run_sets(folder: &Path, config: &Config, tally: &mut Tally) -> Result<(), String> {
    let (meta, config) = configured(folder, config)?;
    let config = &config;
    let imported = import::import(&folder.join(&meta.file), config).map_err(|error| error.to_string())?;
    let compiled = match compile(imported.graph, config) {
        Ok(compiled) => compiled,
        Err(problems) => {
            let text: Vec<_> = problems.iter().map(ToString::to_string).collect();
            // Not every model reads its input row by row.
            let no_rows = config.inputs == InputPlacement::Rows && text[0].contains("key `inputs`");
            return if no_rows { Ok(()) } else { Err(text.join("\n")) };
        }
    };
    for set in folders(folder).into_iter().filter(|path| is_set(path)) {
        tally.sets += 1;
        run_set(&set, &compiled, meta.sequence_steps.is_some(), tally)
            .map_err(|error| format!("{}: {error}", set.file_name().unwrap_or_default().display()))?;
    }
    Ok(())
}

/// Runs all sets of inputs in `folder` at once, as a batch. The model leaves its first extent
/// open.
pub(crate) fn run_as_batch(folder: &Path) -> Tally {
    let mut tally = Tally { cases: 1, ..Tally::default() };
    if let Err(error) = run_batch(folder, &mut tally) {
        tally.failures.push(format!("{}: {error}", folder.display()));
    }
    tally
}

fn run_batch(folder: &Path, tally: &mut Tally) -> Result<(), String> {
    let sets: Vec<_> = folders(folder).into_iter().filter(|set| set.join("in0.npy").is_file()).collect();
    let config = Config { batch: std::num::NonZeroUsize::new(sets.len()), ..Config::default() };
    let imported =
        import::import(&folder.join("model.tflite"), &config).map_err(|error| error.to_string())?;
    let compiled = compile(imported.graph, &config)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
    let joined = |name: &str| -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        for set in &sets {
            let file = std::fs::read(set.join(name)).map_err(|error| error.to_string())?;
            bytes.extend(npy::read(&file).map_err(|error| error.to_string())?.bytes);
        }
        Ok(bytes)
    };
    tally.sets += sets.len();
    let found = Evaluator::new(&compiled).run(&[&joined("in0.npy")?])?;
    for (found, port) in found.iter().zip(&compiled.program.outputs) {
        compare(found, &joined("out0.npy")?, port, tally);
    }
    Ok(())
}

fn run_set(set: &Path, compiled: &Compiled, sequence: bool, tally: &mut Tally) -> Result<(), String> {
    let program = &compiled.program;
    let read = |kind: &str, ports: &[Port]| -> Result<Vec<Vec<Vec<u8>>>, String> {
        let steps = |(i, port)| read_steps(&set.join(format!("{kind}{i}.npy")), port, sequence);
        ports.iter().enumerate().map(steps).collect()
    };
    let (inputs, expected) = (read("in", &program.inputs)?, read("out", &program.outputs)?);
    let steps = inputs.iter().chain(&expected).map(Vec::len).max().unwrap_or(0);
    let mut evaluator = Evaluator::new(compiled);
    for step in 0..steps {
        let at_step = |arrays: &[Vec<Vec<u8>>]| -> Result<Vec<Vec<u8>>, String> {
            let arrays = arrays.iter().map(|steps| steps.get(step).cloned());
            arrays.collect::<Option<_>>().ok_or_else(|| format!("an array has no step {step}"))
        };
        let (inputs, expected) = (at_step(&inputs)?, at_step(&expected)?);
        let found = evaluator.run(&inputs.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        for ((found, expected), port) in found.iter().zip(&expected).zip(&program.outputs) {
            compare(found, expected, port, tally);
        }
    }
    Ok(())
}

/// The elements of the array at `path`, for each step of the sequence or for the single
/// run; they must be of the port's type.
fn read_steps(path: &Path, port: &Port, sequence: bool) -> Result<Vec<Vec<u8>>, String> {
    let in_file = |error: String| format!("{}: {error}", path.display());
    let file = std::fs::read(path).map_err(|error| in_file(error.to_string()))?;
    let array = npy::read(&file).map_err(in_file)?;
    let (steps, shape) = match array.shape.split_first() {
        Some((steps, shape)) if sequence => (*steps, shape),
        _ => (1, &*array.shape),
    };
    if array.dtype != port.ty.dtype || *shape != *port.ty.shape {
        let found = format!("{} {}", array.dtype.name(), array.shape);
        return Err(in_file(format!("`{}` is {}, the array {found}", port.name, port.ty)));
    }
    Ok(array.bytes.chunks(array.bytes.len() / steps).map(<[u8]>::to_vec).collect())
}

fn compare(found: &[u8], expected: &[u8], port: &Port, tally: &mut Tally) {
    let size = port.ty.dtype.size();
    tally.elements += expected.len() / size;
    if port.ty.dtype == DType::F32 {
        let largest = largest_difference(&floats(found), &floats(expected));
        tally.largest = tally.largest.max(largest);
        if largest.is_nan() || largest > TOLERANCE {
            tally.failures.push(format!("`{}` differs by {largest:.1e} of its largest element", port.name));
        }
        return;
    }
    let differing = found.chunks(size).zip(expected.chunks(size)).filter(|(a, b)| a != b).count();
    if differing > 0 {
        tally.differing += differing;
        tally.failures.push(format!("`{}`: {differing} of {} differ", port.name, expected.len() / size));
    }
}

fn floats(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|chunk| f32::from_le_bytes(*chunk).into()).collect()
}

/// The largest difference as a part of the largest expected element.
fn largest_difference(found: &[f64], expected: &[f64]) -> f64 {
    let scale = expected.iter().fold(0.0, |max: f64, x| max.max(x.abs()));
    let pairs = found.iter().zip(expected).filter(|(a, b)| a.to_bits() != b.to_bits());
    // NaN where none is expected, or the other way round, is as far off as can be.
    let difference = |(a, b): (&f64, &f64)| if (a - b).is_nan() { f64::INFINITY } else { (a - b).abs() };
    let largest = pairs.map(difference).fold(0.0, f64::max);
    if largest == 0.0 { 0.0 } else { largest / scale }
}
