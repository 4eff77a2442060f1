//! Functions of two elements, with broadcasting, where the elements stand for themselves:
//! floats, integers that count, and int8 elements of one scale that are compared.
//!
//! `x` is called `a` in parameters and formulas. `a` and `b` have their own shapes, `y` the
//! one that both are broadcast to.
//!
//! A function each, so that a program holds only those that its model uses.

use super::elements::{Broadcast, Elements};
use super::{RangeF32, kernel_params};
use crate::Params;

kernel_params! {
    /// Parameters of functions of two floats.
    pub struct BinaryF32 {
        /// How the operands meet.
        pub broadcast: Broadcast,
        /// Fused activation.
        pub range: RangeF32,
    }

    /// Parameters of functions of two integers that stand for themselves.
    pub struct BinaryExact {
        /// How the operands meet.
        pub broadcast: Broadcast,
    }
}

/// A function of two floats, and the activation.
#[inline(always)]
fn float(
    params: &impl Params<BinaryF32>,
    elements: impl Elements<f32>,
    b: &[f32],
    pair: impl Fn(f32, f32) -> f32,
) {
    let p = params.get();
    elements.zip(&p.broadcast, b, |a, b| p.range.limit(pair(a, b)));
}

/// A function of two integers.
#[inline(always)]
fn exact<T>(
    params: &impl Params<BinaryExact>,
    elements: impl Elements<T>,
    b: &[T],
    pair: impl Fn(T, T) -> T,
) {
    elements.zip(&params.get().broadcast, b, pair);
}

/// Sum, f32.
pub fn add_f32(params: &impl Params<BinaryF32>, elements: impl Elements<f32>, b: &[f32]) {
    float(params, elements, b, |a, b| a + b);
}

/// Difference, f32.
pub fn sub_f32(params: &impl Params<BinaryF32>, elements: impl Elements<f32>, b: &[f32]) {
    float(params, elements, b, |a, b| a - b);
}

/// Product, f32.
pub fn mul_f32(params: &impl Params<BinaryF32>, elements: impl Elements<f32>, b: &[f32]) {
    float(params, elements, b, |a, b| a * b);
}

/// Quotient, f32.
pub fn div_f32(params: &impl Params<BinaryF32>, elements: impl Elements<f32>, b: &[f32]) {
    float(params, elements, b, |a, b| a / b);
}

/// The lesser of two elements, f32; `b` where one is NaN.
pub fn minimum_f32(params: &impl Params<BinaryF32>, elements: impl Elements<f32>, b: &[f32]) {
    float(params, elements, b, |a, b| if a < b { a } else { b });
}

/// The greater of two elements, f32; `b` where one is NaN.
pub fn maximum_f32(params: &impl Params<BinaryF32>, elements: impl Elements<f32>, b: &[f32]) {
    float(params, elements, b, |a, b| if a > b { a } else { b });
}

/// Square of the difference, f32.
pub fn squared_difference_f32(params: &impl Params<BinaryF32>, elements: impl Elements<f32>, b: &[f32]) {
    float(params, elements, b, |a, b| (a - b) * (a - b));
}

/// `a` to the power of `b`, f32.
pub fn pow_f32(params: &impl Params<BinaryF32>, elements: impl Elements<f32>, b: &[f32]) {
    float(params, elements, b, libm::powf);
}

/// Quotient, rounded down, f32.
pub fn floor_div_f32(params: &impl Params<BinaryF32>, elements: impl Elements<f32>, b: &[f32]) {
    float(params, elements, b, |a, b| libm::floorf(a / b));
}

/// Remainder with the sign of `b`, f32.
pub fn floor_mod_f32(params: &impl Params<BinaryF32>, elements: impl Elements<f32>, b: &[f32]) {
    float(params, elements, b, |a, b| {
        let remainder = libm::fmodf(a, b);
        if remainder != 0.0 && (remainder < 0.0) != (b < 0.0) { remainder + b } else { remainder }
    });
}

