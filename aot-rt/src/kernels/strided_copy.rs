//! `strided_copy`: blocks of bytes from one layout to another.
//!
//! All operators that only move elements come down to it: slices, transpositions, parts
//! of a concatenation, tiles, reversals, space to depth, ….

use super::kernel_params;
use super::loops::{Offsets, part, part_mut};
use crate::Params;

kernel_params! {
    /// Parameters of [`strided_copy_i8`].
    pub struct StridedCopyI8 {
        /// Rounds of each loop, the outermost first; 1 for those that are not needed.
        pub extents: [usize; 6],
        /// Byte of `x` at which the first block starts.
        pub x_start: usize,
        /// Bytes from one block of `x` to the next, for each loop: 0 to repeat one, negative
        /// to go backwards.
        pub x_strides: [i32; 6],
        /// Bytes from one block of `y` to the next, for each loop.
        pub y_strides: [usize; 6],
        /// Bytes that stand together in both: an element, a row, an image, ….
        pub block: usize,
    }
}

impl StridedCopyI8 {
    /// Calls `copy` with the offsets of each block.
    #[inline(always)]
    fn blocks(&self, mut copy: impl FnMut(usize, usize)) {
        let [e0, e1, e2, e3, e4, count] = self.extents;
        // Negative strides wrap, as do the sums.
        let [x0, x1, x2, x3, x4, x_stride] = self.x_strides.map(|stride| stride as isize as usize);
        let [y0, y1, y2, y3, y4, y_stride] = self.y_strides;
        let strides = [[x0, y0], [x1, y1], [x2, y2], [x3, y3], [x4, y4]];
        for [x, y] in Offsets::new([e0, e1, e2, e3, e4], strides) {
            let (mut x, mut y) = (self.x_start.wrapping_add(x), y);
            for _ in 0..count {
                copy(x, y);
                x = x.wrapping_add(x_stride);
                y = y.wrapping_add(y_stride);
            }
        }
    }

    /// Copies blocks of `N` bytes, which take no loop.
    #[inline(always)]
    fn elements<const N: usize>(&self, x: &[i8], y: &mut [i8]) {
        self.blocks(|from, to| {
            let x = x.get(from..).and_then(<[i8]>::first_chunk::<N>);
            let y = y.get_mut(to..).and_then(<[i8]>::first_chunk_mut::<N>);
            if let (Some(x), Some(y)) = (x, y) {
                *y = *x;
            }
        });
    }
}

/// Copies blocks of bytes between tensors of any element type.
///
/// `x`: bytes of which some are read, perhaps more than once; `y`: bytes of which some
/// are written, in the order of the loops.
pub fn strided_copy_i8(params: &impl Params<StridedCopyI8>, x: &[i8], y: &mut [i8]) {
    let p = params.get();
    debug_assert!(
        p.extents.iter().zip(p.y_strides).map(|(extent, stride)| (extent - 1) * stride).sum::<usize>()
            + p.block
            <= y.len()
    );
    match p.block {
        1 => p.elements::<1>(x, y),
        2 => p.elements::<2>(x, y),
        4 => p.elements::<4>(x, y),
        8 => p.elements::<8>(x, y),
        block => p.blocks(|from, to| {
            for (y, x) in part_mut(y, to, block).iter_mut().zip(part(x, from, block)) {
                *y = *x;
            }
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Case {
        name: &'static str,
        /// Rounds and strides of the innermost loops.
        loops: [(usize, i32, usize); 2],
        x_start: usize,
        block: usize,
        expect: [i8; 12],
    }

    /// Each on the bytes 1 to 12; bytes that are not written stay 0.
    #[test]
    fn strided_copy_cases() {
        for Case { name, loops: [outer, inner], x_start, block, expect } in [
            Case {
                name: "transposes 3x4",
                loops: [(4, 1, 3), (3, 4, 1)],
                x_start: 0,
                block: 1,
                expect: [1, 5, 9, 2, 6, 10, 3, 7, 11, 4, 8, 12],
            },
            Case {
                name: "transposes 2x3 of two bytes",
                loops: [(3, 2, 4), (2, 6, 2)],
                x_start: 0,
                block: 2,
                expect: [1, 2, 7, 8, 3, 4, 9, 10, 5, 6, 11, 12],
            },
            Case {
                name: "reverses rows of four bytes",
                loops: [(1, 0, 0), (3, -4, 4)],
                x_start: 8,
                block: 4,
                expect: [9, 10, 11, 12, 5, 6, 7, 8, 1, 2, 3, 4],
            },
            Case {
                name: "takes columns of three bytes",
                loops: [(1, 0, 0), (3, 4, 3)],
                x_start: 1,
                block: 3,
                expect: [2, 3, 4, 6, 7, 8, 10, 11, 12, 0, 0, 0],
            },
            Case {
                name: "repeats eight bytes with a gap",
                loops: [(1, 0, 0), (2, 0, 2)],
                x_start: 4,
                block: 8,
                expect: [5, 6, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0],
            },
            Case {
                name: "reads nothing beyond the end",
                loops: [(2, 8, 6), (2, 4, 3)],
                x_start: 3,
                block: 3,
                expect: [4, 5, 6, 8, 9, 10, 0, 0, 0, 0, 0, 0],
            },
        ] {
            let params = StridedCopyI8 {
                extents: [1, 1, 1, 1, outer.0, inner.0],
                x_start,
                x_strides: [0, 0, 0, 0, outer.1, inner.1],
                y_strides: [0, 0, 0, 0, outer.2, inner.2],
                block,
            };
            let x: [i8; 12] = core::array::from_fn(|i| i as i8 + 1);
            let mut y = [0; 12];
            strided_copy_i8(&params, &x, &mut y);
            assert_eq!(y, expect, "{name}");
        }
    }
}
