//! `add`, `sub`, `squared_difference`: sums and differences of int8 and int16 elements,
//! with broadcasting.
//!
//! Numbers of different scales are brought to one with more bits, added or subtracted,
//! and brought to the result's.

use super::elements::{Broadcast, Elements};
use super::output::Quantized;
use super::{OutputI8, kernel_params};
use crate::Params;
use crate::fixed_point::{Multiplier, Scaler};

kernel_params! {
    /// Parameters of [`add_i8`], [`sub_i8`] and [`squared_difference_i8`], and of the same
    /// functions of int16.
    pub struct AddI8 {
        /// How the operands meet.
        pub broadcast: Broadcast,
        /// How two elements are added, subtracted, ….
        pub sum: SumI8,
    }

    /// How two quantized numbers, `a` and `b`, are added, subtracted, ….
    ///
    /// Before they are scaled, the differences from the zero points are shifted left: by
    /// 20, in int16 by 15, and where the result is squared by 7, in int16 not at all.
    pub struct SumI8 {
        /// Zero point of `a`.
        pub a_zero_point: i32,
        /// Factor of `a`, to the common scale.
        pub a_multiplier: i32,
        /// Power of two that belongs to the factor.
        pub a_shift: i32,
        /// Zero point of `b`.
        pub b_zero_point: i32,
        /// Factor of `b`, to the common scale.
        pub b_multiplier: i32,
        /// Power of two that belongs to the factor.
        pub b_shift: i32,
        /// Factor of the sum, the difference, ….
        pub output_multiplier: i32,
        /// Power of two that belongs to the factor.
        pub output_shift: i32,
        /// Zero point and limits of `y`.
        pub output: OutputI8,
    }
}

impl SumI8 {
    /// The same with the operands exchanged.
    #[must_use]
    pub const fn swapped(self) -> Self {
        Self {
            a_zero_point: self.b_zero_point,
            a_multiplier: self.b_multiplier,
            a_shift: self.b_shift,
            b_zero_point: self.a_zero_point,
            b_multiplier: self.a_multiplier,
            b_shift: self.a_shift,
            ..self
        }
    }

    /// The function that adds int8.
    #[inline(always)]
    pub(super) fn adder(self) -> impl Fn(i8, i8) -> i8 {
        self.function::<20, i8>(i32::wrapping_add)
    }

    /// The function that combines the numbers on the common scale, with `BITS` more bits
    /// while it does.
    #[inline(always)]
    fn function<const BITS: u32, T: Quantized>(
        self,
        combine: impl Fn(i32, i32) -> i32,
    ) -> impl Fn(T, T) -> T {
        let rounding = self.output.rounding();
        let scaler = |multiplier, shift| Scaler::new(Multiplier { multiplier, shift }, rounding);
        let a_scaler = scaler(self.a_multiplier, self.a_shift);
        let b_scaler = scaler(self.b_multiplier, self.b_shift);
        let y_scaler = scaler(self.output_multiplier, self.output_shift);
        move |a, b| {
            let a = a_scaler.apply(a.into().wrapping_sub(self.a_zero_point) << BITS);
            let b = b_scaler.apply(b.into().wrapping_sub(self.b_zero_point) << BITS);
            self.output.limit(y_scaler.apply(combine(a, b)))
        }
    }
}

/// Sum of two tensors, int8.
///
/// `x`, called `a` in the parameters, and `b`: their own shapes, `y`: the shape that
/// both are broadcast to.
pub fn add_i8(params: &impl Params<AddI8>, elements: impl Elements<i8>, b: &[i8]) {
    let p = params.get();
    elements.zip(&p.broadcast, b, p.sum.adder());
}

/// Sum of two tensors, int16: as [`add_i8`], with 15 bits more than the operands have.
pub fn add_i16(params: &impl Params<AddI8>, elements: impl Elements<i16>, b: &[i16]) {
    let p = params.get();
    elements.zip(&p.broadcast, b, p.sum.function::<15, i16>(i32::wrapping_add));
}

/// Difference of two tensors, int8.
///
/// Operands as those of [`add_i8`].
pub fn sub_i8(params: &impl Params<AddI8>, elements: impl Elements<i8>, b: &[i8]) {
    let p = params.get();
    elements.zip(&p.broadcast, b, p.sum.function::<20, i8>(i32::wrapping_sub));
}

/// Difference of two tensors, int16: as [`sub_i8`], with 15 bits more than the operands have.
pub fn sub_i16(params: &impl Params<AddI8>, elements: impl Elements<i16>, b: &[i16]) {
    let p = params.get();
    elements.zip(&p.broadcast, b, p.sum.function::<15, i16>(i32::wrapping_sub));
}

/// Square of the difference of two tensors, int8.
///
/// Operands as those of [`add_i8`].
pub fn squared_difference_i8(params: &impl Params<AddI8>, elements: impl Elements<i8>, b: &[i8]) {
    let p = params.get();
    elements.zip(&p.broadcast, b, p.sum.function::<7, i8>(square_of_difference));
}

/// Square of the difference of two tensors, int16: as [`squared_difference_i8`], with as many
/// bits as the operands have.
pub fn squared_difference_i16(params: &impl Params<AddI8>, elements: impl Elements<i16>, b: &[i16]) {
    let p = params.get();
    elements.zip(&p.broadcast, b, p.sum.function::<0, i16>(square_of_difference));
}

#[inline(always)]
fn square_of_difference(a: i32, b: i32) -> i32 {
    let difference = a.wrapping_sub(b);
    difference.wrapping_mul(difference)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Apart;

    #[test]
    fn results_are_near_the_real_ones() {
        let [a_scale, b_scale, y_scale] = [0.05_f64, 0.02, 0.06];
        let twice = 2.0 * a_scale.max(b_scale);
        let factor = |real| Multiplier::from_real(real).unwrap();
        let (a_factor, b_factor) = (factor(a_scale / twice), factor(b_scale / twice));
        let output = factor(twice / (f64::from(1 << 20) * y_scale));
        let params = AddI8 {
            broadcast: Broadcast {
                extents: [1, 1, 1, 1, 1, 256],
                a_strides: [0, 0, 0, 0, 0, 1],
                b_strides: [0; 6],
            },
            sum: SumI8 {
                a_zero_point: 3,
                a_multiplier: a_factor.multiplier,
                a_shift: a_factor.shift,
                b_zero_point: -5,
                b_multiplier: b_factor.multiplier,
                b_shift: b_factor.shift,
                output_multiplier: output.multiplier,
                output_shift: output.shift,
                output: OutputI8 { zero_point: 7, min: -100, max: 100, single_rounding: false },
            },
        };
        type Case = (fn(&AddI8, Apart<'_, i8>, &[i8]), f64);
        let cases: [Case; 2] = [(|p, e, b| add_i8(p, e, b), 1.0), (|p, e, b| sub_i8(p, e, b), -1.0)];
        let a: [i8; 256] = core::array::from_fn(|i| i as i8);
        for (function, sign) in cases {
            for b in [-128, -5, 0, 127] {
                let mut y = [0; 256];
                function(&params, Apart { x: &a, y: &mut y }, &[b]);
                for (a, y) in a.iter().zip(y) {
                    let real = a_scale * (f64::from(*a) - 3.0) + sign * b_scale * (f64::from(b) + 5.0);
                    let expect = libm::round(real / y_scale) + 7.0;
                    assert!((f64::from(y) - expect.clamp(-100.0, 100.0)).abs() <= 1.0, "{a} + {b} = {y}");
                }
            }
        }
    }
}
