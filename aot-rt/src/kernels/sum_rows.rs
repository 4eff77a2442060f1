//! Means over whole images, row by row: sums that grow with every row, and what is made
//! of them at the end.

use core::num::NonZeroU32;

use super::images::Row;
use super::loops::chunks;
use super::rows::ring_row;
use super::{OutputI8, RangeF32, RangeI8, kernel_params};
use crate::Params;
use crate::fixed_point::Multiplier;

kernel_params! {
    /// Parameters of [`sum_rows_f32`].
    pub struct SumRowsF32 {
        /// Rows of `x`.
        pub rows: usize,
        /// Columns of `x`.
        pub columns: usize,
        /// Channels of `x` and `y`.
        pub channels: usize,
    }

    /// Parameters of [`sum_rows_i8`].
    pub struct SumRowsI8 {
        /// Rows of `x`.
        pub rows: usize,
        /// Columns of `x`.
        pub columns: usize,
        /// Channels of `x` and `y`.
        pub channels: usize,
    }

    /// Parameters of [`average_f32`].
    pub struct AverageF32 {
        /// Elements of `x` and `y`.
        pub len: usize,
        /// Numbers that were summed.
        pub count: usize,
        /// Fused activation.
        pub range: RangeF32,
    }

    /// Parameters of [`average_i8`].
    pub struct AverageI8 {
        /// Elements of `x` and `y`.
        pub len: usize,
        /// Numbers that were summed.
        pub count: usize,
        /// Added to every number before division, and taken off the mean, see
        /// [`AveragePool2dI8`](super::AveragePool2dI8).
        pub rounding_offset: i32,
        /// Limits of `y`.
        pub range: RangeI8,
    }

    /// Parameters of [`mean_of_sums_i8`].
    pub struct MeanOfSumsI8 {
        /// Elements of `x` and `y`.
        pub len: usize,
        /// Sum of the zero points of the numbers that were summed.
        pub zero: i32,
        /// Factor of a sum.
        pub multiplier: i32,
        /// Power of two that belongs to the factor.
        pub shift: i32,
        /// Zero point and limits of `y`.
        pub output: OutputI8,
    }
}

/// Adds a row of an image to the sums of its channels, f32; the first row clears them.
///
/// `x`: a ring of rows `[columns, channels]`, `y`: `[channels]`. Sums are in the order
/// of the cells.
pub fn sum_rows_f32(params: &impl Params<SumRowsF32>, rows: Row<'_, f32>) {
    let p = params.get();
    if rows.row == 0 {
        rows.y.fill(0.0);
    }
    for cell in chunks(ring_row(rows.x, rows.rings[0], rows.row), p.channels) {
        for (sum, &x) in rows.y.iter_mut().zip(cell) {
            *sum += x;
        }
    }
}

/// Adds a row of an image to the sums of its channels, int8; the first row clears them.
///
/// `x`: a ring of rows `[columns, channels]`, `y`: `[channels]`.
pub fn sum_rows_i8(params: &impl Params<SumRowsI8>, rows: Row<'_, i8, i32>) {
    let p = params.get();
    if rows.row == 0 {
        rows.y.fill(0);
    }
    for cell in chunks(ring_row(rows.x, rows.rings[0], rows.row), p.channels) {
        for (sum, &x) in rows.y.iter_mut().zip(cell) {
            *sum = sum.wrapping_add(x.into());
        }
    }
}

/// Means, from sums, f32: what [`average_pool2d_f32`](super::average_pool2d_f32) makes
/// of its sums.
///
/// `x` and `y`: `[len]`.
pub fn average_f32(params: &impl Params<AverageF32>, x: &[f32], y: &mut [f32]) {
    let p = params.get();
    debug_assert_eq!((x.len(), y.len()), (p.len, p.len));
    for (y, x) in y.iter_mut().zip(x) {
        *y = p.range.limit(x / p.count as f32);
    }
}

/// Means, from sums, int8: what [`average_pool2d_i8`](super::average_pool2d_i8) makes
/// of its sums.
///
/// `x` and `y`: `[len]`.
pub fn average_i8(params: &impl Params<AverageI8>, x: &[i32], y: &mut [i8]) {
    let p = params.get();
    debug_assert_eq!((x.len(), y.len()), (p.len, p.len));
    let offsets = p.rounding_offset.wrapping_mul(p.count as i32);
    for (y, &x) in y.iter_mut().zip(x) {
        let mean = rounded_quotient(x.wrapping_add(offsets), p.count as u32);
        *y = p.range.limit(mean.wrapping_sub(p.rounding_offset));
    }
}

