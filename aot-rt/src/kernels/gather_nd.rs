//! `gather_nd`: slices of a tensor, by an index for each of its first axes.

use super::kernel_params;
use super::loops::{chunks, chunks_mut, copy_or_clear, part};
use crate::Params;

kernel_params! {
    /// Parameters of [`gather_nd_i8`].
    pub struct GatherNdI8 {
        /// Slices of `y`.
        pub count: usize,
        /// Indices of a slice: one for each of so many axes of `x`.
        pub axes: usize,
        /// Extents of these axes.
        pub extents: [usize; 8],
        /// Bytes of `x` from one element of each of them to the next.
        pub strides: [usize; 8],
        /// Bytes of a slice.
        pub block: usize,
    }
}

impl GatherNdI8 {
    /// The byte at which a slice starts; `None` where `x` does not have it.
    #[inline(always)]
    fn start(&self, indices: &[i32]) -> Option<usize> {
        let axes = self.extents.iter().zip(&self.strides);
        indices.iter().zip(axes).try_fold(0_usize, |start, (&index, (&extent, &stride))| {
            let index = usize::try_from(index).ok().filter(|index| *index < extent)?;
            Some(start + index * stride)
        })
    }
}

/// Copies the slices that `indices` name, of any element type. A slice that `x` does not
/// have is zeros.
///
/// `x`: bytes, `indices`: `[count, axes]`, `y`: `[count, block]` bytes, written in order.
pub fn gather_nd_i8(params: &impl Params<GatherNdI8>, x: &[i8], y: &mut [i8], indices: &[i32]) {
    let p = params.get();
    debug_assert_eq!((indices.len(), y.len()), (p.count * p.axes, p.count * p.block));
    for (indices, y) in chunks(indices, p.axes).zip(chunks_mut(y, p.block)) {
        copy_or_clear(p.start(indices).map_or(&[][..], |start| part(x, start, p.block)), y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gather_nd_cases() {
        // (2, 3, 2)
        let x = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
        let params = |axes, count, block| GatherNdI8 {
            count,
            axes,
            extents: [2, 3, 2, 1, 1, 1, 1, 1],
            strides: [6, 2, 1, 0, 0, 0, 0, 0],
            block,
        };
        let mut y = [99; 6];
        gather_nd_i8(&params(1, 1, 6), &x, &mut y, &[1]);
        assert_eq!(y, [7, 8, 9, 10, 11, 12]);
        gather_nd_i8(&params(2, 3, 2), &x, &mut y, &[1, 2, 0, 0, 0, 1]);
        assert_eq!(y, [11, 12, 1, 2, 3, 4]);
        // Indices that are not there, though the place would be.
        gather_nd_i8(&params(3, 6, 1), &x, &mut y, &[0, 0, 1, 0, 0, 2, -1, 0, 0, 0, 3, 0, 2, 0, 0, 1, 2, 1]);
        assert_eq!(y, [2, 0, 0, 0, 0, 12]);
    }
}
