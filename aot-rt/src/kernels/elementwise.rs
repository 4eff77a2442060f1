//! Kernels of one operand, element by element: copies and float activations.

use super::elements::Elements;
use super::{RangeF32, kernel_params};
use crate::Params;

kernel_params! {
    /// Parameters of [`copy_i8`].
    pub struct CopyI8 {
        /// Elements of `x` and `y`.
        pub len: usize,
    }

    /// Parameters of [`clamp_f32`].
    pub struct ClampF32 {
        /// Elements of `x` and `y`.
        pub len: usize,
        /// The range; relu is from 0 on, relu6 from 0 to 6.
        pub range: RangeF32,
    }

    /// Parameters of [`logistic_f32`].
    pub struct LogisticF32 {
        /// Elements of `x` and `y`.
        pub len: usize,
    }
}

/// Copies bytes: a tensor of any type.
///
/// `x` and `y`: `[len]`.
pub fn copy_i8(params: &impl Params<CopyI8>, x: &[i8], y: &mut [i8]) {
    map(params.get().len, x, y, |x| x);
}

/// Limits elements to a range, f32: relu, relu6 and their like. NaN stays NaN.
///
/// `x` and `y`: `[len]`.
pub fn clamp_f32(params: &impl Params<ClampF32>, elements: impl Elements<f32>) {
    let p = params.get();
    elements.map(p.len, |x| p.range.limit(x));
}

/// `1 / (1 + exp(-x))`, f32.
///
/// `x` and `y`: `[len]`.
pub fn logistic_f32(params: &impl Params<LogisticF32>, elements: impl Elements<f32>) {
    elements.map(params.get().len, logistic);
}

/// The logistic function, in the reference's three pieces.
pub(super) fn logistic(x: f32) -> f32 {
    /// From here on, the result is 1 in single precision.
    const ONE: f32 = 16.619_047;
    /// Up to here, `exp(x)` is as good.
    const EXPONENTIAL: f32 = -9.0;
    if x > ONE {
        1.0
    } else if x < EXPONENTIAL {
        libm::expf(x)
    } else {
        1.0 / (1.0 + libm::expf(-x))
    }
}

/// Sets each of `len` elements of `y` to a function of that of `x`.
#[inline(always)]
pub(super) fn map<T: Copy, U>(len: usize, x: &[T], y: &mut [U], function: impl Fn(T) -> U) {
    debug_assert_eq!((x.len(), y.len()), (len, len));
    for (&x, y) in x.iter().zip(y).take(len) {
        *y = function(x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Apart;

    #[test]
    fn copies() {
        let mut y = [0; 3];
        copy_i8(&CopyI8 { len: 3 }, &[1, -2, 3], &mut y);
        assert_eq!(y, [1, -2, 3]);
    }

    #[test]
    fn clamp_f32_cases() {
        let x = [-7.0, -0.5, 0.5, 7.0, f32::NAN];
        for (name, min, max, expect) in [
            ("relu", 0.0, f32::INFINITY, [0.0, 0.0, 0.5, 7.0]),
            ("relu6", 0.0, 6.0, [0.0, 0.0, 0.5, 6.0]),
            ("relu_n1_to_1", -1.0, 1.0, [-1.0, -0.5, 0.5, 1.0]),
        ] {
            let mut y = [0.0; 5];
            let params = ClampF32 { len: 5, range: RangeF32 { min, max } };
            clamp_f32(&params, Apart { x: &x, y: &mut y });
            assert_eq!(y[..4], expect, "{name}");
            assert!(y[4].is_nan(), "{name}");
        }
    }

    #[test]
    fn logistic_f32_cases() {
        let x = [-80.0, -20.0, -9.5, -1.0, 0.0, 1.0, 16.0, 20.0, f32::NAN];
        let mut y = [0.0; 9];
        logistic_f32(&LogisticF32 { len: 9 }, Apart { x: &x, y: &mut y });
        for (x, y) in x.into_iter().zip(y).take(8) {
            let expect = 1.0 / (1.0 + libm::exp(-f64::from(x)));
            assert!((f64::from(y) - expect).abs() <= 1e-4 * expect, "{x} {y} {expect}");
        }
        assert!(y[8].is_nan());
    }
}
