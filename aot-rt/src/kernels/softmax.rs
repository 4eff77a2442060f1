//! `softmax` of floats and of int8: exponentials of each row's elements, divided by their
//! sum.

use super::elements::Elements;
use super::kernel_params;
use super::loops::{chunks, chunks_mut};
use super::output::Quantized;
use crate::Params;
use crate::fixed_point::{
    Multiplier, doubling_high_mul, exp_negative, one_over_one_plus, rounding_shift_right,
};

kernel_params! {
    /// Parameters of [`softmax_f32`].
    pub struct SoftmaxF32 {
        /// Rows of `x` and `y`.
        pub rows: usize,
        /// Elements of a row.
        pub columns: usize,
        /// Factor of the exponents.
        pub beta: f32,
    }

    /// Parameters of [`softmax_i8`] and [`softmax_i8_i16`], see [`SoftmaxI8::new`].
    pub struct SoftmaxI8 {
        /// Rows of `x` and `y`.
        pub rows: usize,
        /// Elements of a row.
        pub columns: usize,
        /// Factor of the exponents: `beta` times the scale of `x`, in units of
        /// `2^-26`.
        pub multiplier: i32,
        /// Power of two that belongs to the multiplier.
        pub shift: i32,
        /// Smallest difference from the largest element whose exponential counts.
        pub min_difference: i32,
    }
}

/// What all elements of a row have in common.
#[derive(Clone, Copy)]
struct RowI8 {
    max: i32,
    /// One over the sum, a `Q0`.
    reciprocal: i32,
    /// Zeros before the sum's highest bit.
    headroom: u32,
}

impl SoftmaxI8 {
    /// Parameters for an `x` with the scale `scale`; `None` when `beta * scale` is not
    /// in `2^-26 .. 16`.
    #[must_use]
    pub fn new(rows: usize, columns: usize, beta: f32, scale: f32) -> Option<Self> {
        let real = f64::from(beta) * f64::from(scale) * 67_108_864.0;
        let Multiplier { multiplier, shift } = Multiplier::from_real(real)?;
        if shift < 0 || real <= 0.0 {
            return None;
        }
        let radius = libm::floor(libm::ldexp(31.0 * 67_108_864.0, -shift)) as i32;
        Some(Self { rows, columns, multiplier, shift, min_difference: -radius })
    }

    /// Exponential of an element that is `difference` above the largest, or `None`
    /// when it is too small to count; a `Q0`.
    #[inline(always)]
    fn exp(&self, difference: i32) -> Option<i32> {
        if difference < self.min_difference {
            return None;
        }
        let scaled = doubling_high_mul(difference.wrapping_shl(self.shift as u32), self.multiplier);
        Some(exp_negative::<5>(scaled))
    }

    /// What all elements of `row` have in common.
    #[inline(always)]
    fn row(&self, row: &[i8]) -> RowI8 {
        let max = i32::from(row.iter().fold(i8::MIN, |max, &x| max.max(x)));
        // The largest element counts 2^19: the sum is positive and a Q12.
        let sum = row.iter().fold(0_i32, |sum, &x| match self.exp(i32::from(x) - max) {
            Some(exp) => sum.wrapping_add(rounding_shift_right(exp, 12)),
            None => sum,
        });
        let headroom = sum.leading_zeros();
        let fraction = (sum as u32).wrapping_shl(headroom).wrapping_sub(1 << 31) as i32;
        RowI8 { max, reciprocal: one_over_one_plus(fraction), headroom }
    }

    /// The softmax of `x` in steps of `2^-BITS` from the least number of `BITS` bits.
    #[inline(always)]
    fn softmax<T: Quantized, const BITS: u32>(&self, row: RowI8, x: i8) -> T {
        let steps = self.exp(i32::from(x) - row.max).map_or(0, |exp| {
            let quotient = doubling_high_mul(row.reciprocal, exp);
            // Of 512 equal elements and more, each is less than half a step.
            let shift = (12 + 31 - BITS).wrapping_sub(row.headroom);
            if shift > 31 { 0 } else { rounding_shift_right(quotient, shift) }
        });
        let least = -1 << (BITS - 1);
        T::narrow(steps.wrapping_add(least).clamp(least, !least))
    }
}

/// Softmax of rows, f32.
///
/// `x` and `y`: `[rows, columns]`.
pub fn softmax_f32(params: &impl Params<SoftmaxF32>, elements: impl Elements<f32>) {
    let p = params.get();
    elements.in_place(|elements| {
        debug_assert_eq!(elements.len(), p.rows * p.columns);
        for row in chunks_mut(elements, p.columns) {
            let max = row.iter().fold(f32::MIN, |max, &x| if max < x { x } else { max });
            let mut sum = 0.0;
            for element in row.iter_mut() {
                *element = libm::expf((*element - max) * p.beta);
                sum += *element;
            }
            for y in row {
                *y /= sum;
            }
        }
    });
}

