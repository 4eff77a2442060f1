//! `add`: sums of elements, with broadcasting.

use super::elements::Elements;
use super::{OutputI8, RangeF32, RangeI16, kernel_params};
use crate::Params;
use crate::fixed_point::{Multiplier, Scaler};

kernel_params! {
    /// How the elements of two operands meet: nested loops over the elements of `y`,
    /// from the outermost to the innermost. Loops that are not needed come first,
    /// with the extent 1; operands of equal shape need one.
    pub struct Broadcast {
        /// Rounds of each loop.
        pub extents: [usize; 6],
        /// Elements of `a` from one round to the next: 0 where `a` is repeated. The
        /// last is 0 or 1.
        pub a_strides: [usize; 6],
        /// Elements of `b` from one round to the next, likewise.
        pub b_strides: [usize; 6],
    }

    /// Parameters of [`add_f32`].
    pub struct AddF32 {
        /// How the operands meet.
        pub broadcast: Broadcast,
        /// Fused activation.
        pub range: RangeF32,
    }

    /// Parameters of [`add_i8`].
    pub struct AddI8 {
        /// How the operands meet.
        pub broadcast: Broadcast,
        /// How two elements are added.
        pub sum: SumI8,
    }

    /// How two quantized numbers, `a` and `b`, are added.
    pub struct SumI8 {
        /// Zero point of `a`.
        pub a_zero_point: i32,
        /// Factor of `a`, for differences that were shifted left by 20, or 15 in int16.
        pub a_multiplier: i32,
        /// Power of two that belongs to the factor.
        pub a_shift: i32,
        /// Zero point of `b`.
        pub b_zero_point: i32,
        /// Factor of `b`, likewise.
        pub b_multiplier: i32,
        /// Power of two that belongs to the factor.
        pub b_shift: i32,
        /// Factor of the sum.
        pub output_multiplier: i32,
        /// Power of two that belongs to the factor.
        pub output_shift: i32,
        /// Zero point and limits of `y`.
        pub output: OutputI8,
    }
}

impl Broadcast {
    /// The same with the operands exchanged.
    #[must_use]
    pub const fn swapped(self) -> Self {
        Self { a_strides: self.b_strides, b_strides: self.a_strides, ..self }
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
        let sum = self.sum::<20>();
        move |a, b| self.output.limit(sum(a.into(), b.into()))
    }

    /// The function that adds int16.
    #[inline(always)]
    fn adder_i16(self) -> impl Fn(i16, i16) -> i16 {
        let (sum, OutputI8 { zero_point, min, max, .. }) = (self.sum::<15>(), self.output);
        let range = RangeI16 { min, max };
        move |a, b| range.limit(sum(a.into(), b.into()).wrapping_add(zero_point).into())
    }

    /// The function that adds, in steps of the result, with `BITS` more while it does.
    #[inline(always)]
    fn sum<const BITS: u32>(self) -> impl Fn(i32, i32) -> i32 {
        let rounding = self.output.rounding();
        let scaler = |multiplier, shift| Scaler::new(Multiplier { multiplier, shift }, rounding);
        let a_scaler = scaler(self.a_multiplier, self.a_shift);
        let b_scaler = scaler(self.b_multiplier, self.b_shift);
        let y_scaler = scaler(self.output_multiplier, self.output_shift);
        move |a, b| {
            let a = a_scaler.apply(a.wrapping_sub(self.a_zero_point) << BITS);
            let b = b_scaler.apply(b.wrapping_sub(self.b_zero_point) << BITS);
            y_scaler.apply(a.wrapping_add(b))
        }
    }
}

/// Sum of two tensors, f32.
///
/// `x`, called `a` in the parameters, and `b`: their own shapes, `y`: the shape that
/// both are broadcast to.
pub fn add_f32(params: &impl Params<AddF32>, elements: impl Elements<f32>, b: &[f32]) {
    let p = params.get();
    elements.zip(&p.broadcast, b, |a, b| p.range.limit(a + b));
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
    elements.zip(&p.broadcast, b, p.sum.adder_i16());
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
            let params = AddF32 { broadcast, range: RangeF32 { min: f32::NEG_INFINITY, max: 40.5 } };
            let mut y = [0.0; 4];
            add_f32(&params, Apart { x: &[1.0, 2.0, 3.0, 4.0], y: &mut y }, b);
            assert_eq!(y, expect, "{name}");
            let mut in_place = [1.0, 2.0, 3.0, 4.0];
            add_f32(&params, InPlace(&mut in_place), b);
            assert_eq!(in_place, expect, "{name}, in place");
            let swapped =
                Broadcast { a_strides: broadcast.b_strides, b_strides: broadcast.a_strides, ..broadcast };
            add_f32(
                &AddF32 { broadcast: swapped, ..params },
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
        let params = AddF32 { broadcast, range: RangeF32 { min: 0.0, max: f32::INFINITY } };
        let mut y = [0.0; 6];
        add_f32(&params, Apart { x: &[1.0, 2.0, f32::NAN], y: &mut y }, &[10.0, -20.0]);
        assert_eq!(y[..4], [11.0, 0.0, 12.0, 0.0]);
        assert!(y[4].is_nan() && y[5].is_nan());
    }

    #[test]
    fn add_i8_is_near_the_real_sum() {
        let [a_scale, b_scale, y_scale] = [0.05_f64, 0.02, 0.06];
        let twice = 2.0 * a_scale.max(b_scale);
        let factor = |real| Multiplier::from_real(real).unwrap();
        let (a_factor, b_factor) = (factor(a_scale / twice), factor(b_scale / twice));
        let output = factor(twice / (f64::from(1 << 20) * y_scale));
        let params = AddI8 {
            broadcast: Broadcast { extents: [1, 1, 1, 1, 1, 256], b_strides: [0; 6], ..VECTOR },
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
        let a: [i8; 256] = core::array::from_fn(|i| i as i8);
        for b in [-128, -5, 0, 127] {
            let mut y = [0; 256];
            add_i8(&params, Apart { x: &a, y: &mut y }, &[b]);
            for (a, y) in a.iter().zip(y) {
                let real = a_scale * (f64::from(*a) - 3.0) + b_scale * (f64::from(b) + 5.0);
                let expect = libm::round(real / y_scale) + 7.0;
                assert!((f64::from(y) - expect.clamp(-100.0, 100.0)).abs() <= 1.0, "{a} + {b} = {y}");
            }
        }
    }
}
