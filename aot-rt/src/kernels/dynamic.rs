//! Dynamic-range quantization: float activations become int8 when they are there, layer by
//! layer, for weights that are int8.
//!
//! A row (an image, a row of a matrix) is quantized by itself, as the reference does. How is a
//! result of its own, because both what quantizes and what multiplies needs it.

use super::loops::{chunks, chunks_mut};
use super::requantize::{Finish, factors};
use super::{RangeF32, kernel_params};
use crate::Params;

kernel_params! {
    /// Parameters of [`dynamic_quantization_f32`] and [`quantize_dynamic_i8`].
    pub struct DynamicRows {
        /// Rows of `x`.
        pub rows: usize,
        /// Elements of a row.
        pub len: usize,
        /// Whether the least and the largest element of a row become -128 and 127, and 0 what
        /// lies between. Otherwise 0 stays 0, and the largest magnitude becomes 127.
        pub asymmetric: bool,
    }
}

/// The largest integer.
const STEPS: f32 = 127.0;

/// How a row is quantized.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RowQuantization {
    pub(super) scale: f32,
    /// 1 / `scale`.
    inverse: f32,
    /// An integer of -128..=127.
    zero: f32,
}

impl RowQuantization {
    /// Elements of a row's quantization in memory.
    const LEN: usize = 3;

    /// Of a row of zeros.
    const ZEROS: Self = Self { scale: 1.0, inverse: 1.0, zero: 0.0 };

    /// The largest magnitude becomes 127. NaN is ignored.
    #[inline(always)]
    fn symmetric(row: &[f32]) -> Self {
        let largest =
            row.iter().fold(0.0, |largest: f32, &x| if x.abs() > largest { x.abs() } else { largest });
        if largest == 0.0 {
            return Self::ZEROS;
        }
        Self { scale: largest / STEPS, inverse: STEPS / largest, zero: 0.0 }
    }

    /// The least and the largest element, or 0 where that is beyond them, become -128 and 127.
    /// NaN is ignored.
    #[inline(always)]
    fn asymmetric(row: &[f32]) -> Self {
        let (least, largest) = row.iter().fold((0.0, 0.0), |(least, largest): (f32, f32), &x| {
            (if x < least { x } else { least }, if x > largest { x } else { largest })
        });
        // The reference's precision: single for the range, double for the zero point.
        let range = largest - least;
        if range == 0.0 {
            return Self::ZEROS;
        }
        let step = f64::from(range) / 255.0;
        let (below, above) = (f64::from(least) / step, f64::from(largest) / step);
        // From the end where the smaller numbers are added.
        let zero = if 128.0 - below < 127.0 + above { -128.0 - below } else { 127.0 - above };
        let scale = step as f32;
        Self { scale, inverse: 1.0 / scale, zero: f32::from(libm::round(zero) as i8) }
    }

    /// The rows in memory.
    #[inline(always)]
    pub(super) fn rows(stored: &[f32]) -> impl Iterator<Item = Self> {
        let rows = stored.as_chunks::<{ Self::LEN }>().0.iter();
        rows.map(|&[scale, inverse, zero]| Self { scale, inverse, zero })
    }

    /// The zero point.
    #[inline(always)]
    pub(super) fn zero_point(self) -> i16 {
        self.zero as i16
    }
}

/// How each row is to be quantized: scale, its inverse, zero point.
///
/// `x`: `[rows, len]`, `y`: `[rows, 3]`. NaN is ignored.
pub fn dynamic_quantization_f32(params: &impl Params<DynamicRows>, x: &[f32], y: &mut [f32]) {
    let p = params.get();
    debug_assert_eq!((x.len(), y.len()), (p.rows * p.len, p.rows * RowQuantization::LEN));
    for (y, x) in y.as_chunks_mut().0.iter_mut().zip(chunks(x, p.len)) {
        let row = if p.asymmetric { RowQuantization::asymmetric(x) } else { RowQuantization::symmetric(x) };
        *y = [row.scale, row.inverse, row.zero];
    }
}

