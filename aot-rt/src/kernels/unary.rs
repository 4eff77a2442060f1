//! Functions of one float, or of one integer that stands for itself, element by element.
//!
//! A function each, so that a program holds only those that its model uses. int8 elements
//! are looked up in a table instead, see [`lookup_i8`](super::lookup_i8).

use core::f32::consts::FRAC_1_SQRT_2;

use super::elements::Elements;
use super::{RangeF32, kernel_params};
use crate::Params;

kernel_params! {
    /// Parameters of functions of one float, or of one integer that stands for itself.
    pub struct UnaryF32 {
        /// Elements of `x` and `y`.
        pub len: usize,
    }
}

/// The square root of 2/π, and the factor of the cube.
const GELU: (f32, f32) = (0.797_884_6, 0.044_715);

const UP_TO_6: RangeF32 = RangeF32 { min: 0.0, max: 6.0 };

/// Magnitude, int32; that of the least number is itself.
pub fn abs_i32(params: &impl Params<UnaryF32>, elements: impl Elements<i32>) {
    elements.map(params.get().len, i32::wrapping_abs);
}

/// `-x`, int32; it wraps.
pub fn neg_i32(params: &impl Params<UnaryF32>, elements: impl Elements<i32>) {
    elements.map(params.get().len, i32::wrapping_neg);
}

/// `-x`, int64; it wraps.
pub fn neg_i64(params: &impl Params<UnaryF32>, elements: impl Elements<i64>) {
    elements.map(params.get().len, i64::wrapping_neg);
}

/// Magnitude, f32.
pub fn abs_f32(params: &impl Params<UnaryF32>, elements: impl Elements<f32>) {
    elements.map(params.get().len, libm::fabsf);
}

/// The next integer up, f32.
pub fn ceil_f32(params: &impl Params<UnaryF32>, elements: impl Elements<f32>) {
    elements.map(params.get().len, libm::ceilf);
}

/// Cosine, f32.
pub fn cos_f32(params: &impl Params<UnaryF32>, elements: impl Elements<f32>) {
    elements.map(params.get().len, libm::cosf);
}

/// `x`, and `exp(x) - 1` where it is negative, f32.
pub fn elu_f32(params: &impl Params<UnaryF32>, elements: impl Elements<f32>) {
    elements.map(params.get().len, |x| if x < 0.0 { libm::expm1f(x) } else { x });
}

/// Exponential, f32.
pub fn exp_f32(params: &impl Params<UnaryF32>, elements: impl Elements<f32>) {
    elements.map(params.get().len, libm::expf);
}

/// The next integer down, f32.
pub fn floor_f32(params: &impl Params<UnaryF32>, elements: impl Elements<f32>) {
    elements.map(params.get().len, libm::floorf);
}

/// `x` times the normal distribution up to it, f32.
pub fn gelu_f32(params: &impl Params<UnaryF32>, elements: impl Elements<f32>) {
    elements.map(params.get().len, |x| x * 0.5 * libm::erfcf(x * -FRAC_1_SQRT_2));
}

/// [`gelu_f32`], by its approximation with a hyperbolic tangent, f32.
pub fn gelu_tanh_f32(params: &impl Params<UnaryF32>, elements: impl Elements<f32>) {
    elements.map(params.get().len, |x| 0.5 * x * (1.0 + libm::tanhf(GELU.0 * (x + GELU.1 * x * x * x))));
}

/// `x` times `(x + 3) / 6`, the latter limited to 0 and 1, f32.
pub fn hard_swish_f32(params: &impl Params<UnaryF32>, elements: impl Elements<f32>) {
    elements.map(params.get().len, |x| x * UP_TO_6.limit(x + 3.0) / 6.0);
}

/// Natural logarithm, f32.
pub fn log_f32(params: &impl Params<UnaryF32>, elements: impl Elements<f32>) {
    elements.map(params.get().len, libm::logf);
}

/// `-x`, f32.
pub fn neg_f32(params: &impl Params<UnaryF32>, elements: impl Elements<f32>) {
    elements.map(params.get().len, |x| -x);
}

/// The nearest integer, ties to even, f32.
pub fn round_f32(params: &impl Params<UnaryF32>, elements: impl Elements<f32>) {
    elements.map(params.get().len, libm::rintf);
}

/// Reciprocal of the square root, f32.
pub fn rsqrt_f32(params: &impl Params<UnaryF32>, elements: impl Elements<f32>) {
    elements.map(params.get().len, |x| 1.0 / libm::sqrtf(x));
}

