//! Any bytes as a `.tflite` file.
//!
//! Most changes are made in place: one number becomes another, so that offsets still lead to
//! where they did and the change reaches what the number means.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

/// Telling values of shapes, indices, attributes and enums.
const INTEGERS: [i32; 16] = [0, 1, 2, 3, 4, 5, 7, 8, 16, 127, 255, 1 << 15, 1 << 20, -1, i32::MAX, i32::MIN];

/// Telling scales and attributes.
const NUMBERS: [f32; 9] =
    [0.0, -1.0, 1e-40, 1e-20, 1.0, 1.0 / 256.0, 1e20, f32::INFINITY, f32::NAN];

fuzz_target!(|bytes: &[u8]| {
    aot_fuzz::survive("tflite", bytes);
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut random = Random(u64::from(seed) | 1);
    if size < 8 || random.below(8) == 0 {
        return fuzzer_mutate(data, size, max_size);
    }
    for _ in 0..=random.below(3) {
        replace(&mut data[..size], &mut random);
    }
    size
});

/// Replaces one number.
fn replace(data: &mut [u8], random: &mut Random) {
    let word = 4 * random.below(data.len() / 4);
    let value = match random.below(6) {
        0 => NUMBERS[random.below(NUMBERS.len())].to_le_bytes(),
        1 | 2 => INTEGERS[random.below(INTEGERS.len())].to_le_bytes(),
        // What stands elsewhere.
        3 => {
            let other = 4 * random.below(data.len() / 4);
            [data[other], data[other + 1], data[other + 2], data[other + 3]]
        }
        // One byte: enums, versions, flags.
        _ => {
            let byte = word + random.below(4);
            data[byte] = u8::try_from(random.below(256)).unwrap_or(0);
            return;
        }
    };
    data[word..word + 4].copy_from_slice(&value);
}

/// Xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap_or(0)
    }
}
