//! Real models through generated code: every set of inputs must give the reference's
//! outputs, whatever the memory held before. `build.rs` compiles the models; `-- --nocapture` shows the figures.

/// A module for each model and configuration, made by `build.rs`.
#[deny(warnings, missing_docs, unreachable_pub, clippy::pedantic)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/generated.rs"));
}

mod sections;

use std::path::{Path, PathBuf};

use aot_build::weights::npy;
use aot_rt::{Block, DType, Model, TensorInfo, block_bytes_mut};

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

/// Runs every set of inputs in `folder`, with `fill` filling the workspace.
fn check<M: Model + 'static>(new: fn() -> M, fill: fn(&mut M, u8), folder: &'static str) {
    let run = move || check_runner(new(), fill, folder);
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(run).expect("a thread can be made");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

fn check_runner<M: Model>(runner: M, fill: fn(&mut M, u8), folder: &str) {
    let mut guarded = Box::new(Guarded { before: [POISON; 256], runner, after: [POISON; 256] });
    let sets = sets(Path::new(folder));
    assert!(!sets.is_empty(), "{folder}: no set of inputs");
    for set in &sets {
        fill(&mut guarded.runner, POISON);
        run_set(&mut guarded.runner, set);
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

fn run_set<M: Model>(runner: &mut M, set: &Path) {
    let read = |kind: &str, infos: &[TensorInfo]| -> Vec<Vec<Vec<u8>>> {
        infos.iter().enumerate().map(|(i, info)| read(set, kind, i, info)).collect()
    };
    let (inputs, expected) = (read("in", M::INPUTS), read("out", M::OUTPUTS));
    // More than one run where the model keeps a state.
    for step in 0..expected[0].len() {
        let mut inputs: Vec<_> = inputs.iter().map(|steps| Aligned::new(&steps[step])).collect();
        let inputs: Vec<&[u8]> = inputs.iter_mut().map(|input| &*input.bytes()).collect();
        let mut outputs: Vec<_> =
            M::OUTPUTS.iter().map(|info| Aligned::new(&vec![0; info.bytes()])).collect();
        let mut outputs: Vec<_> = outputs.iter_mut().map(Aligned::bytes).collect();
        runner.run_bytes(&inputs, &mut outputs).expect("the arrays are as described");
        for ((found, expected), info) in outputs.iter().zip(&expected).zip(M::OUTPUTS) {
            compare(found, &expected[step], info, set);
        }
    }
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
