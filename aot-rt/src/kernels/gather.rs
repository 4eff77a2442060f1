//! `gather`: slices of a tensor, by indices that are known when the model runs.

use super::kernel_params;
use super::loops::{chunks, chunks_mut, copy_or_clear, part};
use crate::Params;

kernel_params! {
    /// Parameters of [`gather_i8`].
    pub struct GatherI8 {
        /// Elements of the axes that `x` and the indices share.
        pub batch: usize,
        /// Elements of the axes between these and the one that the indices count along.
        pub outer: usize,
        /// Slices of `x` to choose from.
        pub extent: usize,
        /// Number of indices in each batch.
        pub indices: usize,
        /// Bytes of a slice.
        pub block: usize,
    }
}

/// Copies the slices that `indices` name, of any element type. A slice that `x` does not
/// have is zeros.
///
/// `x`: `[batch, outer, extent, block]` bytes, `indices`: `[batch, indices]`, `y`:
/// `[batch, outer, indices, block]` bytes, written in order.
pub fn gather_i8(params: &impl Params<GatherI8>, x: &[i8], y: &mut [i8], indices: &[i32]) {
    let p = params.get();
    debug_assert_eq!(x.len(), p.batch * p.outer * p.extent * p.block);
    debug_assert_eq!(indices.len(), p.batch * p.indices);
    debug_assert_eq!(y.len(), p.batch * p.outer * p.indices * p.block);
    let (from, to) = (p.extent * p.block, p.indices * p.block);
    let batches = chunks(x, p.outer * from).zip(chunks_mut(y, p.outer * to)).zip(chunks(indices, p.indices));
    for ((x, y), indices) in batches {
        for (x, y) in chunks(x, from).zip(chunks_mut(y, to)) {
            p.slices(x, y, indices);
        }
    }
}

impl GatherI8 {
    /// Copies slices of one element of the axes before.
    #[inline(always)]
    fn slices(&self, x: &[i8], y: &mut [i8], indices: &[i32]) {
        for (&index, y) in indices.iter().zip(chunks_mut(y, self.block)) {
            let index = usize::try_from(index).unwrap_or(self.extent).min(self.extent);
            copy_or_clear(part(x, index * self.block, self.block), y);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gather_cases() {
        for (name, [batch, outer, extent, block], indices, expect) in [
            ("slices of two bytes", [1, 1, 4, 2], &[3, 0, 3][..], &[7, 8, 1, 2, 7, 8][..]),
            ("an inner axis", [1, 2, 4, 1], &[2], &[3, 7]),
            ("indices of each batch", [2, 1, 4, 1], &[2, 0, 3, 3], &[3, 1, 8, 8]),
            ("slices that are not there", [1, 2, 2, 2], &[2, -1, 1], &[0, 0, 0, 0, 3, 4, 0, 0, 0, 0, 7, 8]),
        ] {
            let params = GatherI8 { batch, outer, extent, indices: indices.len() / batch, block };
            let mut y = [9; 12];
            gather_i8(&params, &[1, 2, 3, 4, 5, 6, 7, 8], &mut y[..expect.len()], indices);
            assert_eq!(&y[..expect.len()], expect, "{name}");
        }
    }
}
