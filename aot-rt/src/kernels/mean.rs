//! `mean`: means over any set of axes.

use super::output::Quantized;
use super::{OutputI8, Reduction, kernel_params};
use crate::Params;
use crate::fixed_point::{Multiplier, Rounding};

kernel_params! {
    /// Parameters of [`mean_f32`].
    pub struct MeanF32 {
        /// What is reduced.
        pub reduction: Reduction,
    }

    /// Parameters of [`mean_i8`].
    pub struct MeanI8 {
        /// What is reduced.
        pub reduction: Reduction,
        /// Zero point of `x`.
        pub input_zero_point: i32,
        /// Factor of the sum of an element's differences from the zero point, see
        /// [`Multiplier::of_mean`].
        pub multiplier: i32,
        /// Power of two that belongs to the factor.
        pub shift: i32,
        /// Zero point and limits of `y`.
        pub output: OutputI8,
    }

    /// Parameters of [`mean_i16`].
    pub struct MeanI16 {
        /// What is reduced.
        pub reduction: Reduction,
        /// Factor of the sum, see [`MeanI8`].
        pub multiplier: i32,
        /// Power of two that belongs to the factor.
        pub shift: i32,
        /// Round once instead of twice, see [`Rounding`].
        pub single_rounding: bool,
    }
}

/// Mean over axes, f32.
///
/// `x`: all axes, `y`: the kept ones. Each mean is the sum of its elements in the order
/// of `x`, divided by their number.
pub fn mean_f32(params: &impl Params<MeanF32>, x: &[f32], y: &mut [f32]) {
    let p = params.get();
    let count = p.reduction.count() as f32;
    p.reduction.fold(x, y, 0.0, |sum: f32, x| sum + x, |sum| sum / count);
}

/// Mean over axes, int8.
///
/// `x`: all axes, `y`: the kept ones. With the factor of a sum instead of that of a mean,
/// this is the sum over axes.
pub fn mean_i8(params: &impl Params<MeanI8>, x: &[i8], y: &mut [i8]) {
    let p = params.get();
    let factor = Multiplier { multiplier: p.multiplier, shift: p.shift };
    let zero = p.input_zero_point.wrapping_mul(p.reduction.count() as i32);
    p.reduction.fold(
        x,
        y,
        0,
        |sum: i32, x| sum.wrapping_add(i32::from(x)),
        |sum| p.output.limit(factor.apply(sum.wrapping_sub(zero), p.output.rounding())),
    );
}

/// Mean over axes, int16 of zero points 0.
///
/// `x`: all axes, `y`: the kept ones. With the factor of a sum, this is the sum over axes.
pub fn mean_i16(params: &impl Params<MeanI16>, x: &[i16], y: &mut [i16]) {
    let p = params.get();
    let rounding = Rounding::of(p.single_rounding);
    let factor = Multiplier { multiplier: p.multiplier, shift: p.shift };
    p.reduction.fold(
        x,
        y,
        0,
        |sum: i32, x| sum.wrapping_add(i32::from(x)),
        |sum| i16::saturate(factor.apply(sum, rounding)),
    );
}

#[cfg(test)]
mod tests {
    use core::num::NonZeroU32;

    use super::*;

    struct Case {
        name: &'static str,
        reduction: Reduction,
        y: &'static [i8],
    }

    /// Means of `x = 0, 2, .., 46`, as (2, 3, 4) where nothing else is said.
    const CASES: &[Case] = &[
        Case {
            name: "last axis",
            reduction: Reduction {
                kept: [1, 1, 1, 6],
                kept_strides: [0, 0, 0, 4],
                reduced: [1, 1, 1, 4],
                reduced_strides: [0, 0, 0, 1],
            },
            y: &[3, 11, 19, 27, 35, 43],
        },
        Case {
            name: "middle axis",
            reduction: Reduction {
                kept: [1, 1, 2, 4],
                kept_strides: [0, 0, 12, 1],
                reduced: [1, 1, 1, 3],
                reduced_strides: [0, 0, 0, 4],
            },
            y: &[8, 10, 12, 14, 32, 34, 36, 38],
        },
        Case {
            name: "first and last axis",
            reduction: Reduction {
                kept: [1, 1, 1, 3],
                kept_strides: [0, 0, 0, 4],
                reduced: [1, 1, 2, 4],
                reduced_strides: [0, 0, 12, 1],
            },
            y: &[15, 23, 31],
        },
        Case {
            name: "all",
            reduction: Reduction {
                kept: [1, 1, 1, 1],
                kept_strides: [0, 0, 0, 1],
                reduced: [1, 1, 1, 24],
                reduced_strides: [0, 0, 0, 1],
            },
            y: &[23],
        },
        Case {
            name: "(2, 12), first axis: a block and four",
            reduction: Reduction {
                kept: [1, 1, 1, 12],
                kept_strides: [0, 0, 0, 1],
                reduced: [1, 1, 1, 2],
                reduced_strides: [0, 0, 0, 12],
            },
            y: &[12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34],
        },
        Case {
            name: "(2, 2, 2, 3), axes 0 and 2",
            reduction: Reduction {
                kept: [1, 1, 2, 3],
                kept_strides: [0, 0, 6, 1],
                reduced: [1, 1, 2, 2],
                reduced_strides: [0, 0, 12, 3],
            },
            y: &[15, 17, 19, 27, 29, 31],
        },
    ];

    #[test]
    fn mean_f32_cases() {
        let x: [f32; 24] = core::array::from_fn(|i| 2.0 * i as f32);
        for Case { name, reduction, y: expect } in CASES {
            let mut y = [0.0; 12];
            let y = &mut y[..expect.len()];
            mean_f32(&MeanF32 { reduction: *reduction }, &x, y);
            for (y, expect) in y.iter().zip(*expect) {
                assert_eq!(*y, f32::from(*expect), "{name}");
            }
        }
    }

    #[test]
    fn mean_i8_cases() {
        let x: [i8; 24] = core::array::from_fn(|i| 2 * i as i8 - 20);
        for Case { name, reduction, y: expect } in CASES {
            let count = NonZeroU32::new(reduction.count() as u32).unwrap();
            let factor = Multiplier::from_real(1.0).unwrap().of_mean(count);
            let params = MeanI8 {
                reduction: *reduction,
                input_zero_point: -20,
                multiplier: factor.multiplier,
                shift: factor.shift,
                output: OutputI8 { zero_point: 5, min: -128, max: 127, single_rounding: false },
            };
            let mut y = [0; 12];
            let y = &mut y[..expect.len()];
            mean_i8(&params, &x, y);
            for (y, expect) in y.iter().zip(*expect) {
                assert_eq!(*y, expect + 5, "{name}");
            }
        }
    }

    #[test]
    fn mean_i16_cases() {
        let x: [i16; 24] = core::array::from_fn(|i| 200 * i as i16 - 2000);
        for Case { name, reduction, y: expect } in CASES {
            let count = NonZeroU32::new(reduction.count() as u32).unwrap();
            let factor = Multiplier::from_real(1.0).unwrap().of_mean(count);
            let (multiplier, shift) = (factor.multiplier, factor.shift);
            let params = MeanI16 { reduction: *reduction, multiplier, shift, single_rounding: false };
            let mut y = [0; 12];
            let y = &mut y[..expect.len()];
            mean_i16(&params, &x, y);
            for (y, expect) in y.iter().zip(*expect) {
                assert_eq!(*y, 100 * i16::from(*expect) - 2000, "{name}");
            }
        }
    }
}
