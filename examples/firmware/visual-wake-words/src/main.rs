//! Sees whether a person is in an image. The workspace has a memory of its own, so that the
//! other one stays free for the rest of the firmware.
#![no_std]
#![no_main]

use aot_macros::aot_model;
use aot_rt::Model;
use board::{deepest, entry, exit, flash_and_ram, println, signed};

#[cfg(published)]
aot_model! {
    struct Network = "../../../../shared/models/mlperf_vww_int8/model.tflite" {
        pools = { ram2 = { section = ".ram2" } },
    }
}

#[cfg(not(published))]
aot_model! {
    struct Network = "../../digits/model/digits.tflite" {
        pools = { ram2 = { section = ".ram2" } },
    }
}

/// 96 by 96 pixels of three colours.
static IMAGE: [i8; Network::INPUTS[0].bytes()] =
    signed(include_bytes!(concat!(env!("OUT_DIR"), "/input.bin")));

/// What the reference makes of them.
static EXPECTED: [i8; Network::OUTPUTS[0].bytes()] =
    signed(include_bytes!(concat!(env!("OUT_DIR"), "/expected.bin")));

#[entry]
fn main() -> ! {
    // A few words: where its memory is.
    let Some(mut network) = Network::take() else { exit(false) };
    let (scores, stack) = deepest(|| *network.run(&IMAGE));
    for (class, score) in scores.iter().enumerate() {
        println!("{class}: {score}");
    }
    let [flash, ram] = flash_and_ram();
    println!("flash {flash}, of these constants {}", Network::CONSTANT_BYTES);
    println!("first RAM {ram}, second RAM {}; stack of a run {stack}", Network::RAM2_BYTES);
    exit(scores == EXPECTED)
}
