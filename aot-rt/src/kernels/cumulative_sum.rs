//! `cumulative_sum`: sums of all elements up to each one along an axis.

use super::elements::Elements;
use super::loops::chunks_mut;
use super::{OutputI8, kernel_params};
use crate::Params;
use crate::fixed_point::{Multiplier, Scaler};

kernel_params! {
    /// Parameters of [`cumulative_sum_f32`] and [`cumulative_sum_i32`].
    pub struct CumulativeSum {
        /// Elements of the axes before the one that is summed along.
        pub outer: usize,
        /// Elements of the axis.
        pub extent: usize,
        /// Elements of the axes after it.
        pub inner: usize,
        /// Leave the element itself out of its sum.
        pub exclusive: bool,
        /// Begin at the end of the axis.
        pub reverse: bool,
    }

    /// Parameters of [`cumulative_sum_i8`].
    pub struct CumulativeSumI8 {
        /// What is summed.
        pub sum: CumulativeSum,
        /// Zero point of `x`.
        pub input_zero_point: i32,
        /// Factor of `2^20` times an element's difference from the zero point.
        pub input_multiplier: i32,
        /// Power of two that belongs to the factor.
        pub input_shift: i32,
        /// Factor of the sum of these.
        pub output_multiplier: i32,
        /// Power of two that belongs to the factor.
        pub output_shift: i32,
        /// Zero point and limits of `y`.
        pub output: OutputI8,
    }
}

impl CumulativeSum {
    /// Replaces each element of `[outer, extent, inner]` by `finish` of the sum at it.
    #[inline(always)]
    fn replace<T: Copy, A: Copy>(
        &self,
        elements: &mut [T],
        zero: A,
        add: impl Fn(A, T) -> A,
        finish: impl Fn(A) -> T,
    ) {
        debug_assert_eq!(elements.len(), self.outer * self.extent * self.inner);
        for elements in chunks_mut(elements, self.extent * self.inner) {
            for start in 0..self.inner {
                let mut sum = zero;
                for round in 0..self.extent {
                    let index = if self.reverse { self.extent - 1 - round } else { round };
                    let Some(element) = elements.get_mut(index * self.inner + start) else { return };
                    let next = add(sum, *element);
                    *element = finish(if self.exclusive { sum } else { next });
                    sum = next;
                }
            }
        }
    }
}

/// Sums along an axis, f32.
///
/// `x` and `y`: `[outer, extent, inner]`.
pub fn cumulative_sum_f32(params: &impl Params<CumulativeSum>, elements: impl Elements<f32>) {
    let p = params.get();
    elements.in_place(|elements| p.replace(elements, 0.0, |sum, x| sum + x, |sum| sum));
}

/// Sums along an axis, int32; they wrap.
///
/// `x` and `y`: `[outer, extent, inner]`.
pub fn cumulative_sum_i32(params: &impl Params<CumulativeSum>, elements: impl Elements<i32>) {
    let p = params.get();
    elements.in_place(|elements| p.replace(elements, 0, i32::wrapping_add, |sum| sum));
}

/// Sums along an axis, int8.
///
/// `x` and `y`: `[outer, extent, inner]`. As the reference does where it does not overflow:
/// every element is brought to a finer scale, and so are sums to that of `y`.
pub fn cumulative_sum_i8(params: &impl Params<CumulativeSumI8>, elements: impl Elements<i8>) {
    let p = params.get();
    let rounding = p.output.rounding();
    let input = Scaler::new(Multiplier { multiplier: p.input_multiplier, shift: p.input_shift }, rounding);
    let output = Scaler::new(Multiplier { multiplier: p.output_multiplier, shift: p.output_shift }, rounding);
    elements.in_place(|elements| {
        p.sum.replace(
            elements,
            0_i64,
            |sum, x| {
                let difference = i32::from(x).wrapping_sub(p.input_zero_point);
                sum.wrapping_add(input.apply(difference.wrapping_shl(20)).into())
            },
            // A sum beyond 32 bits is far beyond the limits of `y`.
            |sum| p.output.limit(output.apply(sum.clamp(i32::MIN.into(), i32::MAX.into()) as i32)),
        );
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{Apart, InPlace};

    const ROWS: CumulativeSum =
        CumulativeSum { outer: 2, extent: 3, inner: 1, exclusive: false, reverse: false };

    #[test]
    fn integers() {
        let x = [1, 2, 3, 40, i32::MAX, 1];
        for (name, params, expect) in [
            ("rows", ROWS, [1, 3, 6, 40, i32::MIN + 39, i32::MIN + 40]),
            ("exclusive", CumulativeSum { exclusive: true, ..ROWS }, [0, 1, 3, 0, 40, i32::MIN + 39]),
            ("reverse", CumulativeSum { reverse: true, ..ROWS }, [6, 5, 3, i32::MIN + 40, i32::MIN, 1]),
            (
                "reverse and exclusive, along columns",
                CumulativeSum { outer: 1, extent: 2, inner: 3, exclusive: true, reverse: true },
                [40, i32::MAX, 1, 0, 0, 0],
            ),
        ] {
            let mut y = [9; 6];
            cumulative_sum_i32(&params, Apart { x: &x, y: &mut y });
            assert_eq!(y, expect, "{name}");
            let mut y = x;
            cumulative_sum_i32(&params, InPlace(&mut y));
            assert_eq!(y, expect, "{name}, in place");
        }
    }

    #[test]
    fn floats() {
        let mut y = [0.5, -2.0, 4.0, 1.0, f32::INFINITY, 0.0];
        cumulative_sum_f32(&ROWS, InPlace(&mut y));
        assert_eq!(y, [0.5, -1.5, 2.5, 1.0, f32::INFINITY, f32::INFINITY]);
    }

    #[test]
    fn int8_sums_that_leave_32_bits_come_back() {
        // Scales 0.5 and 1: elements are halved on a scale of 2 in 2^20 steps.
        let [input, output] = [0.25, 2.0 / 1_048_576.0].map(|real| Multiplier::from_real(real).unwrap());
        let params = CumulativeSumI8 {
            sum: CumulativeSum { outer: 1, extent: 42, inner: 1, ..ROWS },
            input_zero_point: -3,
            input_multiplier: input.multiplier,
            input_shift: input.shift,
            output_multiplier: output.multiplier,
            output_shift: output.shift,
            output: OutputI8 { zero_point: 5, min: -128, max: 127, single_rounding: false },
        };
        // 20 times 128, 20 times -125, and 1 and -59.
        let mut y = [125; 42];
        y[20..40].fill(-128);
        (y[40], y[41]) = (-2, -62);
        cumulative_sum_i8(&params, InPlace(&mut y));
        assert_eq!((y[0], y[1], y[20]), (69, 127, 127));
        assert_eq!((y[39], y[40], y[41]), (35, 36, 6));
    }
}