/// Sine, f32.
pub fn sin_f32(params: &impl Params<UnaryF32>, elements: impl Elements<f32>) {
    elements.map(params.get().len, libm::sinf);
}

/// Square root, f32.
pub fn sqrt_f32(params: &impl Params<UnaryF32>, elements: impl Elements<f32>) {
    elements.map(params.get().len, libm::sqrtf);
}

/// `x * x`, f32.
pub fn square_f32(params: &impl Params<UnaryF32>, elements: impl Elements<f32>) {
    elements.map(params.get().len, |x| x * x);
}

/// Hyperbolic tangent, f32.
pub fn tanh_f32(params: &impl Params<UnaryF32>, elements: impl Elements<f32>) {
    elements.map(params.get().len, libm::tanhf);
}

#[cfg(test)]
mod tests {
    use core::f32::consts::{LN_2, SQRT_2};

    use super::*;
    use crate::kernels::{Apart, InPlace};

    /// Computed with Python's `math`.
    #[test]
    fn functions_of_floats() {
        type F = fn(&UnaryF32, InPlace<'_, f32>);
        let cases: [(&str, F, [f32; 5]); 17] = [
            ("abs", |p, e| abs_f32(p, e), [3.5, 0.5, 0.0, 0.5, 2.5]),
            ("ceil", |p, e| ceil_f32(p, e), [-3.0, 0.0, 0.0, 1.0, 3.0]),
            ("cos", |p, e| cos_f32(p, e), [-0.936_456_7, 0.877_582_6, 1.0, 0.877_582_6, -0.801_143_6]),
            ("elu", |p, e| elu_f32(p, e), [-0.969_802_6, -0.393_469_3, 0.0, 0.5, 2.5]),
            ("exp", |p, e| exp_f32(p, e), [0.030_197_38, 0.606_530_7, 1.0, 1.648_721, 12.182_49]),
            ("floor", |p, e| floor_f32(p, e), [-4.0, -1.0, 0.0, 0.0, 2.0]),
            ("gelu", |p, e| gelu_f32(p, e), [-0.000_814_201_8, -0.154_268_8, 0.0, 0.345_731_2, 2.484_476]),
            (
                "gelu_tanh",
                |p, e| gelu_tanh_f32(p, e),
                [-0.000_616_197_7, -0.154_286, 0.0, 0.345_714, 2.484_916],
            ),
            ("hard_swish", |p, e| hard_swish_f32(p, e), [-0.0, -0.208_333_3, 0.0, 0.291_666_7, 2.291_667]),
            ("log", |p, e| log_f32(p, e), [f32::NAN, f32::NAN, f32::NEG_INFINITY, -LN_2, 0.916_290_7]),
            ("neg", |p, e| neg_f32(p, e), [3.5, 0.5, -0.0, -0.5, -2.5]),
            ("round", |p, e| round_f32(p, e), [-4.0, 0.0, 0.0, 0.0, 2.0]),
            ("rsqrt", |p, e| rsqrt_f32(p, e), [f32::NAN, f32::NAN, f32::INFINITY, SQRT_2, 0.632_455_5]),
            ("sin", |p, e| sin_f32(p, e), [0.350_783_2, -0.479_425_5, 0.0, 0.479_425_5, 0.598_472_1]),
            ("sqrt", |p, e| sqrt_f32(p, e), [f32::NAN, f32::NAN, 0.0, FRAC_1_SQRT_2, 1.581_139]),
            ("square", |p, e| square_f32(p, e), [12.25, 0.25, 0.0, 0.25, 6.25]),
            ("tanh", |p, e| tanh_f32(p, e), [-0.998_177_9, -0.462_117_2, 0.0, 0.462_117_2, 0.986_614_3]),
        ];
        for (name, function, expect) in cases {
            let mut y = [-3.5, -0.5, 0.0, 0.5, 2.5];
            function(&UnaryF32 { len: 5 }, InPlace(&mut y));
            for (y, expect) in y.into_iter().zip(expect) {
                let fits = (y - expect).abs() <= 1e-5 || y == expect || (y.is_nan() && expect.is_nan());
                assert!(fits, "{name} {y} {expect}");
            }
        }
    }

    #[test]
    fn results_can_lie_apart() {
        let mut y = [0.0; 2];
        neg_f32(&UnaryF32 { len: 2 }, Apart { x: &[1.0, -2.0], y: &mut y });
        assert_eq!(y, [-1.0, 2.0]);
    }
}
