//! Tables of int8 functions, made as the reference computes them: entry `x as u8` is the
//! result for `x`.

use aot_rt::Quantization;
use aot_rt::fixed_point::{Multiplier, ROOT_FRACTION, Rounding, over_square_root, rounding_shift_right};
use aot_rt::kernels::table_i8;

use super::quantized::multiplier;
use crate::error::OpError;

/// How a function's real results become integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToInteger {
    /// To the nearest one, ties away from zero.
    Nearest,
    /// Towards the zero point, as LiteRT's SQRT does.
    Truncated,
}

/// The table of a function of real numbers. All steps are in single precision, as in the
/// reference; the function itself is exact before its result is rounded to that.
pub(super) fn of_reals(
    x: Quantization,
    y: Quantization,
    to_integer: ToInteger,
    function: impl Fn(f64) -> f64,
) -> [i8; 256] {
    let inverse = 1.0 / y.scale;
    table_i8(|q| {
        let real = function(x.dequantize(q).into()) as f32;
        let steps = match to_integer {
            ToInteger::Nearest => (real * inverse).round(),
            ToInteger::Truncated => (real / y.scale).trunc(),
        };
        (steps as i32).saturating_add(y.zero_point)
    })
}

/// The table of a function of the difference from the zero point, times the ratio of the
/// scales.
///
/// # Errors
///
/// When the scales are too far apart.
pub(super) fn of_differences(
    x: Quantization,
    y: Quantization,
    rounding: Rounding,
    function: impl Fn(i32) -> i32,
) -> Result<[i8; 256], OpError> {
    let factor = ratio(f64::from(x.scale) / f64::from(y.scale), 255)?;
    Ok(table_i8(|q| factor.apply(function(q - x.zero_point), rounding).saturating_add(y.zero_point)))
}

/// The table of `1 / sqrt(x)`: that of the difference from the zero point in fixed point,
/// times what the scales make of it. 0 gives the greatest number; less has no result, and
/// gives the zero point.
///
/// # Errors
///
/// When the scales are too far apart.
pub(super) fn reciprocal_root(
    x: Quantization,
    y: Quantization,
    rounding: Rounding,
) -> Result<[i8; 256], OpError> {
    let factor = over_root((1.0 / (x.scale.sqrt() * y.scale)).into(), x, y)?;
    Ok(table_i8(|q| match q - x.zero_point {
        difference @ 1.. => over_square_root(factor, difference, rounding).saturating_add(y.zero_point),
        0 => i32::MAX,
        _ => y.zero_point,
    }))
}

/// The factor of inverse square roots as [`over_square_root`] takes it.
///
/// # Errors
///
/// When the scales are too far apart.
pub(super) fn over_root(real: f64, x: Quantization, y: Quantization) -> Result<Multiplier, OpError> {
    let Multiplier { multiplier, shift } = multiplier(real)?;
    let shift = shift - ROOT_FRACTION;
    if shift < -31 {
        return Err(format!("scales {} and {} are too far apart", x.scale, y.scale).into());
    }
    Ok(Multiplier { multiplier, shift })
}

/// The table of `leaky_relu`.
///
/// # Errors
///
/// When the scales are too far apart.
pub(super) fn leaky_relu(
    x: Quantization,
    y: Quantization,
    alpha: f32,
    rounding: Rounding,
) -> Result<[i8; 256], OpError> {
    let [positive, negative] = leaky_relu_factors(x, y, alpha, 255)?;
    let sign = if alpha < 0.0 { -1 } else { 1 };
    Ok(table_i8(|q| {
        let difference = q - x.zero_point;
        let scaled = if difference < 0 {
            sign * negative.apply(difference, rounding)
        } else {
            positive.apply(difference, rounding)
        };
        scaled.saturating_add(y.zero_point)
    }))
}

/// The factors of positive and, without its sign, of negative differences up to `largest`.
///
/// # Errors
///
/// When the scales are too far apart.
pub(super) fn leaky_relu_factors(
    x: Quantization,
    y: Quantization,
    alpha: f32,
    largest: u64,
) -> Result<[Multiplier; 2], OpError> {
    let positive = ratio(f64::from(x.scale) / f64::from(y.scale), largest)?;
    let negative = f64::from(x.scale) * f64::from(alpha.abs()) / f64::from(y.scale);
    Ok([positive, ratio(negative, largest)?])
}

