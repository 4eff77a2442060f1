//! Spots a keyword in a task of embassy's executor. After each step of the network, another
//! task has its turn.
#![no_std]
#![no_main]

// For the critical section that the executor asks for.
use cortex_m as _;

use core::sync::atomic::{AtomicU32, Ordering};

use aot_rt::Model;
use board::{exit, flash_and_ram, paint, println, signed, taken};
use embassy_executor::Spawner;

aot_rt::include_model!("network");

/// 49 frames of 10 features of a second of speech.
static FEATURES: [i8; Network::INPUTS[0].bytes()] =
    signed(include_bytes!(concat!(env!("OUT_DIR"), "/input.bin")));

/// What the reference makes of them.
static EXPECTED: [i8; Network::OUTPUTS[0].bytes()] =
    signed(include_bytes!(concat!(env!("OUT_DIR"), "/expected.bin")));

/// Turns that the other task has had.
static TURNS: AtomicU32 = AtomicU32::new(0);

/// What a firmware has to do beside listening.
#[embassy_executor::task]
async fn blink() {
    loop {
        TURNS.store(TURNS.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        aot_rt::yield_now().await;
    }
}

#[embassy_executor::task]
async fn listen(network: &'static mut Network) {
    let scores = *network.run_async(&FEATURES).await;
    let stack = taken();
    for (word, score) in scores.iter().enumerate() {
        println!("{word:2}: {score}");
    }
    let turns = TURNS.load(Ordering::Relaxed);
    let [flash, ram] = flash_and_ram();
    println!("{turns} turns of the other task between {} steps", Network::STEPS.len());
    println!("flash {flash}, of these constants {}", Network::CONSTANT_BYTES);
    println!("RAM {ram}, of these workspace {}; stack of everything {stack}", Network::ARENA_BYTES);
    exit(scores == EXPECTED && turns as usize >= Network::STEPS.len())
}

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    paint();
    let (Some(network), Ok(blink)) = (Network::take(), blink()) else { exit(false) };
    let Ok(listen) = listen(network) else { exit(false) };
    spawner.spawn(blink);
    spawner.spawn(listen);
}
