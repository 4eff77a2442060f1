//! Dynamic-range quantization: float activations become int8 when they are there, layer by
//! layer, for weights that are int8.
//!
//! A row (an image, a row of a matrix) is divided by its largest magnitude and brought to
//! -127..=127, as the reference does: the largest magnitude is a result of its own, because
//! both what quantizes and what multiplies needs it.

use super::loops::{chunks, chunks_mut};
use super::requantize::{Finish, factors};
use super::{RangeF32, kernel_params};
use crate::Params;

kernel_params! {
    /// Parameters of [`largest_f32`].
    pub struct LargestF32 {
        /// Rows of `x`.
        pub rows: usize,
        /// Elements of a row.
        pub len: usize,
    }

    /// Parameters of [`quantize_dynamic_i8`].
    pub struct QuantizeDynamicI8 {
        /// Rows of `x` and `y`.
        pub rows: usize,
        /// Elements of a row.
        pub len: usize,
    }
}

/// The largest integer.
const STEPS: f32 = 127.0;

/// The largest magnitude of each row.
///
/// `x`: `[rows, len]`, `y`: `[rows]`. NaN is ignored.
pub fn largest_f32(params: &impl Params<LargestF32>, x: &[f32], y: &mut [f32]) {
    let p = params.get();
    debug_assert_eq!((x.len(), y.len()), (p.rows * p.len, p.rows));
    for (y, x) in y.iter_mut().zip(chunks(x, p.len)) {
        *y = x.iter().fold(0.0, |largest: f32, &x| if x.abs() > largest { x.abs() } else { largest });
    }
}

/// Nearest of 255 steps between minus and plus the largest magnitude of each row, ties away
/// from zero; 0 for a row of zeros.
///
/// `x` and `y`: `[rows, len]`, `largest`: `[rows]`.
pub fn quantize_dynamic_i8(
    params: &impl Params<QuantizeDynamicI8>,
    x: &[f32],
    y: &mut [i8],
    largest: &[f32],
) {
    let p = params.get();
    debug_assert_eq!((x.len(), y.len()), (p.rows * p.len, p.rows * p.len));
    for ((x, y), &largest) in chunks(x, p.len).zip(chunks_mut(y, p.len)).zip(largest) {
        let factor = if largest == 0.0 { 0.0 } else { STEPS / largest };
        for (&x, y) in x.iter().zip(y) {
            let steps = (x * factor).clamp(-STEPS, STEPS);
            let whole = steps as i32;
            let fraction = steps - whole as f32;
            *y = (whole + i32::from(fraction >= 0.5) - i32::from(fraction <= -0.5)) as i8;
        }
    }
}

/// From the integer sums of a layer's output channels to real numbers.
#[derive(Clone, Copy)]
pub(super) struct Dynamic<'a> {
    bias: &'a [f32],
    /// Scales of the weights: one for each channel, or one for all.
    scales: &'a [f32],
    /// Scale of the row of `x`.
    x_scale: f32,
    range: RangeF32,
}

impl<'a> Dynamic<'a> {
    #[inline(always)]
    pub(super) fn new(bias: &'a [f32], scales: &'a [f32], largest: Option<&f32>, range: RangeF32) -> Self {
        let x_scale = match largest {
            Some(&largest) if largest != 0.0 => largest / STEPS,
            _ => 1.0,
        };
        Self { bias, scales, x_scale, range }
    }

    /// The channels from `first` on.
    #[inline(always)]
    pub(super) fn skip(self, first: usize) -> Self {
        let scales = factors(self.scales, first);
        Self { bias: self.bias.get(first..).unwrap_or_default(), scales, ..self }
    }
}

impl Finish for Dynamic<'_> {
    type Y = f32;

    /// Compiled once, as with other results.
    #[inline(never)]
    fn channels(&self, first: usize, sums: &mut [i32], y: &mut [f32]) {
        let Self { bias, scales, x_scale, range } = self.skip(first);
        for (i, (y, sum)) in y.iter_mut().zip(sums).enumerate() {
            let scale = scales.get(if scales.len() == 1 { 0 } else { i }).copied().unwrap_or(0.0);
            let product = *sum as f32 * (x_scale * scale);
            *y = range.limit(bias.get(i).copied().unwrap_or(0.0) + product);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_brought_to_their_largest_magnitude() {
        let x = [1.0, -2.0, 0.5, 0.0, 0.0, 0.0, -1e-3, 1e-3, 0.3e-3];
        let mut largest = [f32::NAN; 3];
        largest_f32(&LargestF32 { rows: 3, len: 3 }, &x, &mut largest);
        assert_eq!(largest, [2.0, 0.0, 1e-3]);
        let mut y = [9; 9];
        quantize_dynamic_i8(&QuantizeDynamicI8 { rows: 3, len: 3 }, &x, &mut y, &largest);
        // 63.5, 31.75; 38.1
        assert_eq!(y, [64, -127, 32, 0, 0, 0, -127, 127, 38]);
    }

    #[test]
    fn sums_become_real_numbers() {
        // known-faults.md L13: 1, 1, 1 times 10, 20, 30 in steps of 0.1.
        let range = RangeF32 { min: f32::NEG_INFINITY, max: 7.0 };
        let finish = Dynamic::new(&[0.0, 2.5], &[0.1], Some(&1.0), range);
        let mut y = [0.0; 2];
        finish.channels(0, &mut [7620, 7620], &mut y);
        assert_eq!(y, [6.0, 7.0]);
    }
}
