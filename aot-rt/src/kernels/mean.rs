//! `mean`: means over any set of axes.

use super::dot::VECTORS;
use super::loops::{Offsets, chunks_mut, part};
use super::{OutputI8, kernel_params};
use crate::Params;
use crate::fixed_point::Multiplier;

kernel_params! {
    /// Which elements of `x` each element of `y` is made of.
    ///
    /// Neighbouring axes of `x` that are both kept or both reduced are one loop;
    /// tensors of up to six axes need no more than three of each. Loops go from the
    /// outermost to the innermost, and those that are not needed come first, with the
    /// extent 1.
    pub struct Reduction {
        /// Rounds of the loops over the kept axes, which are those of `y`.
        pub kept: [usize; 3],
        /// Elements of `x` from one round to the next.
        pub kept_strides: [usize; 3],
        /// Rounds of the loops over the reduced axes.
        pub reduced: [usize; 3],
        /// Elements of `x` from one round to the next.
        pub reduced_strides: [usize; 3],
    }

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
}

/// Elements of `y` that are summed together.
const BLOCK: usize = if VECTORS { 8 } else { 4 };

impl Reduction {
    /// Number of elements of `x` that make one element of `y`.
    #[inline(always)]
    fn count(&self) -> usize {
        self.reduced.iter().product()
    }

    /// Number of elements of `y`.
    #[inline(always)]
    fn kept_count(&self) -> usize {
        self.kept.iter().product()
    }

    /// Computes every element of `y`: `finish` of the sum that `add` adds to in the
    /// order of `x`.
    #[inline(always)]
    fn sums<T: Copy, A: Copy + Default>(
        &self,
        x: &[T],
        y: &mut [T],
        add: impl Fn(A, T) -> A + Copy,
        finish: impl Fn(A) -> T + Copy,
    ) {
        let ([e0, e1, inner], [s0, s1, stride]) = (self.kept, self.kept_strides);
        for (y, [start]) in chunks_mut(y, inner).zip(Offsets::new([e0, e1], [[s0], [s1]])) {
            // Neighbours in `x` are summed in blocks.
            let (blocks, rest) = if stride == 1 { y.as_chunks_mut::<BLOCK>() } else { (&mut [][..], y) };
            let mut at = start;
            for y in blocks {
                *y = self.sum_block(x, at, add).map(finish);
                at += BLOCK * stride;
            }
            for y in rest {
                *y = finish(self.sum(x, at, add));
                at += stride;
            }
        }
    }

    /// Sums of the elements that begin at `start` and right behind it.
    #[inline(always)]
    fn sum_block<T: Copy, A: Copy + Default, const N: usize>(
        &self,
        x: &[T],
        start: usize,
        add: impl Fn(A, T) -> A,
    ) -> [A; N] {
        let mut sums = [A::default(); N];
        for mut at in self.outer_offsets(start) {
            for _ in 0..self.reduced[2] {
                if let Some(x) = x.get(at..).and_then(|x| x.first_chunk::<N>()) {
                    for (sum, &x) in sums.iter_mut().zip(x) {
                        *sum = add(*sum, x);
                    }
                }
                at += self.reduced_strides[2];
            }
        }
        sums
    }

    /// Sum of the elements that begin at `start`.
    #[inline(always)]
    fn sum<T: Copy, A: Copy + Default>(&self, x: &[T], start: usize, add: impl Fn(A, T) -> A) -> A {
        let mut sum = A::default();
        for mut at in self.outer_offsets(start) {
            if self.reduced_strides[2] == 1 {
                sum = part(x, at, self.reduced[2]).iter().fold(sum, |sum, &x| add(sum, x));
                continue;
            }
            for _ in 0..self.reduced[2] {
                if let Some(&x) = x.get(at) {
                    sum = add(sum, x);
                }
                at += self.reduced_strides[2];
            }
        }
        sum
    }

    /// Places in `x` for every round of the outer reduced loops.
    #[inline(always)]
    fn outer_offsets(&self, start: usize) -> impl Iterator<Item = usize> + use<> {
        let ([e0, e1, _], [s0, s1, _]) = (self.reduced, self.reduced_strides);
        Offsets::new([e0, e1], [[s0], [s1]]).map(move |[offset]| start + offset)
    }
}

/// Mean over axes, f32.
///
/// `x`: up to six axes, `y`: the kept ones. Each mean is the sum of its elements in
/// the order of `x`, divided by their number. Writes `y` in order, a few elements at
/// a time, each after all elements of `x` that it needs have been read.
pub fn mean_f32(params: &impl Params<MeanF32>, x: &[f32], y: &mut [f32]) {
    let p = params.get();
    debug_assert_eq!(x.len(), p.reduction.kept_count() * p.reduction.count());
    debug_assert_eq!(y.len(), p.reduction.kept_count());
    let count = p.reduction.count() as f32;
    p.reduction.sums(x, y, |sum: f32, x| sum + x, |sum| sum / count);
}

/// Mean over axes, int8.
///
/// `x`: up to six axes, `y`: the kept ones. Writes `y` in order, a few elements at a
/// time, each after all elements of `x` that it needs have been read. With the factor
/// of a sum instead of that of a mean, this is the sum over axes.
pub fn mean_i8(params: &impl Params<MeanI8>, x: &[i8], y: &mut [i8]) {
    let p = params.get();
    debug_assert_eq!(x.len(), p.reduction.kept_count() * p.reduction.count());
    debug_assert_eq!(y.len(), p.reduction.kept_count());
    let factor = Multiplier { multiplier: p.multiplier, shift: p.shift };
    let zero = p.input_zero_point.wrapping_mul(p.reduction.count() as i32);
    p.reduction.sums(
        x,
        y,
        |sum: i32, x| sum.wrapping_add(i32::from(x)),
        |sum| p.output.limit(factor.apply(sum.wrapping_sub(zero), p.output.rounding())),
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
                kept: [1, 1, 6],
                kept_strides: [0, 0, 4],
                reduced: [1, 1, 4],
                reduced_strides: [0, 0, 1],
            },
            y: &[3, 11, 19, 27, 35, 43],
        },
        Case {
            name: "middle axis",
            reduction: Reduction {
                kept: [1, 2, 4],
                kept_strides: [0, 12, 1],
                reduced: [1, 1, 3],
                reduced_strides: [0, 0, 4],
            },
            y: &[8, 10, 12, 14, 32, 34, 36, 38],
        },
        Case {
            name: "first and last axis",
            reduction: Reduction {
                kept: [1, 1, 3],
                kept_strides: [0, 0, 4],
                reduced: [1, 2, 4],
                reduced_strides: [0, 12, 1],
            },
            y: &[15, 23, 31],
        },
        Case {
            name: "all",
            reduction: Reduction {
                kept: [1, 1, 1],
                kept_strides: [0, 0, 1],
                reduced: [1, 1, 24],
                reduced_strides: [0, 0, 1],
            },
            y: &[23],
        },
        Case {
            name: "(2, 12), first axis: a block and four",
            reduction: Reduction {
                kept: [1, 1, 12],
                kept_strides: [0, 0, 1],
                reduced: [1, 1, 2],
                reduced_strides: [0, 0, 12],
            },
            y: &[12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34],
        },
        Case {
            name: "(2, 2, 2, 3), axes 0 and 2",
            reduction: Reduction {
                kept: [1, 2, 3],
                kept_strides: [0, 6, 1],
                reduced: [1, 2, 2],
                reduced_strides: [0, 12, 3],
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
}
