//! `reduce`: sums, products, greatest and least elements over any set of axes.
//!
//! A function each, so that a program holds only those that its model uses. Sums of
//! quantized elements are [`mean_i8`](super::mean_i8) with the factor of a sum.

use super::{OutputI8, Reduction, kernel_params};
use crate::Params;

kernel_params! {
    /// Parameters of reductions of elements that stand for themselves.
    pub struct Reduce {
        /// What is reduced.
        pub reduction: Reduction,
    }

    /// Parameters of [`reduce_product_i8`].
    pub struct ReduceProductI8 {
        /// What is reduced.
        pub reduction: Reduction,
        /// Zero point of `x`.
        pub input_zero_point: i32,
        /// 15 bits of the factor that each product is scaled by.
        pub multiplier: i32,
        /// How far a product with them is shifted right, at least 1.
        pub shift: i32,
        /// Zero point and limits of `y`.
        pub output: OutputI8,
    }
}

/// Folds elements that stand for themselves.
#[inline(always)]
fn reduce<T: Copy>(
    params: &impl Params<Reduce>,
    x: &[T],
    y: &mut [T],
    init: T,
    fold: impl Fn(T, T) -> T + Copy,
) {
    params.get().reduction.fold(x, y, init, fold, |folded| folded);
}

/// Sum over axes, f32, in the order of `x`.
pub fn reduce_sum_f32(params: &impl Params<Reduce>, x: &[f32], y: &mut [f32]) {
    reduce(params, x, y, 0.0, |sum, x| sum + x);
}

/// Sum over axes, int32; it wraps.
pub fn reduce_sum_i32(params: &impl Params<Reduce>, x: &[i32], y: &mut [i32]) {
    reduce(params, x, y, 0, i32::wrapping_add);
}

/// Product over axes, f32, in the order of `x`.
pub fn reduce_product_f32(params: &impl Params<Reduce>, x: &[f32], y: &mut [f32]) {
    reduce(params, x, y, 1.0, |product, x| product * x);
}

/// Product over axes, int32; it wraps.
pub fn reduce_product_i32(params: &impl Params<Reduce>, x: &[i32], y: &mut [i32]) {
    reduce(params, x, y, 1, i32::wrapping_mul);
}

/// Product over axes, int8.
///
/// As in the reference, the product so far is scaled before each next element and at the
/// end, and rounded once each time, ties up.
pub fn reduce_product_i8(params: &impl Params<ReduceProductI8>, x: &[i8], y: &mut [i8]) {
    let p = params.get();
    let (multiplier, shift) = (i64::from(p.multiplier), p.shift & 63);
    let scaled = |product: i64| {
        let rounded = product.wrapping_mul(multiplier).wrapping_add(1_i64 << shift >> 1) >> shift;
        rounded as i32
    };
    p.reduction.fold(
        x,
        y,
        None,
        |product, x| {
            let difference = i32::from(x).wrapping_sub(p.input_zero_point);
            Some(product.map_or(difference, |product| scaled(i64::from(product) * i64::from(difference))))
        },
        |product| p.output.limit(scaled(product.unwrap_or(0).into())),
    );
}

/// Greatest element over axes, f32; NaN is ignored.
pub fn reduce_maximum_f32(params: &impl Params<Reduce>, x: &[f32], y: &mut [f32]) {
    reduce(params, x, y, f32::NEG_INFINITY, |greatest, x| if x > greatest { x } else { greatest });
}

/// Greatest element over axes, int8 of one scale.
pub fn reduce_maximum_i8(params: &impl Params<Reduce>, x: &[i8], y: &mut [i8]) {
    reduce(params, x, y, i8::MIN, i8::max);
}

/// Greatest element over axes, int32.
pub fn reduce_maximum_i32(params: &impl Params<Reduce>, x: &[i32], y: &mut [i32]) {
    reduce(params, x, y, i32::MIN, i32::max);
}

/// Least element over axes, f32; NaN is ignored.
pub fn reduce_minimum_f32(params: &impl Params<Reduce>, x: &[f32], y: &mut [f32]) {
    reduce(params, x, y, f32::INFINITY, |least, x| if x < least { x } else { least });
}