/// Means, from sums, int8: what [`mean_i8`](super::mean_i8) makes of its sums.
///
/// `x` and `y`: `[len]`.
pub fn mean_of_sums_i8(params: &impl Params<MeanOfSumsI8>, x: &[i32], y: &mut [i8]) {
    let p = params.get();
    debug_assert_eq!((x.len(), y.len()), (p.len, p.len));
    let factor = Multiplier { multiplier: p.multiplier, shift: p.shift };
    for (y, x) in y.iter_mut().zip(x) {
        *y = p.output.limit(factor.apply(x.wrapping_sub(p.zero), p.output.rounding()));
    }
}

/// `sum / count`, rounded half away from zero.
#[inline(always)]
pub(super) fn rounded_quotient(sum: i32, count: u32) -> i32 {
    let divisor = NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN);
    let mean = (sum.unsigned_abs().wrapping_add(count / 2) / divisor) as i32;
    if sum < 0 { mean.wrapping_neg() } else { mean }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::tests::Random;
    use crate::kernels::{
        Apart, AveragePool2dF32, AveragePool2dI8, MeanI8, Reduction, Window2d, average_pool2d_f32,
        average_pool2d_i8, mean_i8,
    };

    const WINDOW: Window2d = Window2d {
        batch: 1,
        input: [7, 5],
        output: [1, 1],
        kernel: [7, 5],
        stride: [1, 1],
        dilation: [1, 1],
        padding: [0, 0],
    };
    const CHANNELS: usize = 11;

    #[test]
    fn sums_of_rows_make_the_mean_of_the_image_i8() {
        let mut random = Random(17);
        let x = random.array::<{ 35 * CHANNELS }>();
        let mut sums = [9; CHANNELS];
        for (row, x) in x.chunks(5 * CHANNELS).enumerate() {
            let params = SumRowsI8 { rows: 7, columns: 5, channels: CHANNELS };
            sum_rows_i8(&params, Row { x, y: &mut sums, rings: [1, 1], row });
        }
        let range = RangeI8 { min: -5, max: 100 };
        let (mut y, mut expect) = ([0; CHANNELS], [0; CHANNELS]);
        for rounding_offset in [0, 128] {
            let params = AveragePool2dI8 {
                window: WINDOW,
                channels: CHANNELS,
                count_padding: false,
                padding_after: [0, 0],
                zero_point: 0,
                rounding_offset,
                range,
            };
            average_pool2d_i8(&params, Apart { x: &x, y: &mut expect });
            average_i8(&AverageI8 { len: CHANNELS, count: 35, rounding_offset, range }, &sums, &mut y);
            assert_eq!(y, expect);
        }

        let output = OutputI8 { zero_point: 3, min: -128, max: 127, single_rounding: false };
        let factor = Multiplier::from_real(0.9 / 35.0).unwrap();
        let reduction = Reduction {
            kept: [1, 1, 1, CHANNELS],
            kept_strides: [0, 0, 0, 1],
            reduced: [1, 1, 1, 35],
            reduced_strides: [0, 0, 0, CHANNELS],
        };
        let (multiplier, shift) = (factor.multiplier, factor.shift);
        mean_i8(&MeanI8 { reduction, input_zero_point: -7, multiplier, shift, output }, &x, &mut expect);
        let params = MeanOfSumsI8 { len: CHANNELS, zero: -7 * 35, multiplier, shift, output };
        mean_of_sums_i8(&params, &sums, &mut y);
        assert_eq!(y, expect);
    }

    #[test]
    fn sums_of_rows_make_the_mean_of_the_image_f32() {
        let mut random = Random(19);
        let x: [f32; 35 * CHANNELS] = core::array::from_fn(|_| random.below(1000) as f32 / 7.0);
        let mut sums = [f32::NAN; CHANNELS];
        for (row, x) in x.chunks(5 * CHANNELS).enumerate() {
            let params = SumRowsF32 { rows: 7, columns: 5, channels: CHANNELS };
            sum_rows_f32(&params, Row { x, y: &mut sums, rings: [1, 1], row });
        }
        let range = RangeF32 { min: 0.0, max: 70.0 };
        let params = AveragePool2dF32 {
            window: WINDOW,
            channels: CHANNELS,
            count_padding: false,
            padding_after: [0, 0],
            range,
        };
        let (mut y, mut expect) = ([0.0; CHANNELS], [0.0; CHANNELS]);
        average_pool2d_f32(&params, Apart { x: &x, y: &mut expect });
        average_f32(&AverageF32 { len: CHANNELS, count: 35, range }, &sums, &mut y);
        assert_eq!(y, expect);
    }
}
