//! Times one run of real models through generated code. `tools/bench/run.sh` puts the
//! figures beside those of other tools.

use std::hint::black_box;
use std::time::Duration;

use aot_rt::{Block, Model, TensorInfo, block_bytes_mut};
use criterion::Criterion;

include!(concat!(env!("OUT_DIR"), "/models.rs"));

/// Times a run on inputs that vary, copies in and out included.
fn time<M: Model>(criterion: &mut Criterion, name: &str, runner: Option<&mut M>) {
    let Some(runner) = runner else { return };
    let mut inputs: Vec<_> = M::INPUTS.iter().map(varied).collect();
    let mut outputs: Vec<_> = M::OUTPUTS.iter().map(|info| blocks(info.bytes())).collect();
    let inputs: Vec<&[u8]> = inputs.iter_mut().zip(M::INPUTS).map(|(x, info)| &*bytes(x, info)).collect();
    let mut outputs: Vec<_> = outputs.iter_mut().zip(M::OUTPUTS).map(|(y, info)| bytes(y, info)).collect();
    criterion.bench_function(name, |bencher| {
        bencher.iter(|| runner.run_bytes(black_box(&inputs), &mut outputs));
    });
}

/// Memory aligned for every element type.
fn blocks(bytes: usize) -> Vec<Block> {
    vec![Block::default(); bytes.div_ceil(size_of::<Block>())]
}

fn bytes<'b>(blocks: &'b mut [Block], info: &TensorInfo) -> &'b mut [u8] {
    &mut block_bytes_mut(blocks)[..info.bytes()]
}

/// Elements that vary, floats from 0 to 1.
fn varied(info: &TensorInfo) -> Vec<Block> {
    let mut input = blocks(info.bytes());
    let float = info.dtype == aot_rt::DType::F32;
    for (i, element) in bytes(&mut input, info).chunks_exact_mut(info.dtype.size()).enumerate() {
        let value = i.wrapping_mul(0x9e37_79b9) >> 8 & 0xff;
        if float {
            element.copy_from_slice(&(value as f32 / 255.0).to_le_bytes());
        } else {
            element[0] = value as u8;
        }
    }
    input
}

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20)
        .configure_from_args();
    time_all(&mut criterion);
}
