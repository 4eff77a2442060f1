//! `log_softmax`: logarithms of each row's softmax.

use super::elements::Elements;
use super::loops::chunks_mut;
use super::output::Quantized;
use super::{SoftmaxI8, kernel_params};
use crate::Params;
use crate::fixed_point::{
    Multiplier, Rounding, doubling_high_mul, exp_negative, logarithm, rounding_shift_right,
};

kernel_params! {
    /// Parameters of [`log_softmax_f32`].
    pub struct LogSoftmaxF32 {
        /// Rows of `x` and `y`.
        pub rows: usize,
        /// Elements of a row.
        pub columns: usize,
    }

    /// Parameters of [`log_softmax_i8`], see [`LogSoftmaxI8::new`].
    pub struct LogSoftmaxI8 {
        /// Those of the softmax.
        pub softmax: SoftmaxI8,
        /// Factor from units of `2^-26` back to those of `x`.
        pub reverse_multiplier: i32,
        /// Power of two that belongs to the factor.
        pub reverse_shift: i32,
    }
}

impl LogSoftmaxI8 {
    /// Parameters for an `x` with the scale `scale`; `None` when that is not
    /// above `2^-26` and below 16.
    #[must_use]
    pub fn new(rows: usize, columns: usize, scale: f32) -> Option<Self> {
        let softmax = SoftmaxI8::new(rows, columns, 1.0, scale)?;
        let real = libm::ldexp(1.0, 31 - softmax.shift) / f64::from(softmax.multiplier);
        let Multiplier { multiplier, shift } = Multiplier::from_real(real)?;
        let params = Self { softmax, reverse_multiplier: multiplier, reverse_shift: shift };
        (shift <= 0).then_some(params)
    }

    /// An element that is `difference` above the largest one, a `Q5`.
    #[inline(always)]
    fn scaled(&self, difference: i32) -> i32 {
        doubling_high_mul(difference.wrapping_shl(self.softmax.shift as u32), self.softmax.multiplier)
    }

    /// Replaces the elements of a row by the logarithms of their softmax.
    #[inline(always)]
    fn log_softmax(&self, row: &mut [i8]) {
        let max = i32::from(row.iter().fold(i8::MIN, |max, &x| max.max(x)));
        let differences = row.iter().map(|x| i32::from(*x) - max);
        // The largest element counts 1: the sum is not less, and a Q12.
        let sum = differences.filter(|difference| *difference >= self.softmax.min_difference).fold(
            0_i32,
            |sum, difference| {
                let exp = exp_negative::<5>(self.scaled(difference));
                sum.wrapping_add(rounding_shift_right(exp, 12))
            },
        );
        let log = logarithm(sum);
        // What is not above this is less than all that a `Q5` holds.
        let reverse = Multiplier { multiplier: self.reverse_multiplier, shift: self.reverse_shift };
        let least = reverse.apply(log.wrapping_add(i32::MIN), Rounding::Double);
        let least = least.max(self.softmax.min_difference - 1);
        for element in row {
            let difference = i32::from(*element) - max;
            *element = if difference > least {
                let steps = rounding_shift_right(self.scaled(difference).wrapping_sub(log), 22);
                i8::saturate(steps.wrapping_add(127))
            } else {
                -128
            };
        }
    }
}

/// Logarithms of the softmax of rows, f32.
///
/// `x` and `y`: `[rows, columns]`.
pub fn log_softmax_f32(params: &impl Params<LogSoftmaxF32>, elements: impl Elements<f32>) {
    let p = params.get();
    elements.in_place(|elements| {
        debug_assert_eq!(elements.len(), p.rows * p.columns);
        for row in chunks_mut(elements, p.columns) {
            let max = row.iter().fold(f32::MIN, |max, &x| if max < x { x } else { max });
            let sum = row.iter().fold(0.0_f32, |sum, &x| sum + libm::expf(x - max));
            let log = libm::logf(sum);
            for y in row {
                *y = *y - max - log;
            }
        }
    });
}

/// Logarithms of the softmax of rows, int8.
///
/// `x` and `y`: `[rows, columns]`; the scale of `y` is 1/16, its zero point 127.
pub fn log_softmax_i8(params: &impl Params<LogSoftmaxI8>, elements: impl Elements<i8>) {
    let p = params.get();
    elements.in_place(|elements| {
        debug_assert_eq!(elements.len(), p.softmax.rows * p.softmax.columns);
        for row in chunks_mut(elements, p.softmax.columns) {
            p.log_softmax(row);
        }
    });
}

#[cfg(test)]
mod tests {
    use core::f32::consts::LN_2;

    use super::*;
    use crate::kernels::{Apart, InPlace};

    #[test]
    fn floats() {
        let mut y = [1.0, 3.0, 1000.0, 1000.0];
        log_softmax_f32(&LogSoftmaxF32 { rows: 2, columns: 2 }, InPlace(&mut y));
        for (y, expect) in y.into_iter().zip([-2.126_928, -0.126_928, -LN_2, -LN_2]) {
            assert!((y - expect).abs() < 1e-6, "{y} {expect}");
        }
    }

    #[test]
    fn int8_rows_are_the_rounded_ones() {
        for scale in [0.1_f32, 0.023, 1.7, 12.0, 3e-6] {
            let params = LogSoftmaxI8::new(1, 256, scale).unwrap();
            let x: [i8; 256] = core::array::from_fn(|i| i as i8);
            let reals = x.map(|x| f64::from(scale) * (f64::from(x) - 127.0));
            let log = libm::log(reals.iter().map(|x| libm::exp(*x)).sum::<f64>());
            let mut y = [0; 256];
            log_softmax_i8(&params, Apart { x: &x, y: &mut y });
            for (y, real) in y.iter().zip(reals) {
                let expect = libm::round((real - log) * 16.0) + 127.0;
                assert_eq!(f64::from(*y), expect.max(-128.0), "{scale}");
            }
        }
    }

    #[test]
    fn scales_beyond_the_range() {
        for scale in [0.0, 16.0, f32::NAN, 1.4e-8] {
            assert_eq!(LogSoftmaxI8::new(1, 1, scale), None);
        }
        let params = LogSoftmaxI8::new(2, 1, 0.1).unwrap();
        let mut y = [-128, 127];
        log_softmax_i8(&params, InPlace(&mut y));
        assert_eq!(y, [127, 127]);
    }
}
