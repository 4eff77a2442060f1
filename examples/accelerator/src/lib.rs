//! A second unit that runs the convolutions of a network.
//!
//! The unit is a process of its own: it has its own memory, it is started and stopped, and it
//! can die. What it computes with is a library that knows nothing of this crate
//! ([`unit`](mod@unit)); its driver is a device as the network's code asks for it ([`driver`]).

pub mod driver;
pub mod unit;
mod wire;

use aot_macros::aot_model;

aot_model! {
    /// Reads a digit of 8×8 pixels; the unit runs its convolutions.
    pub struct Digits = "../digits/model/digits.tflite" {
        devices.unit = { operators = ["conv2d"], activate = "first_use" },
    }
}

aot_model! {
    /// The same without the unit.
    pub struct DigitsOnCpu = "../digits/model/digits.tflite";
}

/// Images that the network was not trained on: 64 pixels from 0 to 16, then the digit.
static HELD_OUT: &[u8] = include_bytes!("../../digits/model/heldout.bin");

/// The images, quantized for the network.
pub fn images() -> impl Iterator<Item = [i8; 64]> {
    let (images, _) = HELD_OUT.as_chunks::<65>();
    images.iter().map(|image| std::array::from_fn(|i| Digits::quantize_image(f32::from(image[i]) / 16.0)))
}
