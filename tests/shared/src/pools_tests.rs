//! A model in pools gives what it gives without, for every set of inputs of its case, whatever
//! its memory held; integers are the reference's.

use std::path::{Path, PathBuf};

use aot_build::weights::npy;
use aot_rt::{Block, DType, Model, TensorInfo, block_bytes, block_bytes_mut};

const POISON: u8 = 0xa5;

/// Runs `pooled` and `plain` on all sets of inputs in `folder`.
pub(crate) fn check<A: Model, B: Model>(
    (mut plain, fill_plain): (A, fn(&mut A, u8)),
    (mut pooled, fill): (B, fn(&mut B, u8)),
    folder: &str,
) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let sets: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the folder can be listed")
        .map(|entry| entry.expect("the folder can be listed").path())
        .filter(|path| path.join("in0.npy").is_file())
        .collect();
    assert!(!sets.is_empty(), "{}: no set of inputs", folder.display());
    for set in &sets {
        let read = |kind: &str, infos: &[TensorInfo]| -> Vec<Vec<Vec<u8>>> {
            let arrays = infos.iter().enumerate();
            arrays.map(|(i, info)| read(&set.join(format!("{kind}{i}.npy")), info)).collect()
        };
        let (inputs, expected) = (read("in", B::INPUTS), read("out", B::OUTPUTS));
        fill(&mut pooled, POISON);
        fill_plain(&mut plain, POISON);
        for step in 0..expected[0].len() {
            let inputs: Vec<&[u8]> = inputs.iter().map(|steps| &steps[step][..]).collect();
            let found = run(&mut pooled, &inputs);
            assert_eq!(found, run(&mut plain, &inputs), "{}: without pools", set.display());
            for ((found, expected), info) in found.iter().zip(&expected).zip(B::OUTPUTS) {
                if info.dtype != DType::F32 {
                    assert_eq!(found, &expected[step], "{}: `{}`", set.display(), info.name);
                }
            }
        }
    }
}

/// The array for each run of the set.
fn read(path: &Path, info: &TensorInfo) -> Vec<Vec<u8>> {
    let file = std::fs::read(path).expect("the array can be read");
    let array = npy::read(&file).expect("the array is well-formed");
    array.bytes.chunks(info.bytes()).map(<[u8]>::to_vec).collect()
}

fn run<M: Model>(model: &mut M, inputs: &[&[u8]]) -> Vec<Vec<u8>> {
    let blocks = |bytes: usize| vec![Block::default(); bytes.div_ceil(size_of::<Block>())];
    // Aligned for every element type.
    let mut aligned: Vec<_> = inputs.iter().map(|input| (blocks(input.len()), input)).collect();
    let inputs: Vec<&[u8]> = aligned
        .iter_mut()
        .map(|(blocks, input)| {
            block_bytes_mut(blocks)[..input.len()].copy_from_slice(input);
            &block_bytes(blocks)[..input.len()]
        })
        .collect();
    let mut outputs: Vec<_> = M::OUTPUTS.iter().map(|info| (blocks(info.bytes()), info.bytes())).collect();
    let mut slices: Vec<_> =
        outputs.iter_mut().map(|(blocks, bytes)| &mut block_bytes_mut(blocks)[..*bytes]).collect();
    model.run_bytes(&inputs, &mut slices).expect("the arrays are as described");
    slices.iter().map(|output| output.to_vec()).collect()
}
