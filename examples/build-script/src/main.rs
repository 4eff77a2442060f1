//! Reads one handwritten digit with a network that `build.rs` compiled.

aot_rt::include_model!("digits");

/// The first image that the network was not trained on, and its digit.
static IMAGE: &[u8; 35_100] = include_bytes!("../../digits/model/heldout.bin");

fn main() {
    let Some(digits) = Digits::take() else { return };
    // No copy: the pixels are written where the network reads them.
    for (x, pixel) in digits.image_mut().iter_mut().zip(IMAGE) {
        *x = Digits::quantize_image(f32::from(*pixel) / 16.0);
    }
    let scores = digits.run_in_place();
    for (digit, score) in scores.iter().enumerate() {
        let probability = Digits::dequantize_probabilities(*score);
        println!("{digit}  {:5.1} %  {}", 100.0 * probability, "█".repeat((40.0 * probability) as usize));
    }
    println!("it is a {}; {} bytes of RAM", IMAGE[64], Digits::ARENA_BYTES);
}