/// Sum, int32; it wraps.
pub fn add_i32(params: &impl Params<BinaryExact>, elements: impl Elements<i32>, b: &[i32]) {
    exact(params, elements, b, |a, b| a.wrapping_add(b));
}

/// Difference, int32; it wraps.
pub fn sub_i32(params: &impl Params<BinaryExact>, elements: impl Elements<i32>, b: &[i32]) {
    exact(params, elements, b, |a, b| a.wrapping_sub(b));
}

/// Product, int32; it wraps.
pub fn mul_i32(params: &impl Params<BinaryExact>, elements: impl Elements<i32>, b: &[i32]) {
    exact(params, elements, b, |a, b| a.wrapping_mul(b));
}

/// Quotient, rounded towards 0, int32; 0 where there is none.
pub fn div_i32(params: &impl Params<BinaryExact>, elements: impl Elements<i32>, b: &[i32]) {
    exact(params, elements, b, |a, b| a.checked_div(b).unwrap_or(0));
}

/// The lesser of two elements, int32.
pub fn minimum_i32(params: &impl Params<BinaryExact>, elements: impl Elements<i32>, b: &[i32]) {
    exact(params, elements, b, |a, b| a.min(b));
}

/// The greater of two elements, int32.
pub fn maximum_i32(params: &impl Params<BinaryExact>, elements: impl Elements<i32>, b: &[i32]) {
    exact(params, elements, b, |a, b| a.max(b));
}

/// Square of the difference, int32; it wraps.
pub fn squared_difference_i32(params: &impl Params<BinaryExact>, elements: impl Elements<i32>, b: &[i32]) {
    exact(params, elements, b, |a, b| {
        let difference = a.wrapping_sub(b);
        difference.wrapping_mul(difference)
    });
}

/// Quotient, rounded down, int32; 0 where there is none.
pub fn floor_div_i32(params: &impl Params<BinaryExact>, elements: impl Elements<i32>, b: &[i32]) {
    exact(params, elements, b, |a, b| {
        let (quotient, remainder) = (a.checked_div(b).unwrap_or(0), a.checked_rem(b).unwrap_or(0));
        quotient - i32::from(remainder != 0 && (remainder < 0) != (b < 0))
    });
}

/// Remainder with the sign of `b`, int32; 0 where there is none.
pub fn floor_mod_i32(params: &impl Params<BinaryExact>, elements: impl Elements<i32>, b: &[i32]) {
    exact(params, elements, b, |a, b| {
        let remainder = a.checked_rem(b).unwrap_or(0);
        if remainder != 0 && (remainder < 0) != (b < 0) { remainder + b } else { remainder }
    });
}

/// Sum, int64; it wraps.
pub fn add_i64(params: &impl Params<BinaryExact>, elements: impl Elements<i64>, b: &[i64]) {
    exact(params, elements, b, |a, b| a.wrapping_add(b));
}

/// Difference, int64; it wraps.
pub fn sub_i64(params: &impl Params<BinaryExact>, elements: impl Elements<i64>, b: &[i64]) {
    exact(params, elements, b, |a, b| a.wrapping_sub(b));
}

/// Product, int64; it wraps.
pub fn mul_i64(params: &impl Params<BinaryExact>, elements: impl Elements<i64>, b: &[i64]) {
    exact(params, elements, b, |a, b| a.wrapping_mul(b));
}

/// The lesser of two elements, int64.
pub fn minimum_i64(params: &impl Params<BinaryExact>, elements: impl Elements<i64>, b: &[i64]) {
    exact(params, elements, b, i64::min);
}

/// The greater of two elements, int64.
pub fn maximum_i64(params: &impl Params<BinaryExact>, elements: impl Elements<i64>, b: &[i64]) {
    exact(params, elements, b, i64::max);
}

/// Remainder with the sign of `b`, int64; 0 where there is none.
pub fn floor_mod_i64(params: &impl Params<BinaryExact>, elements: impl Elements<i64>, b: &[i64]) {
    exact(params, elements, b, |a, b| {
        let remainder = a.checked_rem(b).unwrap_or(0);
        if remainder != 0 && (remainder < 0) != (b < 0) { remainder + b } else { remainder }
    });
}

