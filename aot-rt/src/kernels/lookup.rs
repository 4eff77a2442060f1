//! `lookup`: every int8 operator of one operand, as a table of 256 results; and the
//! functions that build the tables.
//!
//! A table's entry for `x` stands at the index `x as u8`: the results for 0 to 127
//! come first, those for -128 to -1 follow.

use super::elements::Elements;
use super::output::Quantized;
use super::{RangeF32, kernel_params};
use crate::fixed_point::{self, Multiplier, Rounding, rounding_shift_right};
use crate::{Params, Quantization};

kernel_params! {
    /// Parameters of [`lookup_i8`].
    pub struct LookupI8 {
        /// Elements of `x` and `y`.
        pub len: usize,
    }
}

/// Looks elements up in a table.
///
/// `x` and `y`: `[len]`, `table`: `[256]`, the result for `x` at the index `x as u8`.
pub fn lookup_i8(params: &impl Params<LookupI8>, elements: impl Elements<i8>, table: &[i8]) {
    debug_assert_eq!(table.len(), 256);
    if let Some(table) = table.first_chunk::<256>() {
        elements.map(params.get().len, |x| table[usize::from(x as u8)]);
    }
}

/// The table of a function, whose results are limited to int8.
#[must_use]
pub fn table_i8(function: impl Fn(i32) -> i32) -> [i8; 256] {
    core::array::from_fn(|index| i8::saturate(function(i32::from(index as u8 as i8))))
}

/// Table of the change from one quantization to another, limited to `range`.
///
/// With an infinite range this is int8 QUANTIZE, otherwise relu and its like:
///
/// ```
/// # use aot_rt::{Quantization, fixed_point::Rounding, kernels::{RangeF32, rescale_table}};
/// let x = Quantization { scale: 0.05, zero_point: -3 };
/// let y = Quantization { scale: 0.04, zero_point: -20 };
/// let relu6 = rescale_table(x, y, RangeF32 { min: 0.0, max: 6.0 }, Rounding::Double).unwrap();
/// assert_eq!(relu6[-4_i8 as u8 as usize], -20);
/// assert_eq!(relu6[37], 30);
/// ```
///
/// `None` when the quotient of the scales is not a [`Multiplier`].
#[must_use]
pub fn rescale_table(
    x: Quantization,
    y: Quantization,
    range: RangeF32,
    rounding: Rounding,
) -> Option<[i8; 256]> {
    let factor = Multiplier::from_real(f64::from(x.scale) / f64::from(y.scale))?;
    let (min, max) = (y.quantize(range.min, -128, 127), y.quantize(range.max, -128, 127));
    Some(table_i8(|q| {
        let q = factor.apply(q - x.zero_point, rounding).saturating_add(y.zero_point);
        if q < min {
            min
        } else if q > max {
            max
        } else {
            q
        }
    }))
}

/// Table of the logistic function; the scale of the result is 1/256, its zero point
/// -128.
///
/// `None` when the scale of `x` is not in `2^-27 .. 8`.
#[must_use]
pub fn logistic_table(x: Quantization, rounding: Rounding) -> Option<[i8; 256]> {
    saturating_table(x, rounding, |scaled| {
        rounding_shift_right(fixed_point::logistic::<4>(scaled), 23).saturating_sub(128)
    })
}

/// Table of the hyperbolic tangent; the scale of the result is 1/128, its zero point
/// 0.
///
/// `None` when the scale of `x` is not in `2^-27 .. 8`.
#[must_use]
pub fn tanh_table(x: Quantization, rounding: Rounding) -> Option<[i8; 256]> {
    saturating_table(x, rounding, |scaled| rounding_shift_right(fixed_point::tanh_of_double::<5>(scaled), 24))
}

/// Table of a `function` of a number with four integer bits; beyond these, results
/// are the least and the greatest.
fn saturating_table(x: Quantization, rounding: Rounding, function: impl Fn(i32) -> i32) -> Option<[i8; 256]> {
    let factor = Multiplier::from_real(f64::from(x.scale) * 134_217_728.0)?;
    if factor.shift < 0 || factor.multiplier == 0 {
        return None;
    }
    let radius = libm::floor(libm::ldexp(15.0 * 134_217_728.0, -factor.shift)) as i32;
    Some(table_i8(|q| {
        let difference = q - x.zero_point;
        if difference <= -radius {
            -128
        } else if difference >= radius {
            127
        } else {
            function(factor.apply(difference, rounding))
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Apart;

    const ALL: RangeF32 = RangeF32 { min: f32::NEG_INFINITY, max: f32::INFINITY };

    fn at(table: &[i8; 256], x: i8) -> i8 {
        let mut y = [0];
        lookup_i8(&LookupI8 { len: 1 }, Apart { x: &[x], y: &mut y }, table);
        y[0]
    }

    #[test]
    fn relu6_rescales() {
        // known-faults.md L1: y = clamp(1.25 (x + 3) - 20, -20, 127).
        let x = Quantization { scale: 0.05, zero_point: -3 };
        let y = Quantization { scale: 0.04, zero_point: -20 };
        let table = rescale_table(x, y, RangeF32 { min: 0.0, max: 6.0 }, Rounding::Double).unwrap();
        for q in -128..=127_i8 {
            let expect = libm::round(1.25 * (f64::from(q) + 3.0)) - 20.0;
            assert_eq!(f64::from(at(&table, q)), expect.clamp(-20.0, 127.0), "{q}");
        }
    }

    #[test]
    fn rescale_table_limits() {
        let x = Quantization { scale: 0.1, zero_point: 0 };
        for (name, range, y, expect) in [
            ("requantize to half the scale", ALL, (0.05, 10), [-128, -10, 10, 30, 127]),
            ("relu", RangeF32 { min: 0.0, max: f32::INFINITY }, (0.1, 10), [10, 10, 10, 20, 110]),
            ("relu_n1_to_1", RangeF32 { min: -1.0, max: 1.0 }, (0.1, 10), [0, 0, 10, 20, 20]),
        ] {
            let y = Quantization { scale: y.0, zero_point: y.1 };
            let table = rescale_table(x, y, range, Rounding::Double).unwrap();
            assert_eq!([-100, -10, 0, 10, 100].map(|q| at(&table, q)), expect, "{name}");
        }
        assert_eq!(rescale_table(x, Quantization { scale: 0.0, zero_point: 0 }, ALL, Rounding::Double), None);
    }

    #[test]
    fn tables_are_rounded_functions() {
        // The fixed-point result is the rounded real one, says tflite-numerics.md.
        for scale in [0.001_f32, 0.01, 0.043, 0.1, 0.5, 3.0] {
            for zero_point in [-128, -3, 0, 100] {
                let x = Quantization { scale, zero_point };
                let (logistic, tanh) =
                    (logistic_table(x, Rounding::Double).unwrap(), tanh_table(x, Rounding::Double).unwrap());
                for q in -128..=127_i8 {
                    let real = f64::from(scale) * f64::from(i32::from(q) - zero_point);
                    let expect = libm::round(256.0 / (1.0 + libm::exp(-real))) - 128.0;
                    assert_eq!(f64::from(at(&logistic, q)), expect.min(127.0), "logistic {real}");
                    let expect = libm::round(128.0 * libm::tanh(real));
                    assert_eq!(f64::from(at(&tanh, q)), expect.min(127.0), "tanh {real}");
                }
            }
        }
        for scale in [0.0, 8.0, f32::NAN] {
            assert_eq!(logistic_table(Quantization { scale, zero_point: 0 }, Rounding::Double), None);
        }
    }
}
