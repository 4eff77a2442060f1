//! A template: `main.rs` here puts the models' runners and their calls in.
#![no_std]
#![no_main]

use aot_rt::{Block, Model, TensorInfo, block_bytes, block_bytes_mut};

// RUNNERS

#[link(name = "c")]
unsafe extern "C" {}

#[unsafe(no_mangle)]
extern "C" fn main() -> i32 {
    // CALLS
    0
}

/// Runs a model of at most two inputs and two outputs on zeros.
fn run<M: Model>(model: Option<&mut M>) -> bool {
    let input = [Block::default(); 12_288];
    let (mut first, mut second) = ([Block::default(); 3_600], [Block::default(); 3_600]);
    let Some(model) = model else { return false };
    let size = |of: &[TensorInfo], i: usize| of.get(i).map_or(0, TensorInfo::bytes);
    let [a, b] = [0, 1].map(|i| block_bytes(&input).get(..size(M::INPUTS, i)));
    let y = block_bytes_mut(&mut first).get_mut(..size(M::OUTPUTS, 0));
    let z = block_bytes_mut(&mut second).get_mut(..size(M::OUTPUTS, 1));
    let (Some(a), Some(b), Some(y), Some(z)) = (a, b, y, z) else { return false };
    let (one, two) = ([a], [a, b]);
    let inputs: &[&[u8]] = if M::INPUTS.len() == 1 { &one } else { &two };
    if M::OUTPUTS.len() == 1 {
        model.run_bytes(inputs, &mut [y]).is_ok()
    } else {
        model.run_bytes(inputs, &mut [y, z]).is_ok()
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
