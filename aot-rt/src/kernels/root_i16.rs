//! `sqrt` and `rsqrt` of int16 elements; zero points are 0.

use super::elements::Elements;
use super::kernel_params;
use super::output::Quantized;
use crate::Params;
use crate::fixed_point::{Multiplier, Rounding, over_square_root};

kernel_params! {
    /// Parameters of [`sqrt_i16`].
    pub struct SqrtI16 {
        /// Elements of `x` and `y`.
        pub len: usize,
        /// Scale of `x`.
        pub scale: f32,
        /// Scale of `y`.
        pub output_scale: f32,
    }

    /// Parameters of [`rsqrt_i16`].
    pub struct RsqrtI16 {
        /// Elements of `x` and `y`.
        pub len: usize,
        /// Factor of the reciprocal square root of an integer, which has
        /// [`ROOT_FRACTION`](crate::fixed_point::ROOT_FRACTION) more bits.
        pub multiplier: i32,
        /// Power of two that belongs to the factor.
        pub shift: i32,
        /// Round once instead of twice, see [`Rounding`].
        pub single_rounding: bool,
    }
}

/// Square root, int16, cut off at the point; 0 of negative numbers.
///
/// `x` and `y`: `[len]`.
pub fn sqrt_i16(params: &impl Params<SqrtI16>, elements: impl Elements<i16>) {
    let p = params.get();
    elements.map(p.len, |x| (libm::sqrtf(p.scale * f32::from(x)) / p.output_scale) as i16);
}

/// Reciprocal of the square root, int16; the greatest number of 0, and 0 of negative numbers.
///
/// `x` and `y`: `[len]`.
pub fn rsqrt_i16(params: &impl Params<RsqrtI16>, elements: impl Elements<i16>) {
    let p = params.get();
    let rounding = Rounding::of(p.single_rounding);
    let factor = Multiplier { multiplier: p.multiplier, shift: p.shift };
    elements.map(p.len, |x| match x {
        ..0 => 0,
        0 => i16::MAX,
        1.. => i16::saturate(over_square_root(factor, x.into(), rounding)),
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::InPlace;

    #[test]
    fn results_are_near_the_real_ones() {
        const X: [i16; 8] = [-5, 0, 1, 2, 3, 900, 12_345, 32_767];
        let (scale, output_scale) = (0.01_f32, 0.0005_f32);
        let factor = 1.0 / (libm::sqrt(scale.into()) * f64::from(output_scale) * 1_048_576.0);
        let Multiplier { multiplier, shift } = Multiplier::from_real(factor).unwrap();
        let (mut root, mut reciprocal) = (X, X);
        sqrt_i16(&SqrtI16 { len: 8, scale, output_scale }, InPlace(&mut root));
        let params = RsqrtI16 { len: 8, multiplier, shift, single_rounding: false };
        rsqrt_i16(&params, InPlace(&mut reciprocal));
        assert_eq!((root[0], root[1], reciprocal[0], reciprocal[1]), (0, 0, 0, 32_767));
        for i in 2..8 {
            let real = libm::sqrt(f64::from(X[i]) * f64::from(scale));
            for (y, real) in [(root[i], real), (reciprocal[i], 1.0 / real)] {
                let expect = (real / f64::from(output_scale)).min(32_767.0);
                assert!((f64::from(y) - expect).abs() <= 1.0, "{y} {expect}");
            }
        }
    }
}
