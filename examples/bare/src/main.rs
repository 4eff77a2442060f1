//! A network without the standard library and without an allocator: what firmware
//! looks like, as a program for the host. The exit code is 0 when at least 97 % of the
//! held-out images are read right.
//!
//!     cargo run --profile firmware -p bare
//!
//! In that profile the program aborts on panic and links no std. A build that unwinds
//! needs std for that alone.
#![no_main]
#![cfg_attr(panic = "abort", no_std)]

use aot_macros::aot_model;

aot_model! {
    struct Digits = "../digits/model/digits.tflite";
}

aot_model! {
    struct DigitsSmall = "../digits/model/digits.tflite" {
        optimize = "size",
        inputs = "caller",
        outputs = "caller",
    }
}

aot_model! {
    struct DigitsFloat = "../digits/model/digits.json";
}

/// 64 pixels from 0 to 16, then the digit.
static HELD_OUT: &[u8; 35_100] = include_bytes!("../../digits/model/heldout.bin");

// Start-up code and `memcpy` come from the C library; std would name it.
#[link(name = "c")]
#[expect(unsafe_code, reason = "nothing is declared, the library is only linked")]
unsafe extern "C" {}

/// Called by the C library's start-up code.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "the linker looks for this name, and nobody else defines it")]
extern "C" fn main() -> i32 {
    let Some(digits) = Digits::take() else { return 2 };
    let Some(small) = DigitsSmall::take() else { return 2 };
    let Some(float) = DigitsFloat::take() else { return 2 };
    let (mut images, mut right) = (0, 0);
    for image in HELD_OUT.as_chunks::<65>().0 {
        let [pixels @ .., digit] = image;
        let x = pixels.map(|pixel| f32::from(pixel) / 16.0);
        let q = x.map(Digits::quantize_image);
        let scores = digits.run(&q);
        let mut small_scores = [0; 10];
        small.run(&q, &mut small_scores);
        if *scores != small_scores {
            return 3;
        }
        images += 1;
        right += u32::from(largest(scores) == *digit && largest(float.run(&x)) == *digit);
    }
    i32::from(right * 100 < images * 97)
}

/// Position of the largest score.
fn largest<T: PartialOrd>(scores: &[T; 10]) -> u8 {
    let (mut best, mut digit) = (&scores[0], 0);
    for (score, i) in scores.iter().zip(0..) {
        if score > best {
            (best, digit) = (score, i);
        }
    }
    digit
}

#[cfg(panic = "abort")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
