//! Inputs that are drawn at random, the same for the same seed.

use aot_build::Compiled;
use aot_build::graph::{Shape, TensorType};
use aot_rt::DType;

use crate::array::{Array, in_file};
use crate::sets::Files;

/// Runs of a model that keeps a state.
const RUNS: usize = 4;

/// One less than the largest integer that is drawn for wide types, which tend to be positions and
/// counts.
const SMALL: u64 = 8;

/// Inputs for a model: integers of up to 16 bits from all that there are, others from 0 to 7,
/// floating-point numbers from -1 to 1.
pub(super) fn draw(compiled: &Compiled, seed: u64) -> Files {
    let program = &compiled.program;
    let mut numbers = Numbers(seed);
    let runs = (!program.states.is_empty()).then_some(RUNS);
    let arrays = program.inputs.iter().map(|port| array(&port.ty, runs, &mut numbers));
    Files::of_arrays(arrays.collect())
}

fn array(ty: &TensorType, runs: Option<usize>, numbers: &mut Numbers) -> Array {
    let extents: Vec<usize> = runs.into_iter().chain(ty.shape.iter().copied()).collect();
    // As many runs as fit the limit of a tensor: one always does.
    let shape = Shape::new(extents).unwrap_or_else(|_| ty.shape.clone());
    let bytes = (0..shape.elements()).flat_map(|_| element(ty.dtype, numbers.next())).collect();
    Array { dtype: in_file(ty.dtype), shape, bytes }
}

/// An element as a file has it, little-endian.
fn element(dtype: DType, number: u64) -> Vec<u8> {
    let small = number % SMALL;
    // The upper bits are a fraction of 2^53, as many as a double has.
    let real = (number >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
    match dtype {
        DType::Bool => vec![(number & 1) as u8],
        DType::I4 => ((number & 15) as i8 - 8).to_le_bytes().to_vec(),
        DType::I8 | DType::U8 => vec![number as u8],
        DType::I16 => (number as u16).to_le_bytes().to_vec(),
        DType::I32 | DType::U32 => (small as u32).to_le_bytes().to_vec(),
        DType::I64 | DType::U64 => small.to_le_bytes().to_vec(),
        DType::F16 => aot_rt::f16::from_f64(real).to_le_bytes().to_vec(),
        DType::BF16 => aot_rt::bf16::from_f64(real).to_le_bytes().to_vec(),
        DType::F32 => (real as f32).to_le_bytes().to_vec(),
    }
}

/// Pseudorandom numbers: the generator SplitMix64.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers for the seed 1234567, from the reference implementation of
    /// SplitMix64 (Vigna, prng.di.unimi.it).
    #[test]
    fn numbers_are_those_of_split_mix() {
        let mut numbers = Numbers(1_234_567);
        let found: Vec<_> = (0..3).map(|_| numbers.next()).collect();
        assert_eq!(found, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn elements_are_within_their_ranges() {
        for (number, expect) in [(0, -1.0_f32), (1 << 63, 0.0), (u64::MAX, 1.0)] {
            let found = f32::from_le_bytes(element(DType::F32, number).try_into().unwrap());
            assert!((found - expect).abs() < 1e-6, "{number}: {found}");
        }
        for dtype in DType::ALL {
            assert_eq!(element(dtype, u64::MAX).len(), dtype.size(), "{}", dtype.name());
        }
        assert_eq!(element(DType::Bool, u64::MAX), [1]);
        assert_eq!(element(DType::I32, u64::MAX), [7, 0, 0, 0]);
        assert_eq!([0, 15].map(|number| element(DType::I4, number)[0].cast_signed()), [-8, 7]);
    }
}
