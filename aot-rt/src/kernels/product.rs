//! `mul`, `div`: products and quotients of int8 and int16 elements, with broadcasting.

use super::elements::{Broadcast, Elements};
use super::output::Quantized;
use super::{OutputI8, kernel_params};
use crate::Params;
use crate::fixed_point::{Multiplier, Rounding, Scaler, doubling_high_mul, one_over_one_plus};

kernel_params! {
    /// Parameters of [`mul_i8`], [`mul_i16`] and [`div_i8`].
    pub struct ProductI8 {
        /// How the operands meet.
        pub broadcast: Broadcast,
        /// Zero point of `a`.
        pub a_zero_point: i32,
        /// Zero point of `b`.
        pub b_zero_point: i32,
        /// Factor of the product or quotient.
        pub multiplier: i32,
        /// Power of two that belongs to the factor; at most 23 for a quotient.
        pub shift: i32,
        /// Zero point and limits of `y`.
        pub output: OutputI8,
    }
}

impl ProductI8 {
    /// The same with the operands exchanged.
    #[must_use]
    pub const fn swapped(self) -> Self {
        Self {
            broadcast: self.broadcast.swapped(),
            a_zero_point: self.b_zero_point,
            b_zero_point: self.a_zero_point,
            ..self
        }
    }

    /// The differences of two elements from their zero points.
    #[inline(always)]
    fn differences<T: Quantized>(&self, a: T, b: T) -> [i32; 2] {
        [a.into().wrapping_sub(self.a_zero_point), b.into().wrapping_sub(self.b_zero_point)]
    }
}

/// Product of two tensors, int8.
///
/// `x`, called `a` in the parameters, and `b`: their own shapes, `y`: the shape that
/// both are broadcast to.
pub fn mul_i8(params: &impl Params<ProductI8>, elements: impl Elements<i8>, b: &[i8]) {
    mul(params.get(), elements, b);
}

/// Product of two tensors, int16 with zero points of 0.
///
/// Operands as those of [`mul_i8`].
pub fn mul_i16(params: &impl Params<ProductI8>, elements: impl Elements<i16>, b: &[i16]) {
    mul(params.get(), elements, b);
}

#[inline(always)]
fn mul<T: Quantized>(p: ProductI8, elements: impl Elements<T>, b: &[T]) {
    let scaler = Scaler::new(Multiplier { multiplier: p.multiplier, shift: p.shift }, p.output.rounding());
    elements.zip(&p.broadcast, b, |a, b| {
        let [a, b] = p.differences(a, b);
        p.output.limit(scaler.apply(a.wrapping_mul(b)))
    });
}

/// Quotient of two tensors, int8; the greatest or least number where the divisor is 0.
///
/// Operands as those of [`mul_i8`].
pub fn div_i8(params: &impl Params<ProductI8>, elements: impl Elements<i8>, b: &[i8]) {
    let p = params.get();
    let factor = Multiplier { multiplier: p.multiplier, shift: p.shift };
    elements.zip(&p.broadcast, b, |a, b| {
        let [a, b] = p.differences(a, b);
        p.output.limit(quotient(a, b, factor, p.output.rounding()))
    });
}

/// `a / b` times the factor, for `a` and `b` of up to 9 bits and a sign.
///
/// The reference multiplies by the reciprocal: each with as many bits as there is room for.
#[inline(always)]
fn quotient(a: i32, b: i32, factor: Multiplier, rounding: Rounding) -> i32 {
    if b == 0 {
        // Half of what fits, for the zero point to be added.
        return a.signum() * (i32::MAX / 2);
    }
    let (a, b) = if b < 0 { (a.wrapping_neg(), b.wrapping_neg()) } else { (a, b) };
    let (a_bits, b_bits) = ((a ^ (a >> 31)).leading_zeros() - 1, b.leading_zeros());
    // b is (1 + fraction) * 2^(31 - b_bits).
    let fraction = b.wrapping_shl(b_bits) & i32::MAX;
    let quotient = doubling_high_mul(a.wrapping_shl(a_bits), one_over_one_plus(fraction));
    let shift = factor.shift + b_bits as i32 - 31 - a_bits as i32;
    if shift < -31 {
        // Less than a half.
        return 0;
    }
    Multiplier { shift, ..factor }.apply(quotient, rounding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Apart;

    fn params(factor: f64) -> ProductI8 {
        let Multiplier { multiplier, shift } = Multiplier::from_real(factor).unwrap();
        ProductI8 {
            broadcast: Broadcast {
                extents: [1, 1, 1, 1, 1, 256],
                a_strides: [0, 0, 0, 0, 0, 1],
                b_strides: [0; 6],
            },
            a_zero_point: 3,
            b_zero_point: -5,
            multiplier,
            shift,
            output: OutputI8 { zero_point: 7, min: -100, max: 100, single_rounding: false },
        }
    }

    #[test]
    fn results_are_near_the_real_ones() {
        let a: [i8; 256] = core::array::from_fn(|i| i as i8);
        for b in [-128, -6, -4, 0, 127] {
            for factor in [0.01, 0.7, 5.0, 300.0] {
                let [mut product, mut quotient] = [[0; 256]; 2];
                mul_i8(&params(factor), Apart { x: &a, y: &mut product }, &[b]);
                div_i8(&params(factor), Apart { x: &a, y: &mut quotient }, &[b]);
                for (i, a) in a.into_iter().enumerate() {
                    let (a, b) = (f64::from(a) - 3.0, f64::from(b) + 5.0);
                    for (real, y) in [(a * b, product[i]), (a / b, quotient[i])] {
                        let expect = (libm::round(real * factor) + 7.0).clamp(-100.0, 100.0);
                        assert!((f64::from(y) - expect).abs() <= 1.0, "{a} {b} {factor}: {y} {expect}");
                    }
                }
            }
        }
    }

    #[test]
    fn there_is_a_quotient_by_zero() {
        let mut y = [1; 256];
        let a: [i8; 256] = core::array::from_fn(|i| i as i8);
        div_i8(&params(1.0), Apart { x: &a, y: &mut y }, &[-5]);
        assert_eq!((y[2], y[3], y[4]), (-100, 7, 100));
    }
}
