//! `softmax` with int16 results.

use super::elements::Elements;
use super::interpolate::{ENTRIES, interpolated};
use super::kernel_params;
use super::loops::chunks_mut;
use super::output::Quantized;
use crate::Params;
use crate::fixed_point::{Multiplier, Rounding, Scaler};

kernel_params! {
    /// Parameters of [`softmax_i16`].
    pub struct SoftmaxI16 {
        /// Rows of `x` and `y`.
        pub rows: usize,
        /// Elements of a row, at most 65535.
        pub columns: usize,
        /// Factor of the differences from the largest element: makes their step 10/65535.
        pub multiplier: i32,
        /// Power of two that belongs to the factor.
        pub shift: i32,
        /// Round once instead of twice, see [`Rounding`].
        pub single_rounding: bool,
    }
}

/// Softmax of rows, int16; the scale of `y` is 1/32768, its zero point 0.
///
/// `x` and `y`: `[rows, columns]`; `exp` and `reciprocal`: tables as those of
/// [`interpolate_i16`](super::interpolate_i16), of `exp(x)` from -10 to 0 and of `1 / (1 + x)`
/// from 0 to 1, in steps of 1/32768.
pub fn softmax_i16(
    params: &impl Params<SoftmaxI16>,
    elements: impl Elements<i16>,
    exp: &[i16],
    reciprocal: &[i16],
) {
    debug_assert_eq!((exp.len(), reciprocal.len()), (ENTRIES, ENTRIES));
    let p = params.get();
    let (Some(exp), Some(reciprocal)) = (exp.first_chunk(), reciprocal.first_chunk()) else { return };
    elements.in_place(|elements| {
        debug_assert_eq!(elements.len(), p.rows * p.columns);
        for row in chunks_mut(elements, p.columns) {
            p.softmax(row, exp, reciprocal);
        }
    });
}

impl SoftmaxI16 {
    /// Replaces the elements of a row by their softmax.
    #[inline(always)]
    fn softmax(&self, row: &mut [i16], exp: &[i16; ENTRIES], reciprocal: &[i16; ENTRIES]) {
        let rounding = Rounding::of(self.single_rounding);
        let scaler = Scaler::new(Multiplier { multiplier: self.multiplier, shift: self.shift }, rounding);
        let max = i32::from(row.iter().fold(i16::MIN, |max, &x| max.max(x)));
        let mut sum = 0_i32;
        for element in row.iter_mut() {
            // The table is for -32768 to 32767, which stand for -10 to 0.
            let place = scaler.apply(i32::from(*element).wrapping_sub(max)).saturating_add(32_767);
            *element = interpolated(exp, i16::saturate(place));
            sum = sum.wrapping_add((*element).into());
        }
        // The largest element counts nearly 2^15: the sum is positive. It is
        // (1 + fraction) * 2^(30 - headroom), with a fraction of 16 bits.
        let headroom = (sum.leading_zeros() & 31).wrapping_sub(1) & 31;
        let scaled = ((i64::from(sum) << headroom).wrapping_add(1 << 13) >> 14) as i32;
        let place = i16::saturate(scaled.wrapping_sub((1 << 16) + (1 << 15)));
        let factor = i32::from(interpolated(reciprocal, place));
        let shift = 30_u32.wrapping_sub(headroom) & 31;
        for element in row {
            let half = 1_u32.wrapping_shl(shift) >> 1;
            let product = i32::from(*element).wrapping_mul(factor).wrapping_add(half as i32);
            *element = (product >> shift).clamp(0, 32_767) as i16;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{Apart, InPlace};

    /// Tables of rounded results: enough for results that are nearly right.
    fn tables() -> [[i16; ENTRIES]; 2] {
        let round = |real: f64| libm::round(real * 32_768.0).min(32_767.0) as i16;
        let part = |i: usize| i as f64 / 512.0;
        [
            core::array::from_fn(|i| round(libm::exp(10.0 * (part(i) - 1.0)))),
            core::array::from_fn(|i| round(1.0 / (1.0 + part(i)))),
        ]
    }

    #[test]
    fn rows_sum_to_one() {
        let [exp, reciprocal] = tables();
        let scale = 1.0 / 4096.0;
        let factor = Multiplier::from_real(scale * 6553.5).unwrap();
        let params = SoftmaxI16 {
            rows: 2,
            columns: 4,
            multiplier: factor.multiplier,
            shift: factor.shift,
            single_rounding: false,
        };
        let x: [i16; 8] = [0, 4096, -4096, 8192, -32_768, 32_767, 32_767, 0];
        let mut y = [0; 8];
        softmax_i16(&params, Apart { x: &x, y: &mut y }, &exp, &reciprocal);
        for (x, y) in x.chunks(4).zip(y.chunks(4)) {
            let exps = x.iter().map(|&x| libm::exp(f64::from(x) * scale));
            let sum: f64 = exps.clone().sum();
            for (y, exp) in y.iter().zip(exps) {
                assert!((f64::from(*y) - exp / sum * 32_768.0).abs() < 8.0, "{y} {}", exp / sum);
            }
        }
        let mut one = [-5];
        softmax_i16(&SoftmaxI16 { rows: 1, columns: 1, ..params }, InPlace(&mut one), &exp, &reciprocal);
        assert_eq!(one, [32_767]);
    }
}
