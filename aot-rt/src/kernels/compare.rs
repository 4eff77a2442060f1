//! `compare`: equal, less, greater and their negations, with broadcasting.
//!
//! `x` is called `a` in the parameters. `a` and `b` have their own shapes, `y` the one that
//! both are broadcast to; its elements are 0 and 1.

use core::cmp::Ordering;

use super::elements::{Broadcast, zip_into};
use super::kernel_params;
use crate::Params;
use crate::fixed_point::{Multiplier, Rounding, Scaler};

kernel_params! {
    /// How `a` may stand to `b` for the result to be true.
    pub struct Orders {
        /// `a` is less.
        pub less: bool,
        /// They are equal.
        pub equal: bool,
        /// `a` is greater.
        pub greater: bool,
        /// One of them is NaN.
        pub unordered: bool,
    }

    /// Parameters of [`compare_f32`], [`compare_i16`], [`compare_i32`] and [`compare_i64`].
    pub struct Compare {
        /// How the operands meet.
        pub broadcast: Broadcast,
        /// What is true.
        pub orders: Orders,
    }

    /// Parameters of [`compare_i8`].
    pub struct CompareI8 {
        /// How the operands meet.
        pub broadcast: Broadcast,
        /// What is true.
        pub orders: Orders,
        /// Zero point of `a`.
        pub a_zero_point: i32,
        /// Factor of `a`, to the scale on which the operands are compared.
        pub a_multiplier: i32,
        /// Power of two that belongs to the factor.
        pub a_shift: i32,
        /// Zero point of `b`.
        pub b_zero_point: i32,
        /// Factor of `b`, to the scale on which the operands are compared.
        pub b_multiplier: i32,
        /// Power of two that belongs to the factor.
        pub b_shift: i32,
        /// Round once instead of twice, see [`Rounding`].
        pub single_rounding: bool,
    }
}

impl Orders {
    /// 1 where the order is one of these.
    #[inline(always)]
    fn holds(self, order: Option<Ordering>) -> i8 {
        i8::from(match order {
            Some(Ordering::Less) => self.less,
            Some(Ordering::Equal) => self.equal,
            Some(Ordering::Greater) => self.greater,
            None => self.unordered,
        })
    }
}

/// Elements that stand for themselves.
#[inline(always)]
fn compare<T: Copy + PartialOrd>(params: &impl Params<Compare>, x: &[T], y: &mut [i8], b: &[T]) {
    let p = params.get();
    zip_into(&p.broadcast, x, b, y, |a, b| p.orders.holds(a.partial_cmp(&b)));
}

/// Comparison of two tensors, f32.
pub fn compare_f32(params: &impl Params<Compare>, x: &[f32], y: &mut [i8], b: &[f32]) {
    compare(params, x, y, b);
}

/// Comparison of two tensors, int16 of one scale.
pub fn compare_i16(params: &impl Params<Compare>, x: &[i16], y: &mut [i8], b: &[i16]) {
    compare(params, x, y, b);
}

/// Comparison of two tensors, int32.
pub fn compare_i32(params: &impl Params<Compare>, x: &[i32], y: &mut [i8], b: &[i32]) {
    compare(params, x, y, b);
}

/// Comparison of two tensors, int64.
pub fn compare_i64(params: &impl Params<Compare>, x: &[i64], y: &mut [i8], b: &[i64]) {
    compare(params, x, y, b);
}

/// Comparison of two tensors, int8 of perhaps different scales.
///
/// As in the reference, the real numbers are compared in steps of 1/256.
pub fn compare_i8(params: &impl Params<CompareI8>, x: &[i8], y: &mut [i8], b: &[i8]) {
    let p = params.get();
    let rounding = Rounding::of(p.single_rounding);
    let a_scaler = Scaler::new(Multiplier { multiplier: p.a_multiplier, shift: p.a_shift }, rounding);
    let b_scaler = Scaler::new(Multiplier { multiplier: p.b_multiplier, shift: p.b_shift }, rounding);
    zip_into(&p.broadcast, x, b, y, |a, b| {
        let a = a_scaler.apply(i32::from(a).wrapping_sub(p.a_zero_point) << 8);
        let b = b_scaler.apply(i32::from(b).wrapping_sub(p.b_zero_point) << 8);
        p.orders.holds(Some(a.cmp(&b)))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    const VECTOR: Broadcast = Broadcast {
        extents: [1, 1, 1, 1, 1, 4],
        a_strides: [0, 0, 0, 0, 0, 1],
        b_strides: [0, 0, 0, 0, 0, 1],
    };
    const LESS_OR_EQUAL: Orders = Orders { less: true, equal: true, greater: false, unordered: false };

    #[test]
    fn floats_and_integers() {
        let params = Compare { broadcast: VECTOR, orders: LESS_OR_EQUAL };
        let mut y = [7; 4];
        compare_f32(&params, &[1.0, 2.0, 3.0, f32::NAN], &mut y, &[2.0, 2.0, 2.0, 2.0]);
        assert_eq!(y, [1, 1, 0, 0]);
        let orders = Orders { less: true, equal: false, greater: true, unordered: true };
        compare_f32(&Compare { orders, ..params }, &[1.0, 2.0, 3.0, f32::NAN], &mut y, &[2.0; 4]);
        assert_eq!(y, [1, 0, 1, 1]);
        let scalar = Compare { broadcast: Broadcast { b_strides: [0; 6], ..VECTOR }, ..params };
        compare_i32(&scalar, &[-1, 0, 1, i32::MIN], &mut y, &[0]);
        assert_eq!(y, [1, 1, 0, 1]);
        compare_i64(&scalar, &[1 << 40, 0, 1, i64::MIN], &mut y, &[0]);
        assert_eq!(y, [0, 1, 0, 1]);
    }

    #[test]
    fn int8_of_different_scales() {
        let [a, b] = [0.5, 0.25].map(|scale| Multiplier::from_real(scale).unwrap());
        let params = CompareI8 {
            broadcast: VECTOR,
            orders: LESS_OR_EQUAL,
            a_zero_point: 1,
            a_multiplier: a.multiplier,
            a_shift: a.shift,
            b_zero_point: -1,
            b_multiplier: b.multiplier,
            b_shift: b.shift,
            single_rounding: false,
        };
        let mut y = [7; 4];
        // 1, -64.5, 63, 1 and 1, -31.75, 32, 0.75.
        compare_i8(&params, &[3, -128, 127, 3], &mut y, &[3, -128, 127, 2]);
        assert_eq!(y, [1, 1, 0, 0]);
    }
}
