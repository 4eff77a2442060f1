//! Listens for a wake word: every 30 ms three frames of features go in, a probability
//! comes out, and the network keeps what it has heard in its workspace.
#![no_std]
#![no_main]

use aot_rt::Model;
use board::{deepest, entry, exit, flash_and_ram, println};

aot_rt::include_model!("network");

/// Features of a few seconds of speech, or rows of images.
static FEATURES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/input.bin"));

/// What the reference makes of them.
static EXPECTED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/expected.bin"));

const INPUT: usize = FEATURES.len() / STEPS;
const OUTPUT: usize = Network::OUTPUTS[0].bytes();
const STEPS: usize = EXPECTED.len() / OUTPUT;

/// What the network is sure of: here the one wake word.
#[cfg(published)]
fn recognised(output: &[u8; OUTPUT]) -> Option<usize> {
    (output[0] > 200).then_some(0)
}

/// What the network is sure of: here a digit.
#[cfg(not(published))]
fn recognised(output: &[u8; OUTPUT]) -> Option<usize> {
    output.iter().position(|probability| probability.cast_signed() > 120)
}

#[entry]
fn main() -> ! {
    let Some(network) = Network::take() else { exit(false) };
    let (mut right, mut stack) = (0, 0);
    let steps = FEATURES.chunks(INPUT).zip(EXPECTED.chunks(OUTPUT));
    for (step, (features, expected)) in steps.enumerate() {
        let mut output = [0; OUTPUT];
        let (ran, depth) = deepest(|| network.run_bytes(&[features], &mut [&mut output]));
        if ran.is_err() {
            exit(false);
        }
        stack = stack.max(depth);
        right += usize::from(output == *expected);
        if let Some(which) = recognised(&output) {
            println!("step {step}: {which}");
        }
    }
    let [flash, ram] = flash_and_ram();
    println!("flash {flash}, of these constants {}", Network::CONSTANT_BYTES);
    println!("RAM {ram}, of these workspace {}; stack of a run {stack}", Network::ARENA_BYTES);
    println!("{right} of {STEPS} steps equal the reference");
    exit(right == STEPS)
}
