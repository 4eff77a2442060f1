//! Runs the network on the reference inputs: its outputs must be the reference's, bit for bit.

use aot_rt::{Block, DType, Model, TensorInfo, block_bytes_mut, pack_i4};

type Runner = CRATE::RUNNER;

/// Each array holds so many runs, in order; what the network keeps from run to run is kept.
const RUNS: usize = NUMBER_OF_RUNS;

/// `.npy` files, in the order of the network's inputs.
const INPUTS: &[&[u8]] = &[
    // INPUTS
];

/// `.npy` files, in the order of the network's outputs.
const OUTPUTS: &[&[u8]] = &[
    // OUTPUTS
];

#[test]
fn outputs_are_those_of_the_reference() {
    let runner = Runner::take().expect("nobody else has taken it");
    for run in 0..RUNS {
        let inputs = arrays(INPUTS, Runner::INPUTS, run);
        let mut inputs: Vec<_> = inputs.map(|bytes| Aligned::new(&bytes)).collect();
        let inputs: Vec<&[u8]> = inputs.iter_mut().map(|input| &*input.bytes()).collect();
        let expected: Vec<_> = arrays(OUTPUTS, Runner::OUTPUTS, run).collect();
        let mut outputs: Vec<_> = expected.iter().map(|bytes| Aligned::new(&vec![0; bytes.len()])).collect();
        let mut outputs: Vec<_> = outputs.iter_mut().map(Aligned::bytes).collect();
        runner.run_bytes(&inputs, &mut outputs).expect("the arrays have the network's types");
        for ((found, expected), info) in outputs.iter().zip(&expected).zip(Runner::OUTPUTS) {
            let same = found.iter().zip(expected).take_while(|(a, b)| a == b).count();
            assert_eq!(same, expected.len(), "run {run}, `{}`: equal bytes", info.name);
        }
    }
}

/// The arrays of one run.
fn arrays(files: &[&[u8]], infos: &[TensorInfo], run: usize) -> impl Iterator<Item = Vec<u8>> {
    assert_eq!(files.len(), infos.len());
    files.iter().zip(infos).map(move |(file, info)| {
        // The header's length is in bytes 8 and 9.
        let elements = &file[10 + usize::from(u16::from_le_bytes([file[8], file[9]]))..];
        // Integers of four bits have a byte each in the file.
        let packed = info.dtype == DType::I4;
        let len = if packed { info.len() } else { info.bytes() };
        assert_eq!(elements.len(), RUNS * len, "`{}`", info.name);
        let elements = &elements[run * len..][..len];
        if !packed {
            return elements.to_vec();
        }
        let mut bytes = vec![0; info.bytes()];
        pack_i4(&elements.iter().map(|element| element.cast_signed()).collect::<Vec<_>>(), &mut bytes);
        bytes
    })
}

/// Bytes that are aligned for every type of elements.
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