/// Nearest step of each row's scale from its zero point, ties away from zero.
///
/// `x` and `y`: `[rows, len]`, `quantization`: `[rows, 3]`, as [`dynamic_quantization_f32`]
/// makes it.
pub fn quantize_dynamic_i8(params: &impl Params<DynamicRows>, x: &[f32], y: &mut [i8], quantization: &[f32]) {
    let p = params.get();
    debug_assert_eq!((x.len(), y.len()), (p.rows * p.len, p.rows * p.len));
    let least = if p.asymmetric { -128.0 } else { -STEPS };
    let rows = chunks(x, p.len).zip(chunks_mut(y, p.len));
    for ((x, y), RowQuantization { inverse, zero, .. }) in rows.zip(RowQuantization::rows(quantization)) {
        for (&x, y) in x.iter().zip(y) {
            let steps = (zero + x * inverse).clamp(least, STEPS);
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
    pub(super) fn new(bias: &'a [f32], scales: &'a [f32], x_scale: f32, range: RangeF32) -> Self {
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

    fn quantized<const N: usize>(asymmetric: bool, x: &[f32; N]) -> ([[f32; 3]; 3], [i8; N]) {
        let params = DynamicRows { rows: 3, len: N / 3, asymmetric };
        let (mut quantization, mut y) = ([[f32::NAN; 3]; 3], [9; N]);
        dynamic_quantization_f32(&params, x, quantization.as_flattened_mut());
        quantize_dynamic_i8(&params, x, &mut y, quantization.as_flattened());
        (quantization, y)
    }

    #[test]
    fn rows_are_brought_to_their_largest_magnitude() {
        let x = [1.0, -2.0, 0.5, 0.0, 0.0, 0.0, -1e-3, 1e-3, 0.3e-3];
        let (quantization, y) = quantized(false, &x);
        assert_eq!(quantization[0], [2.0 / 127.0, 63.5, 0.0]);
        assert_eq!(quantization.map(|[_, _, zero]| zero), [0.0; 3]);
        // 63.5, 31.75; 38.1
        assert_eq!(y, [64, -127, 32, 0, 0, 0, -127, 127, 38]);
    }

    #[test]
    fn rows_are_brought_to_their_ends() {
        // Steps of 2, from -128, from 127, and from between: 51 of 255 are below zero.
        let x = [510.0, 3.0, 0.0, -510.0, -3.0, f32::NAN, -102.0, 408.0, 1.0];
        let (quantization, y) = quantized(true, &x);
        assert_eq!(quantization, [[2.0, 0.5, -128.0], [2.0, 0.5, 127.0], [2.0, 0.5, -77.0]]);
        // -126.5, 125.5, -76.5
        assert_eq!(y, [127, -127, -128, -128, 126, 0, -128, 127, -77]);
        assert_eq!(quantized(true, &[0.0; 3]), ([[1.0, 1.0, 0.0]; 3], [0; 3]));
    }

    #[test]
    fn rows_without_an_end_are_quantized_somehow() {
        for x in [f32::INFINITY, f32::MAX, 1e-45, f32::NAN] {
            for asymmetric in [false, true] {
                let (quantization, _) = quantized(asymmetric, &[x, -x, 0.0]);
                assert!(quantization.iter().all(|[_, _, zero]| (-128.0..=127.0).contains(zero)), "{x}");
            }
        }
    }

    #[test]
    fn sums_become_real_numbers() {
        // known-faults.md L13: 1, 1, 1 times 10, 20, 30 in steps of 0.1.
        let range = RangeF32 { min: f32::NEG_INFINITY, max: 7.0 };
        let finish = Dynamic::new(&[0.0, 2.5], &[0.1], 1.0 / STEPS, range);
        let mut y = [0.0; 2];
        finish.channels(0, &mut [7620, 7620], &mut y);
        assert_eq!(y, [6.0, 7.0]);
    }
}
