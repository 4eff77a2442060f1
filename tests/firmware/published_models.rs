//! A template: `main.rs` here puts the models' runners and their calls in.
#![no_std]
#![no_main]

use aot_rt::{Block, Model, block_bytes, block_bytes_mut};

// RUNNERS

#[link(name = "c")]
unsafe extern "C" {}

#[unsafe(no_mangle)]
extern "C" fn main() -> i32 {
    // CALLS
    0
}

/// Runs a model of one input and one output on zeros.
fn run<M: Model>(model: Option<&mut M>) -> bool {
    let (input, mut output) = ([Block::default(); 7_000], [Block::default(); 200]);
    let (Some(model), [x], [y]) = (model, M::INPUTS, M::OUTPUTS) else { return false };
    let x = block_bytes(&input).get(..x.bytes());
    let y = block_bytes_mut(&mut output).get_mut(..y.bytes());
    let (Some(x), Some(y)) = (x, y) else { return false };
    model.run_bytes(&[x], &mut [y]).is_ok()
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
