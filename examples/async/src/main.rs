//! Reads handwritten digits in one task of an executor, and lets another task run between the
//! steps: here embassy's on the host, as it would run on a microcontroller.

use std::cell::Cell;

use aot_macros::aot_model;
use aot_rt::{Elements, Instrument, StepInfo};
use embassy_executor::Executor;

aot_model! {
    /// Reads a digit of 8×8 pixels; no step takes longer than 20 000 multiply-accumulates.
    struct Digits = "../digits/model/digits.tflite" { max_step_macs = 20_000 }
}

/// Images that the network was not trained on: 64 pixels from 0 to 16, then the digit.
static HELD_OUT: &[u8] = include_bytes!("../../digits/model/heldout.bin");

/// Images that are read.
const IMAGES: usize = 50;

thread_local! {
    /// Kernels that have been called.
    static CALLS: Cell<usize> = const { Cell::new(0) };
    /// Digits that were read as they are.
    static RIGHT: Cell<usize> = const { Cell::new(0) };
    /// Turns of the other task, and the most calls of kernels from one to the next.
    static TURNS: Cell<[usize; 2]> = const { Cell::new([0; 2]) };
    static DONE: Cell<bool> = const { Cell::new(false) };
}

/// Counts the calls of kernels.
struct Count;

impl Instrument for Count {
    fn after(&mut self, _: &'static StepInfo, _: &[Elements<'_>]) {
        CALLS.set(CALLS.get() + 1);
    }
}

#[embassy_executor::task]
async fn read(digits: &'static mut Digits) {
    for image in &HELD_OUT.as_chunks::<65>().0[..IMAGES] {
        let pixels = std::array::from_fn(|i| Digits::quantize_image(f32::from(image[i]) / 16.0));
        let scores = digits.start_with(Count, &pixels).finish_async().await;
        let digit = (0..10).max_by_key(|digit| scores[*digit]);
        RIGHT.set(RIGHT.get() + usize::from(digit == Some(image[64].into())));
    }
    DONE.set(true);
}

/// What a firmware has to do beside reading digits.
#[embassy_executor::task]
async fn other() {
    let mut before = CALLS.get();
    while !DONE.get() {
        let [turns, most] = TURNS.get();
        TURNS.set([turns + 1, most.max(CALLS.get() - before)]);
        before = CALLS.get();
        aot_rt::yield_now().await;
    }
}

fn main() {
    let Some(digits) = Digits::take() else { return };
    let executor = Box::leak(Box::new(Executor::new()));
    executor.run_until(
        |spawner| {
            spawner.spawn(read(digits).expect("it runs once"));
            spawner.spawn(other().expect("it runs once"));
        },
        || DONE.get(),
    );
    let [turns, most] = TURNS.get();
    println!("{IMAGES} images in {} calls of kernels, {} of them right", CALLS.get(), RIGHT.get());
    println!("another task had {turns} turns, with at most {most} calls between two of them");
    // Each task has one turn in a round; which one is first, the executor chooses.
    assert!(RIGHT.get() * 10 >= IMAGES * 9 && turns >= CALLS.get() && most <= 2);
}
