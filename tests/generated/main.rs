//! Real models through generated code: every set of inputs must give the reference's
//! outputs, whatever the memory held before. `build.rs` compiles the models; `-- --nocapture` shows the figures.

/// A module for each model and configuration, made by `build.rs`.
#[deny(warnings, missing_docs, unreachable_pub, clippy::pedantic)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/generated.rs"));
}

/// What steps wrote.
mod trace;

/// Kernels that are bound by name.
mod registry;

use std::path::{Path, PathBuf};

use aot_build::weights::npy;
use aot_rt::{Block, DType, Elements, Instrument, Model, StepInfo, TensorInfo, block_bytes_mut};

/// The largest difference of float results, as a part of the largest result:
/// exponentials are not the C library's.
const TOLERANCE: f32 = 1e-5;

/// What guards hold, and the workspace before each run.
const POISON: u8 = 0xa5;

/// A runner between bytes that nothing may write.
#[repr(C)]
struct Guarded<M> {
    before: [u8; 256],
    runner: M,
    after: [u8; 256],
}

/// Bytes of stack: runners of a megabyte are moved through it where nothing is optimised.
const STACK: usize = 16 << 20;

/// A way to run a model on bytes.
type Run<M> = fn(&mut M, &[&[u8]], &mut [&mut [u8]]);

/// Runs every set of inputs in `folder`, with `fill` filling the workspace: all at once and,
/// where `stepped` does that, step by step.
fn check<M: Model + 'static>(
    new: fn() -> M,
    fill: fn(&mut M, u8),
    stepped: Option<Run<M>>,
    folder: &'static str,
) {
    on_a_large_stack(move || check_runner(new(), fill, stepped, folder));
}

/// Runs the first set of inputs in `folder` through two runners of a model: they must write
/// the same bits, step by step, observed or not.
fn agree<A: Model + 'static, B: Model + 'static>(a: fn() -> A, b: fn() -> B, folder: &'static str) {
    on_a_large_stack(move || {
        let set = &sets(Path::new(folder))[0];
        let inputs = inputs::<A>(set);
        let expected = trace::observed(&mut a(), &inputs);
        assert_eq!(trace::observed(&mut b(), &inputs), expected, "{}", set.display());
        assert_eq!(trace::outputs(&mut b(), &inputs, &mut ()), expected.outputs, "{}", set.display());
    });
}

fn on_a_large_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(run).expect("a thread can be made");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

fn check_runner<M: Model>(runner: M, fill: fn(&mut M, u8), stepped: Option<Run<M>>, folder: &str) {
    let mut guarded = Box::new(Guarded { before: [POISON; 256], runner, after: [POISON; 256] });
    let sets = sets(Path::new(folder));
    assert!(!sets.is_empty(), "{folder}: no set of inputs");
    for set in &sets {
        fill(&mut guarded.runner, POISON);
        let results = run_set(&mut guarded.runner, set, &mut ());
        // Observed, to the bit the same.
        fill(&mut guarded.runner, !POISON);
        let mut calls = Calls(vec![0; M::STEPS.len()]);
        assert!(run_set(&mut guarded.runner, set, &mut calls) == results, "{}: observed", set.display());
        calls.check::<M>(results.len());
        if let Some(stepped) = stepped {
            fill(&mut guarded.runner, POISON);
            let by_step = trace::by(&mut guarded.runner, &inputs::<M>(set), |runner, inputs, outputs| {
                stepped(runner, inputs, outputs);
                Ok(())
            });
            assert!(by_step == results, "{}: step by step, the outputs are others", set.display());
        }
        let mut guards = guarded.before.iter().chain(&guarded.after);
        assert!(guards.all(|byte| *byte == POISON), "{}: a guard was written", set.display());
    }
    println!("{}: {} sets", M::NAME, sets.len());
}

fn sets(folder: &Path) -> Vec<PathBuf> {
    println!("{}", folder.display());
    let entries = std::fs::read_dir(folder).expect("the folder can be listed");
    let paths = entries.map(|entry| entry.expect("the folder can be listed").path());
    let mut sets: Vec<_> = paths.filter(|path| path.join("in0.npy").is_file()).collect();
    sets.sort();
    sets
}

