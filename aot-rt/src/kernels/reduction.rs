//! The loops of kernels that reduce any set of axes.

use super::dot::VECTORS;
use super::kernel_params;
use super::loops::{Offsets, chunks_mut, part};

kernel_params! {
    /// Which elements of `x` each element of `y` is made of.
    ///
    /// Neighbouring axes of `x` that are both kept or both reduced are one loop; eight
    /// axes need no more than four of each. Loops go from the outermost to the
    /// innermost, and those that are not needed come first, with the extent 1.
    pub struct Reduction {
        /// Rounds of the loops over the kept axes, which are those of `y`.
        pub kept: [usize; 4],
        /// Elements of `x` from one round to the next.
        pub kept_strides: [usize; 4],
        /// Rounds of the loops over the reduced axes.
        pub reduced: [usize; 4],
        /// Elements of `x` from one round to the next.
        pub reduced_strides: [usize; 4],
    }
}

/// Elements of `y` that are reduced together.
const BLOCK: usize = if VECTORS { 8 } else { 4 };

impl Reduction {
    /// Number of elements of `x` that make one element of `y`.
    #[inline(always)]
    pub(super) fn count(&self) -> usize {
        self.reduced.iter().product()
    }

    /// Number of elements of `y`.
    #[inline(always)]
    pub(super) fn kept_count(&self) -> usize {
        self.kept.iter().product()
    }

    /// Computes every element of `y`: `finish` of what `fold` makes of `init` and the
    /// elements in the order of `x`.
    ///
    /// Writes `y` in order, a few elements at a time, each after all elements of `x` that
    /// it needs have been read.
    #[inline(always)]
    pub(super) fn fold<T: Copy, A: Copy, Y>(
        &self,
        x: &[T],
        y: &mut [Y],
        init: A,
        fold: impl Fn(A, T) -> A + Copy,
        finish: impl Fn(A) -> Y + Copy,
    ) {
        debug_assert_eq!(x.len(), self.kept_count() * self.count());
        debug_assert_eq!(y.len(), self.kept_count());
        let ([e0, e1, e2, inner], [s0, s1, s2, stride]) = (self.kept, self.kept_strides);
        let outer = Offsets::new([e0, e1, e2], [[s0], [s1], [s2]]);
        for (y, [start]) in chunks_mut(y, inner).zip(outer) {
            // Neighbours in `x` are reduced in blocks.
            let (blocks, rest) = if stride == 1 { y.as_chunks_mut::<BLOCK>() } else { (&mut [][..], y) };
            let mut at = start;
            for y in blocks {
                *y = self.fold_block(x, at, init, fold).map(finish);
                at += BLOCK * stride;
            }
            for y in rest {
                *y = finish(self.fold_one(x, at, init, fold));
                at += stride;
            }
        }
    }

    /// Folds the elements that begin at `start` and right behind it.
    #[inline(always)]
    fn fold_block<T: Copy, A: Copy, const N: usize>(
        &self,
        x: &[T],
        start: usize,
        init: A,
        fold: impl Fn(A, T) -> A,
    ) -> [A; N] {
        let mut folded = [init; N];
        for mut at in self.outer_offsets(start) {
            for _ in 0..self.reduced[3] {
                if let Some(x) = x.get(at..).and_then(|x| x.first_chunk::<N>()) {
                    for (folded, &x) in folded.iter_mut().zip(x) {
                        *folded = fold(*folded, x);
                    }
                }
                at += self.reduced_strides[3];
            }
        }
        folded
    }

    /// Folds the elements that begin at `start`.
    #[inline(always)]
    fn fold_one<T: Copy, A: Copy>(&self, x: &[T], start: usize, init: A, fold: impl Fn(A, T) -> A) -> A {
        let mut folded = init;
        for mut at in self.outer_offsets(start) {
            if self.reduced_strides[3] == 1 {
                folded = part(x, at, self.reduced[3]).iter().fold(folded, |folded, &x| fold(folded, x));
                continue;
            }
            for _ in 0..self.reduced[3] {
                if let Some(&x) = x.get(at) {
                    folded = fold(folded, x);
                }
                at += self.reduced_strides[3];
            }
        }
        folded
    }

    /// Places in `x` for every round of the outer reduced loops.
    #[inline(always)]
    fn outer_offsets(&self, start: usize) -> impl Iterator<Item = usize> + use<> {
        let ([e0, e1, e2, _], [s0, s1, s2, _]) = (self.reduced, self.reduced_strides);
        Offsets::new([e0, e1, e2], [[s0], [s1], [s2]]).map(move |[offset]| start + offset)
    }
}
