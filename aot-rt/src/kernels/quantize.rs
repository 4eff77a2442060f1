//! `quantize` and `dequantize`: from real numbers to int8, and back.

use half::f16;

use super::elements::Elements;
use super::elementwise::map;
use super::output::Quantized;
use super::real::Real;
use super::{OutputI8, kernel_params};
use crate::Params;
use crate::fixed_point::{Multiplier, Scaler};

kernel_params! {
    /// Parameters of [`quantize_f32_i8`].
    pub struct QuantizeF32I8 {
        /// Elements of `x` and `y`.
        pub len: usize,
        /// Scale of `y`.
        pub scale: f32,
        /// Zero point of `y`.
        pub zero_point: i32,
    }

    /// Parameters of [`dequantize_i8_f32`].
    pub struct DequantizeI8F32 {
        /// Elements of `x` and `y`.
        pub len: usize,
        /// Scale of `x`.
        pub scale: f32,
        /// Zero point of `x`.
        pub zero_point: i32,
    }

    /// Parameters of [`quantize_f32_i16`].
    pub struct QuantizeF32I16 {
        /// Elements of `x` and `y`.
        pub len: usize,
        /// Scale of `y`.
        pub scale: f32,
        /// Zero point of `y`.
        pub zero_point: i32,
    }

    /// Parameters of [`dequantize_i16_f32`].
    pub struct DequantizeI16F32 {
        /// Elements of `x` and `y`.
        pub len: usize,
        /// Scale of `x`.
        pub scale: f32,
        /// Zero point of `x`.
        pub zero_point: i32,
    }

    /// Parameters of kernels that change the scale of integers, such as
    /// [`rescale_i32_i16`] and [`abs_i16`].
    pub struct Rescale {
        /// Elements of `x` and `y`.
        pub len: usize,
        /// Zero point of `x`.
        pub input_zero_point: i32,
        /// Factor of the difference from it.
        pub multiplier: i32,
        /// Power of two that belongs to the factor.
        pub shift: i32,
        /// Zero point and limits of `y`.
        pub output: OutputI8,
    }

    /// Parameters of [`dequantize_f16_f32`].
    pub struct DequantizeF16F32 {
        /// Elements of `x` and `y`.
        pub len: usize,
    }

    /// Parameters of [`flip_sign_bit_i8`].
    pub struct FlipSignBitI8 {
        /// Elements of `x` and `y`.
        pub len: usize,
    }
}

/// Nearest int8 to real numbers, ties away from zero.
///
/// `x` and `y`: `[len]`. NaN becomes the zero point. Writes each element after reading
/// it.
pub fn quantize_f32_i8(params: &impl Params<QuantizeF32I8>, x: &[f32], y: &mut [i8]) {
    let p = params.get();
    map(p.len, x, y, |x| {
        // Beyond 512 steps, every zero point leads out of range.
        let steps = (x / p.scale).clamp(-512.0, 512.0);
        let whole = steps as i32;
        let fraction = steps - whole as f32;
        let away = i32::from(fraction >= 0.5) - i32::from(fraction <= -0.5);
        i8::saturate((whole + away).wrapping_add(p.zero_point))
    });
}

/// Real numbers that int8 stand for.
///
/// `x` and `y`: `[len]`.
pub fn dequantize_i8_f32(params: &impl Params<DequantizeI8F32>, x: &[i8], y: &mut [f32]) {
    let p = params.get();
    map(p.len, x, y, |x| p.scale * i32::from(x).wrapping_sub(p.zero_point) as f32);
}

/// From uint8 to the int8 that stands for the same real number, or back: with zero points
/// that differ by 128, the two differ in their highest bit.
///
/// `x` and `y`: `[len]`; one of the two is uint8.
pub fn flip_sign_bit_i8(params: &impl Params<FlipSignBitI8>, elements: impl Elements<i8>) {
    elements.map(params.get().len, |q| q ^ i8::MIN);
}

/// Nearest int16 to real numbers, ties away from zero.
///
/// `x` and `y`: `[len]`. NaN becomes the zero point.
pub fn quantize_f32_i16(params: &impl Params<QuantizeF32I16>, x: &[f32], y: &mut [i16]) {
    let QuantizeF32I16 { len, scale, zero_point } = params.get();
    let quantization = crate::Quantization { scale, zero_point };
    map(len, x, y, |x| quantization.quantize_i16(x));
}

/// Real numbers that int16 stand for.
///
/// `x` and `y`: `[len]`.
pub fn dequantize_i16_f32(params: &impl Params<DequantizeI16F32>, x: &[i16], y: &mut [f32]) {
    let p = params.get();
    map(p.len, x, y, |x| p.scale * i32::from(x).wrapping_sub(p.zero_point) as f32);
}

/// Integers of another scale, rounded: from int32 to int16.
///
/// `x` and `y`: `[len]`.
pub fn rescale_i32_i16(params: &impl Params<Rescale>, x: &[i32], y: &mut [i16]) {
    let p = params.get();
    let rescale = p.function();
    map(p.len, x, y, |x| rescale(x) as i16);
}

/// [`rescale_i32_i16`] from int16 to int16.
pub fn rescale_i16_i16(params: &impl Params<Rescale>, x: &[i16], y: &mut [i16]) {
    let p = params.get();
    let rescale = p.function();
    map(p.len, x, y, |x| rescale(x.into()) as i16);
}