/// Softmax of rows, int8.
///
/// `x` and `y`: `[rows, columns]`; the scale of `y` is 1/256, its zero point -128.
pub fn softmax_i8(params: &impl Params<SoftmaxI8>, elements: impl Elements<i8>) {
    let p = params.get();
    elements.in_place(|elements| {
        debug_assert_eq!(elements.len(), p.rows * p.columns);
        for row in chunks_mut(elements, p.columns) {
            let common = p.row(row);
            for element in row {
                *element = p.softmax::<i8, 8>(common, *element);
            }
        }
    });
}

/// Softmax of rows, from int8 to int16: as [`softmax_i8`], with more bits of the result.
///
/// `x` and `y`: `[rows, columns]`; the scale of `y` is 1/65536, its zero point -32768.
pub fn softmax_i8_i16(params: &impl Params<SoftmaxI8>, x: &[i8], y: &mut [i16]) {
    let p = params.get();
    debug_assert_eq!((x.len(), y.len()), (p.rows * p.columns, p.rows * p.columns));
    for (x, y) in chunks(x, p.columns).zip(chunks_mut(y, p.columns)) {
        let common = p.row(x);
        for (&x, y) in x.iter().zip(y) {
            *y = p.softmax::<i16, 16>(common, x);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Apart;

    #[test]
    fn softmax_f32_cases() {
        // known-faults.md O8.
        let params = SoftmaxF32 { rows: 2, columns: 2, beta: 1.0 };
        let mut y = [0.0; 4];
        softmax_f32(&params, Apart { x: &[1.0, 3.0, 2.0, 4.0], y: &mut y });
        for (y, expect) in y.iter().zip([0.119_203, 0.880_797, 0.119_203, 0.880_797]) {
            assert!((y - expect).abs() < 1e-6, "{y} {expect}");
        }
        let params = SoftmaxF32 { rows: 1, columns: 4, beta: 1.0 };
        softmax_f32(&params, Apart { x: &[1.0, 2.0, 3.0, 4.0], y: &mut y });
        for (y, expect) in y.iter().zip([0.032_059, 0.087_144, 0.236_883, 0.643_914]) {
            assert!((y - expect).abs() < 1e-6, "{y} {expect}");
        }
    }

    #[test]
    fn softmax_i8_is_the_rounded_softmax() {
        for (scale, beta) in [(0.1_f32, 1.0_f32), (0.023, 1.0), (1.7, 0.5), (3e-6, 1.0)] {
            let params = SoftmaxI8::new(1, 256, beta, scale).unwrap();
            let x: [i8; 256] = core::array::from_fn(|i| i as i8);
            let exps = x.map(|x| libm::exp(f64::from(beta) * f64::from(scale) * (f64::from(x) - 127.0)));
            let sum: f64 = exps.iter().sum();
            let mut y = [0; 256];
            softmax_i8(&params, Apart { x: &x, y: &mut y });
            for (y, exp) in y.iter().zip(exps) {
                let expect = libm::round(exp / sum * 256.0) - 128.0;
                assert_eq!(f64::from(*y), expect.min(127.0), "{scale}");
            }
        }
    }

    #[test]
    fn softmax_i8_at_the_ends() {
        let params = SoftmaxI8::new(3, 2, 1.0, 0.1).unwrap();
        let mut y = [0; 6];
        softmax_i8(&params, Apart { x: &[5, 5, -128, 127, 0, 10], y: &mut y });
        // exp(-1) / (1 + exp(-1)) * 256 = 68.85
        assert_eq!(y, [0, 0, -128, 127, -59, 59]);
        let mut wide = [0; 6];
        softmax_i8_i16(&params, &[5, 5, -128, 127, 0, 10], &mut wide);
        // exp(-1) / (1 + exp(-1)) * 65536 = 17625.5
        assert_eq!(wide, [0, 0, -32_768, 32_767, -15_143, 15_143]);
        let params = SoftmaxI8::new(1, 1, 1.0, 0.1).unwrap();
        softmax_i8(&params, Apart { x: &[-128], y: &mut y[..1] });
        assert_eq!(y[0], 127);
        for scale in [0.0, 16.0, f32::NAN, 1e-9] {
            assert_eq!(SoftmaxI8::new(1, 1, 1.0, scale), None);
        }
    }
}