/// The lesser of two elements, int16 of one scale.
pub fn minimum_i16(params: &impl Params<BinaryExact>, elements: impl Elements<i16>, b: &[i16]) {
    exact(params, elements, b, i16::min);
}

/// The greater of two elements, int16 of one scale.
pub fn maximum_i16(params: &impl Params<BinaryExact>, elements: impl Elements<i16>, b: &[i16]) {
    exact(params, elements, b, i16::max);
}

/// The lesser of two elements, int8 of one scale.
pub fn minimum_i8(params: &impl Params<BinaryExact>, elements: impl Elements<i8>, b: &[i8]) {
    exact(params, elements, b, i8::min);
}

/// The greater of two elements, int8 of one scale.
pub fn maximum_i8(params: &impl Params<BinaryExact>, elements: impl Elements<i8>, b: &[i8]) {
    exact(params, elements, b, i8::max);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{Apart, InPlace};

    const VECTOR: Broadcast = Broadcast {
        extents: [1, 1, 1, 1, 1, 4],
        a_strides: [0, 0, 0, 0, 0, 1],
        b_strides: [0, 0, 0, 0, 0, 1],
    };

    #[test]
    fn add_f32_broadcasts() {
        for (name, broadcast, b, expect) in [
            ("equal shapes", VECTOR, &[10.0, 20.0, 30.0, 40.0][..], [11.0, 22.0, 33.0, 40.5]),
            ("scalar", Broadcast { b_strides: [0; 6], ..VECTOR }, &[1.0], [2.0, 3.0, 4.0, 5.0]),
            (
                "row to (2, 2)",
                Broadcast {
                    extents: [1, 1, 1, 1, 2, 2],
                    a_strides: [0, 0, 0, 0, 2, 1],
                    b_strides: [0, 0, 0, 0, 0, 1],
                },
                &[10.0, 20.0],
                [11.0, 22.0, 13.0, 24.0],
            ),
            (
                "column to (2, 2)",
                Broadcast {
                    extents: [1, 1, 1, 1, 2, 2],
                    a_strides: [0, 0, 0, 0, 2, 1],
                    b_strides: [0, 0, 0, 0, 1, 0],
                },
                &[10.0, 20.0],
                [11.0, 12.0, 23.0, 24.0],
            ),
        ] {
            let params = BinaryF32 { broadcast, range: RangeF32 { min: f32::NEG_INFINITY, max: 40.5 } };
            let mut y = [0.0; 4];
            add_f32(&params, Apart { x: &[1.0, 2.0, 3.0, 4.0], y: &mut y }, b);
            assert_eq!(y, expect, "{name}");
            let mut in_place = [1.0, 2.0, 3.0, 4.0];
            add_f32(&params, InPlace(&mut in_place), b);
            assert_eq!(in_place, expect, "{name}, in place");
            let swapped =
                Broadcast { a_strides: broadcast.b_strides, b_strides: broadcast.a_strides, ..broadcast };
            add_f32(
                &BinaryF32 { broadcast: swapped, ..params },
                Apart { x: b, y: &mut y },
                &[1.0, 2.0, 3.0, 4.0],
            );
            assert_eq!(y, expect, "{name}, swapped");
        }
    }

    #[test]
    fn add_f32_repeats_both_operands() {
        // (3, 1) + (1, 2)
        let broadcast = Broadcast {
            extents: [1, 1, 1, 1, 3, 2],
            a_strides: [0, 0, 0, 0, 1, 0],
            b_strides: [0, 0, 0, 0, 0, 1],
        };
        let params = BinaryF32 { broadcast, range: RangeF32 { min: 0.0, max: f32::INFINITY } };
        let mut y = [0.0; 6];
        add_f32(&params, Apart { x: &[1.0, 2.0, f32::NAN], y: &mut y }, &[10.0, -20.0]);
        assert_eq!(y[..4], [11.0, 0.0, 12.0, 0.0]);
        assert!(y[4].is_nan() && y[5].is_nan());
    }

    #[test]
    fn floats_of_either_sign() {
        type F = fn(&BinaryF32, Apart<'_, f32>, &[f32]);
        let cases: [(&str, F, [f32; 4]); 9] = [
            ("sub", |p, e, b| sub_f32(p, e, b), [4.5, -9.5, 9.5, -4.5]),
            ("mul", |p, e, b| mul_f32(p, e, b), [17.5, -17.5, -17.5, 17.5]),
            ("div", |p, e, b| div_f32(p, e, b), [2.8, -2.8, -2.8, 2.8]),
            ("minimum", |p, e, b| minimum_f32(p, e, b), [2.5, -7.0, -2.5, -7.0]),
            ("maximum", |p, e, b| maximum_f32(p, e, b), [7.0, 2.5, 7.0, -2.5]),
            ("squared_difference", |p, e, b| squared_difference_f32(p, e, b), [20.25, 90.25, 90.25, 20.25]),
            ("floor_div", |p, e, b| floor_div_f32(p, e, b), [2.0, -3.0, -3.0, 2.0]),
            ("floor_mod", |p, e, b| floor_mod_f32(p, e, b), [2.0, 0.5, -0.5, -2.0]),
            ("pow", |p, e, b| pow_f32(p, e, b), [129.641_8, f32::NAN, 0.007_713_56, f32::NAN]),
        ];
        let range = RangeF32 { min: f32::NEG_INFINITY, max: f32::INFINITY };
        for (name, function, expect) in cases {
            let mut y = [0.0; 4];
            let x = &[7.0, -7.0, 7.0, -7.0];
            function(
                &BinaryF32 { broadcast: VECTOR, range },
                Apart { x, y: &mut y },
                &[2.5, 2.5, -2.5, -2.5],
            );
            for (y, expect) in y.into_iter().zip(expect) {
                let fits = (y - expect).abs() <= 1e-4 || (y.is_nan() && expect.is_nan());
                assert!(fits, "{name} {y} {expect}");
            }
        }
    }

    #[test]
    fn integers_of_either_sign() {
        type F = fn(&BinaryExact, Apart<'_, i32>, &[i32]);
        let cases: [(&str, F, [i32; 8]); 8] = [
            ("add", |p, e, b| add_i32(p, e, b), [9, -5, 5, -9, 8, i32::MAX, 0, 0]),
            ("sub", |p, e, b| sub_i32(p, e, b), [5, -9, 9, -5, 4, i32::MIN + 1, 0, 0]),
            ("mul", |p, e, b| mul_i32(p, e, b), [14, -14, -14, 14, 12, i32::MIN, 0, 0]),
            ("div", |p, e, b| div_i32(p, e, b), [3, -3, -3, 3, 3, 0, 0, 0]),
            ("minimum", |p, e, b| minimum_i32(p, e, b), [2, -7, -2, -7, 2, i32::MIN, 0, 0]),
            ("maximum", |p, e, b| maximum_i32(p, e, b), [7, 2, 7, -2, 6, -1, 0, 0]),
            ("floor_div", |p, e, b| floor_div_i32(p, e, b), [3, -4, -4, 3, 3, 0, 0, 0]),
            ("floor_mod", |p, e, b| floor_mod_i32(p, e, b), [1, 1, -1, -1, 0, 0, 0, 0]),
        ];
        let broadcast = Broadcast { extents: [1, 1, 1, 1, 1, 8], ..VECTOR };
        for (name, function, expect) in cases {
            let mut y = [1; 8];
            let x = &[7, -7, 7, -7, 6, i32::MIN, 0, 0];
            function(&BinaryExact { broadcast }, Apart { x, y: &mut y }, &[2, 2, -2, -2, 2, -1, 0, 0]);
            assert_eq!(y, expect, "{name}");
        }
    }
}
