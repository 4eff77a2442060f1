//! Spots a keyword with the network that `build.rs` compiled, on Arm and on RISC-V: MLPerf
//! Tiny's where it is there, else the one that reads digits.
#![no_std]
#![no_main]

use aot_rt::Model;
use board::{deepest, entry, exit, flash_and_ram, println, signed};

aot_rt::include_model!("network");

/// 49 frames of 10 features of a second of speech.
static FEATURES: [i8; Network::INPUTS[0].bytes()] =
    signed(include_bytes!(concat!(env!("OUT_DIR"), "/input.bin")));

/// What the reference makes of them.
static EXPECTED: [i8; Network::OUTPUTS[0].bytes()] =
    signed(include_bytes!(concat!(env!("OUT_DIR"), "/expected.bin")));

#[entry]
fn main() -> ! {
    let Some(network) = Network::take() else { exit(false) };
    let (scores, stack) = deepest(|| *network.run(&FEATURES));
    for (word, score) in scores.iter().enumerate() {
        println!("{word:2}: {score}");
    }
    let [flash, ram] = flash_and_ram();
    println!("flash {flash}, of these constants {}", Network::CONSTANT_BYTES);
    println!("RAM {ram}, of these workspace {}; stack of a run {stack}", Network::ARENA_BYTES);
    exit(scores == EXPECTED)
}