/// The table of `hard_swish`, in 16 bits throughout (tflite numerics, section 5).
///
/// # Errors
///
/// When the scales are too far apart.
pub(super) fn hard_swish(x: Quantization, y: Quantization) -> Result<[i8; 256], OpError> {
    /// Bits that are added to a difference from the zero point.
    const MORE_BITS: i32 = 7;
    /// 3 in steps of the sum that is limited to 0 and 1.
    const REACH: f32 = 3.0 / 32_768.0;
    let fine = x.scale / 128.0;
    let output = multiplier(f64::from(fine) / f64::from(y.scale))?;
    let reach = multiplier((fine / REACH).into())?;
    if output.shift > 0 || reach.shift > 15 {
        return Err(format!("scales {} and {} are too far apart", x.scale, y.scale).into());
    }
    let (output_short, reach_short) = (short(output), short(reach));
    Ok(table_i8(|q| {
        let difference = (q - x.zero_point) << MORE_BITS;
        // `x` on the result's scale.
        let scaled = high_mul(difference, output_short);
        // `(x + 3) / 6`, limited to 0 and 1.
        let mut part = difference;
        if reach.shift > 0 {
            part = saturated(part << (reach.shift - 1));
        }
        part = high_mul(part, reach_short);
        if reach.shift > 0 {
            part = saturated(part << 1);
        } else if reach.shift < 0 {
            part = rounding_shift_right(part, reach.shift.unsigned_abs());
        }
        part = (part + 32_768) >> 1;
        let product = part * scaled / (1 << 15);
        rounding_shift_right(product, output.shift.unsigned_abs()) + y.zero_point
    }))
}

/// The multiplier of a ratio of scales, for numbers up to `largest`.
fn ratio(real: f64, largest: u64) -> Result<Multiplier, OpError> {
    let factor = multiplier(real)?;
    super::quantized::check_sum(1, largest, factor.shift)?;
    Ok(factor)
}

/// A multiplier's upper 16 bits, rounded.
fn short(factor: Multiplier) -> i32 {
    (factor.multiplier.saturating_add(1 << 15) >> 16).min(32_767)
}

/// `round(a * b / 2^15)`, ties away from zero, of 16-bit numbers.
fn high_mul(a: i32, b: i32) -> i32 {
    let product = a * b;
    saturated((product + if product >= 0 { 1 << 14 } else { 1 - (1 << 14) }) / (1 << 15))
}

/// The nearest 16-bit number.
fn saturated(x: i32) -> i32 {
    x.clamp(-32_768, 32_767)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nearest(y: Quantization, real: f64) -> f64 {
        ((real / f64::from(y.scale)).round() + f64::from(y.zero_point)).clamp(-128.0, 127.0)
    }

    /// Bit-exactness is for the conformance tests; this is that no entry is far off.
    #[test]
    fn entries_are_near_the_real_results() {
        for (x_scale, x_zero, y_scale, y_zero) in
            [(0.02, 3, 0.03, -20), (0.1, -128, 0.05, 0), (0.005, 100, 0.004, -5)]
        {
            let x = Quantization { scale: x_scale, zero_point: x_zero };
            let y = Quantization { scale: y_scale, zero_point: y_zero };
            type Case = ([i8; 256], fn(f64) -> f64);
            let cases: [Case; 5] = [
                (of_reals(x, y, ToInteger::Nearest, f64::exp_m1), f64::exp_m1),
                (of_differences(x, y, Rounding::Double, i32::abs).unwrap(), f64::abs),
                (leaky_relu(x, y, 0.25, Rounding::Double).unwrap(), |x| if x < 0.0 { 0.25 * x } else { x }),
                (leaky_relu(x, y, -0.5, Rounding::Double).unwrap(), |x| if x < 0.0 { -0.5 * x } else { x }),
                (hard_swish(x, y).unwrap(), |x| x * ((x + 3.0) / 6.0).clamp(0.0, 1.0)),
            ];
            for (i, (table, function)) in cases.into_iter().enumerate() {
                for q in -128..=127_i8 {
                    let real = function(f64::from(x_scale) * f64::from(i32::from(q) - x_zero));
                    let found = f64::from(table[usize::from(q as u8)]);
                    assert!((found - nearest(y, real)).abs() <= 1.0, "function {i} of {q}: {found}, {real}");
                }
            }
        }
    }

    #[test]
    fn what_is_not_a_number_is_the_zero_point() {
        let (x, y) =
            (Quantization { scale: 0.1, zero_point: 0 }, Quantization { scale: 0.1, zero_point: -7 });
        let table = of_reals(x, y, ToInteger::Nearest, |x| if x == 0.0 { f64::NEG_INFINITY } else { x.ln() });
        assert_eq!((table[0], table[128], table[255]), (-128, -7, -7));
    }
}