/// Least element over axes, int8 of one scale.
pub fn reduce_minimum_i8(params: &impl Params<Reduce>, x: &[i8], y: &mut [i8]) {
    reduce(params, x, y, i8::MAX, i8::min);
}

/// Least element over axes, int32.
pub fn reduce_minimum_i32(params: &impl Params<Reduce>, x: &[i32], y: &mut [i32]) {
    reduce(params, x, y, i32::MAX, i32::min);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The middle axis of (2, 3, 2).
    const MIDDLE: Reduction = Reduction {
        kept: [1, 1, 2, 2],
        kept_strides: [0, 0, 6, 1],
        reduced: [1, 1, 1, 3],
        reduced_strides: [0, 0, 0, 2],
    };
    const X: [i32; 12] = [1, -2, 3, 4, -5, 6, 7, 0, i32::MAX, -1, 2, -3];

    #[test]
    fn integers() {
        type F = fn(&Reduce, &[i32], &mut [i32]);
        let cases: [(&str, F, [i32; 4]); 4] = [
            ("sum", |p, x, y| reduce_sum_i32(p, x, y), [-1, 8, i32::MIN + 8, -4]),
            ("product", |p, x, y| reduce_product_i32(p, x, y), [-15, -48, -14, 0]),
            ("maximum", |p, x, y| reduce_maximum_i32(p, x, y), [3, 6, i32::MAX, 0]),
            ("minimum", |p, x, y| reduce_minimum_i32(p, x, y), [-5, -2, 2, -3]),
        ];
        for (name, function, expect) in cases {
            let mut y = [0; 4];
            function(&Reduce { reduction: MIDDLE }, &X, &mut y);
            assert_eq!(y, expect, "{name}");
        }
        let (x, mut y) = (X.map(|x| x.clamp(-128, 127) as i8), [0; 4]);
        reduce_maximum_i8(&Reduce { reduction: MIDDLE }, &x, &mut y);
        assert_eq!(y, [3, 6, 127, 0]);
        reduce_minimum_i8(&Reduce { reduction: MIDDLE }, &x, &mut y);
        assert_eq!(y, [-5, -2, 2, -3]);
    }

    #[test]
    fn floats() {
        type F = fn(&Reduce, &[f32], &mut [f32]);
        let cases: [(&str, F, [f32; 4]); 4] = [
            ("sum", |p, x, y| reduce_sum_f32(p, x, y), [-0.5, 4.0, f32::NAN, f32::INFINITY]),
            ("product", |p, x, y| reduce_product_f32(p, x, y), [-1.875, -6.0, f32::NAN, f32::NEG_INFINITY]),
            ("maximum", |p, x, y| reduce_maximum_f32(p, x, y), [1.5, 3.0, 1.0, f32::INFINITY]),
            ("minimum", |p, x, y| reduce_minimum_f32(p, x, y), [-2.5, -1.0, -2.0, -3.0]),
        ];
        let x = [0.5, -1.0, 1.5, 2.0, -2.5, 3.0, f32::NAN, 1.0, 1.0, f32::INFINITY, -2.0, -3.0];
        for (name, function, expect) in cases {
            let mut y = [0.0; 4];
            function(&Reduce { reduction: MIDDLE }, &x, &mut y);
            for (y, expect) in y.into_iter().zip(expect) {
                assert!(y == expect || (y.is_nan() && expect.is_nan()), "{name}: {y} {expect}");
            }
        }
    }

    #[test]
    fn products_are_scaled_at_every_step() {
        let reduction = Reduction { kept: [1, 1, 1, 2], kept_strides: [0, 0, 0, 3], ..MIDDLE };
        let reduction = Reduction { reduced_strides: [0, 0, 0, 1], ..reduction };
        let params = ReduceProductI8 {
            reduction,
            input_zero_point: 1,
            // 1/4
            multiplier: 1 << 14,
            shift: 16,
            output: OutputI8 { zero_point: -3, min: -128, max: 127, single_rounding: false },
        };
        let mut y = [0; 2];
        reduce_product_i8(&params, &[11, 6, 4, -100, 100, 100], &mut y);
        // 50/4 = 12.5 → 13, 39/4 = 9.75 → 10, 10/4 = 2.5 → 3
        assert_eq!(y, [0, -128]);
    }
}