/// Steps to the end: `step` gives the step that was said to come next, and the one that ran.
fn step_all(mut step: impl FnMut() -> [Option<&'static StepInfo>; 2]) {
    loop {
        let [next, ran] = step();
        assert_eq!(next, ran);
        if ran.is_none() {
            return;
        }
    }
}

/// Counts how often each step has run.
struct Calls(Vec<u64>);

impl Instrument for Calls {
    fn after(&mut self, step: &'static StepInfo, _: &[Elements<'_>]) {
        self.0[step.index] += 1;
    }
}

impl Calls {
    /// Each step has run once in each run, row by row or as a whole; of branches and loops, that
    /// is not known.
    fn check<M: Model>(&self, runs: usize) {
        if M::STEPS.iter().all(|step| step.kernel.is_some()) {
            for (step, calls) in M::STEPS.iter().zip(&self.0) {
                assert_eq!(*calls, step.rows * runs as u64, "{}: `{}`", M::NAME, step.name);
            }
        }
    }
}

/// Compares the results of a set with what is expected; gives them, a run after the other.
fn run_set<M: Model>(runner: &mut M, set: &Path, instrument: &mut impl Instrument) -> Vec<Vec<Vec<u8>>> {
    let expected = read_all(set, "out", M::OUTPUTS);
    let results = trace::outputs(runner, &inputs::<M>(set), instrument);
    for (step, found) in results.iter().enumerate() {
        for ((found, expected), info) in found.iter().zip(&expected).zip(M::OUTPUTS) {
            compare(found, &expected[step], info, set);
        }
    }
    results
}

/// The inputs of each run of the set: of more than one where the model keeps a state.
fn inputs<M: Model>(set: &Path) -> Vec<Vec<Vec<u8>>> {
    let inputs = read_all(set, "in", M::INPUTS);
    let runs = read_all(set, "out", M::OUTPUTS)[0].len();
    (0..runs).map(|run| inputs.iter().map(|input| input[run].clone()).collect()).collect()
}

/// For each array, its value in each run.
fn read_all(set: &Path, kind: &str, infos: &[TensorInfo]) -> Vec<Vec<Vec<u8>>> {
    infos.iter().enumerate().map(|(i, info)| read(set, kind, i, info)).collect()
}

/// The array for each run of the set.
fn read(set: &Path, kind: &str, i: usize, info: &TensorInfo) -> Vec<Vec<u8>> {
    let path = set.join(format!("{kind}{i}.npy"));
    let file = std::fs::read(&path).expect("the array can be read");
    let array = npy::read(&file).expect("the array is well-formed");
    let steps = if array.shape.len() > info.shape.len() { array.shape[0] } else { 1 };
    let shape = &array.shape[array.shape.len().saturating_sub(info.shape.len())..];
    assert_eq!((array.dtype, shape), (info.dtype, info.shape), "{}: `{}`", path.display(), info.name);
    array.bytes.chunks(array.bytes.len() / steps).map(<[u8]>::to_vec).collect()
}

fn compare(found: &[u8], expected: &[u8], info: &TensorInfo, set: &Path) {
    if info.dtype != DType::F32 {
        let differing = found.iter().zip(expected).filter(|(a, b)| a != b).count();
        assert_eq!(differing, 0, "{}: `{}`: {differing} bytes differ", set.display(), info.name);
        return;
    }
    let (found, expected) = (floats(found), floats(expected));
    let largest = expected.iter().fold(0.0, |max: f32, x| max.max(x.abs()));
    for (a, b) in found.iter().zip(&expected) {
        let close = (a - b).abs() <= TOLERANCE * largest;
        assert!(close, "{}: `{}`: {a}, expected {b}", set.display(), info.name);
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect()
}

/// Bytes aligned for every element type.
struct Aligned {
    blocks: Vec<Block>,
    len: usize,
}

impl Aligned {
    fn new(bytes: &[u8]) -> Self {
        let mut blocks = vec![Block::default(); bytes.len().div_ceil(size_of::<Block>())];
        block_bytes_mut(&mut blocks)[..bytes.len()].copy_from_slice(bytes);
        Self { blocks, len: bytes.len() }
    }

    fn bytes(&mut self) -> &mut [u8] {
        &mut block_bytes_mut(&mut self.blocks)[..self.len]
    }
}