/// [`rescale_i32_i16`] from int32 to int8.
pub fn rescale_i32_i8(params: &impl Params<Rescale>, x: &[i32], y: &mut [i8]) {
    let p = params.get();
    let rescale = p.function();
    map(p.len, x, y, |x| rescale(x) as i8);
}

/// Magnitudes, int16 of another scale.
///
/// `x` and `y`: `[len]`.
pub fn abs_i16(params: &impl Params<Rescale>, elements: impl Elements<i16>) {
    let p = params.get();
    let rescale = p.function_of(i32::wrapping_abs);
    elements.map(p.len, |x| rescale(x.into()) as i16);
}

/// Numbers of the other sign, int16 of another scale.
///
/// `x` and `y`: `[len]`.
pub fn neg_i16(params: &impl Params<Rescale>, elements: impl Elements<i16>) {
    let p = params.get();
    let rescale = p.function_of(i32::wrapping_neg);
    elements.map(p.len, |x| rescale(x.into()) as i16);
}

/// [`rescale_i32_i16`] from int8 to int16.
pub fn rescale_i8_i16(params: &impl Params<Rescale>, x: &[i8], y: &mut [i16]) {
    let p = params.get();
    let rescale = p.function();
    map(p.len, x, y, |x| rescale(x.into()) as i16);
}

/// [`rescale_i32_i16`] from int8 to int32.
///
/// `x` and `y`: `[len]`.
pub fn rescale_i8_i32(params: &impl Params<Rescale>, x: &[i8], y: &mut [i32]) {
    let p = params.get();
    let rescale = p.function();
    map(p.len, x, y, |x| rescale(x.into()));
}

/// [`rescale_i32_i16`] from int16 to int32.
///
/// `x` and `y`: `[len]`.
pub fn rescale_i16_i32(params: &impl Params<Rescale>, x: &[i16], y: &mut [i32]) {
    let p = params.get();
    let rescale = p.function();
    map(p.len, x, y, |x| rescale(x.into()));
}

/// [`rescale_i32_i16`] from int16 to int8.
pub fn rescale_i16_i8(params: &impl Params<Rescale>, x: &[i16], y: &mut [i8]) {
    let p = params.get();
    let rescale = p.function();
    map(p.len, x, y, |x| rescale(x.into()) as i8);
}

impl Rescale {
    /// The function that changes the scale, with results within the limits.
    #[inline(always)]
    fn function(self) -> impl Fn(i32) -> i32 {
        self.function_of(|difference| difference)
    }

    /// The function that changes the scale of a `function` of differences from the zero
    /// point, with results within the limits.
    #[inline(always)]
    fn function_of(self, function: impl Fn(i32) -> i32) -> impl Fn(i32) -> i32 {
        let factor = Multiplier { multiplier: self.multiplier, shift: self.shift };
        let scaler = Scaler::new(factor, self.output.rounding());
        let OutputI8 { zero_point, min, max, .. } = self.output;
        move |x| {
            let steps = scaler.apply(function(x.wrapping_sub(self.input_zero_point)));
            steps.saturating_add(zero_point).max(min).min(max)
        }
    }
}

/// Single precision from half precision.
///
/// `x` and `y`: `[len]`.
pub fn dequantize_f16_f32(params: &impl Params<DequantizeF16F32>, x: &[f16], y: &mut [f32]) {
    map(params.get().len, x, y, Real::widen);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Quantization;
    use crate::kernels::Apart;

    #[test]
    fn quantize_rounds_half_away_from_zero() {
        let params = QuantizeF32I8 { len: 9, scale: 0.5, zero_point: 3 };
        let x = [0.25, 0.75, 1.25, -0.25, -0.75, 100.0, -1e30, f32::NAN, 0.249_999_99];
        let mut y = [0; 9];
        quantize_f32_i8(&params, &x, &mut y);
        assert_eq!(y, [4, 5, 6, 2, 1, 127, -128, 3, 3]);
    }

    #[test]
    fn quantize_equals_the_scalar_function() {
        for step in -3000..3000_i32 {
            let (x, scale, zero_point) = (step as f32 * 0.011, 0.1, -3);
            let mut y = [0];
            quantize_f32_i8(&QuantizeF32I8 { len: 1, scale, zero_point }, &[x], &mut y);
            let expect = Quantization { scale, zero_point }.quantize(x, -128, 127);
            assert_eq!(i32::from(y[0]), expect, "{x}");
        }
    }

    #[test]
    fn flip_sign_bit_keeps_the_distance_from_the_zero_point() {
        let x = [0_u8, 1, 127, 128, 255].map(u8::cast_signed);
        let mut y = [0; 5];
        flip_sign_bit_i8(&FlipSignBitI8 { len: 5 }, Apart { x: &x, y: &mut y });
        assert_eq!(y, [-128, -127, -1, 0, 127]);
    }

    #[test]
    fn dequantize_cases() {
        let mut y = [0.0; 3];
        dequantize_i8_f32(&DequantizeI8F32 { len: 3, scale: 0.5, zero_point: -128 }, &[-128, 0, 127], &mut y);
        assert_eq!(y, [0.0, 64.0, 127.5]);
    }
}
