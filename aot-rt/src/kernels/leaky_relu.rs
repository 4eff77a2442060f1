//! `leaky_relu`, `prelu`: negative elements times a factor, one for all or one each.

use super::elements::{Broadcast, Elements};
use super::output::Quantized;
use super::{BinaryF32, OutputI8, kernel_params};
use crate::Params;
use crate::fixed_point::{Multiplier, Rounding, Scaler};

kernel_params! {
    /// Parameters of [`leaky_relu_f32`].
    pub struct LeakyReluF32 {
        /// Elements of `x` and `y`.
        pub len: usize,
        /// Factor of negative elements.
        pub alpha: f32,
    }

    /// Parameters of [`leaky_relu_i16`].
    pub struct LeakyReluI16 {
        /// Elements of `x` and `y`.
        pub len: usize,
        /// Factor of positive elements.
        pub multiplier: i32,
        /// Power of two that belongs to the factor.
        pub shift: i32,
        /// Factor of negative elements; negative where `alpha` is.
        pub alpha_multiplier: i32,
        /// Power of two that belongs to the factor.
        pub alpha_shift: i32,
        /// Round once instead of twice, see [`Rounding`].
        pub single_rounding: bool,
    }

    /// Parameters of [`prelu_i8`] and [`prelu_i16`].
    pub struct PreluI8 {
        /// How `x` and the factors meet.
        pub broadcast: Broadcast,
        /// Zero point of `x`.
        pub zero_point: i32,
        /// Zero point of the factors.
        pub alpha_zero_point: i32,
        /// Factor of positive elements.
        pub multiplier: i32,
        /// Power of two that belongs to the factor.
        pub shift: i32,
        /// Factor of the product of a negative element and `alpha`.
        pub alpha_multiplier: i32,
        /// Power of two that belongs to the factor.
        pub alpha_shift: i32,
        /// Zero point and limits of `y`.
        pub output: OutputI8,
    }
}

/// `x`, and `alpha * x` where it is negative, f32.
///
/// `x` and `y`: `[len]`.
pub fn leaky_relu_f32(params: &impl Params<LeakyReluF32>, elements: impl Elements<f32>) {
    let p = params.get();
    elements.map(p.len, |x| if x < 0.0 { x * p.alpha } else { x });
}

/// `x`, and `alpha * x` where it is negative, int16; zero points are 0.
///
/// `x` and `y`: `[len]`.
pub fn leaky_relu_i16(params: &impl Params<LeakyReluI16>, elements: impl Elements<i16>) {
    let p = params.get();
    let rounding = Rounding::of(p.single_rounding);
    let positive = Scaler::new(Multiplier { multiplier: p.multiplier, shift: p.shift }, rounding);
    let negative = Multiplier { multiplier: p.alpha_multiplier.wrapping_abs(), shift: p.alpha_shift };
    let (negative, sign) = (Scaler::new(negative, rounding), p.alpha_multiplier.signum());
    elements.map(p.len, |x| {
        let x = i32::from(x);
        let y = if x < 0 { negative.apply(x).wrapping_mul(sign) } else { positive.apply(x) };
        i16::saturate(y)
    });
}

/// `x`, and `alpha * x` where it is negative, f32.
///
/// `x` and `alpha`: their own shapes, called `a` and `b` in the parameters; `y`: the
/// shape that both are broadcast to.
pub fn prelu_f32(params: &impl Params<BinaryF32>, elements: impl Elements<f32>, alpha: &[f32]) {
    let p = params.get();
    elements.zip(&p.broadcast, alpha, |x, alpha| p.range.limit(if x < 0.0 { x * alpha } else { x }));
}

/// `x`, and `alpha * x` where it is negative, int8.
///
/// Operands as those of [`prelu_f32`].
pub fn prelu_i8(params: &impl Params<PreluI8>, elements: impl Elements<i8>, alpha: &[i8]) {
    prelu(params.get(), elements, alpha);
}

/// `x`, and `alpha * x` where it is negative, int16 with zero points of 0.
///
/// Operands as those of [`prelu_f32`].
pub fn prelu_i16(params: &impl Params<PreluI8>, elements: impl Elements<i16>, alpha: &[i16]) {
    prelu(params.get(), elements, alpha);
}

#[inline(always)]
fn prelu<T: Quantized>(p: PreluI8, elements: impl Elements<T>, alpha: &[T]) {
    let scaler = |multiplier, shift| Scaler::new(Multiplier { multiplier, shift }, p.output.rounding());
    let positive = scaler(p.multiplier, p.shift);
    let negative = scaler(p.alpha_multiplier, p.alpha_shift);
    elements.zip(&p.broadcast, alpha, |x, alpha| {
        let x = x.into().wrapping_sub(p.zero_point);
        let alpha = alpha.into().wrapping_sub(p.alpha_zero_point);
        p.output.limit(if x < 0 { negative.apply(x.wrapping_mul(alpha)) } else { positive.apply(x) })
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{Apart, InPlace, RangeF32};

    fn factor(real: f64) -> Multiplier {
        Multiplier::from_real(real).unwrap()
    }

    #[test]
    fn leaky_relu_of_either_sign() {
        let mut y = [-2.0, 0.0, 3.0];
        leaky_relu_f32(&LeakyReluF32 { len: 3, alpha: 0.25 }, InPlace(&mut y));
        assert_eq!(y, [-0.5, 0.0, 3.0]);
        for (alpha, expect) in [(0.5, [-32_768, -5, 20, 32_767]), (-0.5, [32_767, 5, 20, 32_767])] {
            let (positive, negative) = (factor(2.0), factor(f64::abs(2.0 * alpha)));
            let params = LeakyReluI16 {
                len: 4,
                multiplier: positive.multiplier,
                shift: positive.shift,
                alpha_multiplier: negative.multiplier * alpha.signum() as i32,
                alpha_shift: negative.shift,
                single_rounding: false,
            };
            let mut y = [0; 4];
            leaky_relu_i16(&params, Apart { x: &[-32_768, -5, 10, 20_000], y: &mut y });
            assert_eq!(y, expect, "{alpha}");
        }
    }

    #[test]
    fn prelu_has_a_factor_for_each_channel() {
        let broadcast = Broadcast {
            extents: [1, 1, 1, 1, 2, 2],
            a_strides: [0, 0, 0, 0, 2, 1],
            b_strides: [0, 0, 0, 0, 0, 1],
        };
        let range = RangeF32 { min: f32::NEG_INFINITY, max: f32::INFINITY };
        let mut y = [-2.0, -2.0, 3.0, 4.0];
        prelu_f32(&BinaryF32 { broadcast, range }, InPlace(&mut y), &[0.5, -1.0]);
        assert_eq!(y, [-1.0, 2.0, 3.0, 4.0]);
        // Scales 0.5, 0.25 and 0.5.
        let (positive, negative) = (factor(1.0), factor(0.25));
        let params = PreluI8 {
            broadcast,
            zero_point: 1,
            alpha_zero_point: 2,
            multiplier: positive.multiplier,
            shift: positive.shift,
            alpha_multiplier: negative.multiplier,
            alpha_shift: negative.shift,
            output: OutputI8 { zero_point: 3, min: -128, max: 127, single_rounding: false },
        };
        let mut y = [-3, -3, 7, 127];
        prelu_i8(&params, InPlace(&mut y), &[4, -2]);
        assert_eq!(y, [1, 7, 9, 127]);
    }
}
