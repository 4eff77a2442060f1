//! Reads handwritten digits with a network that is compiled into the program: in int8, in
//! int8 row by row, and in f32. `tools/digits` says where images and networks come from.

use std::time::{Duration, Instant};

use aot_macros::aot_model;

aot_model! {
    /// Reads a digit of 8×8 pixels, in int8.
    struct Digits = "model/digits.tflite";
}

aot_model! {
    /// The same in as little RAM as can be: the image comes in rows, as from a camera.
    struct DigitsByRows = "model/digits.tflite" {
        memory = "min",
        inputs = "rows",
    }
}

aot_model! {
    /// Reads a digit of 8×8 pixels, in f32.
    struct DigitsFloat = "model/digits.json";
}

// What a model needs is known to rustc.
const _: () = assert!(Digits::ARENA_BYTES <= 1_168 && DigitsByRows::ARENA_BYTES <= 920);

/// Images that the network was not trained on: 64 pixels from 0 to 16, then the digit.
static HELD_OUT: &[u8] = include_bytes!("../model/heldout.bin");

/// An image and the digit that it shows.
struct Image {
    pixels: [u8; 64],
    digit: usize,
}

fn main() {
    let images: Vec<Image> = HELD_OUT
        .as_chunks::<65>()
        .0
        .iter()
        .map(|image| Image { pixels: std::array::from_fn(|i| image[i]), digit: image[64].into() })
        .collect();

    let quantize = |pixel: u8| Digits::quantize_image(f32::from(pixel) / 16.0);
    let mut digits = Digits::new();
    let int8 = read(&images, |pixels| largest(digits.run(&pixels.map(quantize))));
    let mut digits_by_rows = DigitsByRows::new();
    let by_rows = read(&images, |pixels| {
        let (rows, _) = pixels.as_chunks::<8>();
        // The last row gives the scores.
        let scores = rows
            .iter()
            .fold(None, |_, row| digits_by_rows.feed_row(&row.map(quantize)).map(|scores| largest(scores)));
        scores.expect("an image has as many rows as the network reads")
    });
    let mut digits_float = DigitsFloat::new();
    let float =
        read(&images, |pixels| largest(digits_float.run(&pixels.map(|pixel| f32::from(pixel) / 16.0))));

    show(&images[..6], &int8.0);
    println!("{} images that the network was not trained on:\n", images.len());
    println!("model         right   accuracy   RAM          constants     time an image");
    report("int8, tflite", &images, int8, Digits::ARENA_BYTES, Digits::CONSTANT_BYTES);
    report("  row by row", &images, by_rows, DigitsByRows::ARENA_BYTES, DigitsByRows::CONSTANT_BYTES);
    report("f32, json   ", &images, float, DigitsFloat::ARENA_BYTES, DigitsFloat::CONSTANT_BYTES);
}

/// Reads all images; gives what was read and how long it took.
fn read(images: &[Image], mut network: impl FnMut(&[u8; 64]) -> usize) -> (Vec<usize>, Duration) {
    let start = Instant::now();
    (images.iter().map(|image| network(&image.pixels)).collect(), start.elapsed())
}

/// Position of the largest score.
fn largest<T: PartialOrd>(scores: &[T]) -> usize {
    (1..scores.len()).fold(0, |best, i| if scores[i] > scores[best] { i } else { best })
}

/// Draws images side by side, and what was read in them.
fn show(images: &[Image], read: &[usize]) {
    const INK: [char; 5] = [' ', '░', '▒', '▓', '█'];
    for row in 0..8 {
        for image in images {
            let pixels = image.pixels[row * 8..][..8].iter();
            let line: String = pixels.flat_map(|pixel| [INK[usize::from(*pixel) / 4]; 2]).collect();
            print!("{line}  ");
        }
        println!();
    }
    for digit in &read[..images.len()] {
        print!("{:16}  ", format!("read: {digit}"));
    }
    println!("\n");
}

fn report(
    name: &str,
    images: &[Image],
    (read, time): (Vec<usize>, Duration),
    arena_bytes: usize,
    constant_bytes: usize,
) {
    let right = read.iter().zip(images).filter(|(read, image)| **read == image.digit).count();
    let percent = 100.0 * right as f64 / images.len() as f64;
    let microseconds = time.as_secs_f64() * 1e6 / images.len() as f64;
    println!(
        "{name}  {right:5}   {percent:6.2} %   {arena_bytes:6} bytes   {constant_bytes:6} bytes   {microseconds:7.1} µs"
    );
}
