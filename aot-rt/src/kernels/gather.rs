//! `gather`: slices of a tensor, by indices that are known when the model runs.

use super::kernel_params;
use super::loops::{chunks, chunks_mut, part};
use crate::Params;

kernel_params! {
    /// Parameters of [`gather_i8`].
    pub struct GatherI8 {
        /// Elements of the axes before the one that the indices count along.
        pub outer: usize,
        /// Slices of `x` to choose from.
        pub extent: usize,
        /// Number of indices.
        pub indices: usize,
        /// Bytes of a slice.
        pub block: usize,
    }
}

/// Copies the slices that `indices` name, of any element type. A slice that `x` does not
/// have is zeros.
///
/// `x`: `[outer, extent, block]` bytes, `indices`: `[indices]`, `y`:
/// `[outer, indices, block]` bytes, written in order.
pub fn gather_i8(params: &impl Params<GatherI8>, x: &[i8], y: &mut [i8], indices: &[i32]) {
    let p = params.get();
    debug_assert_eq!(x.len(), p.outer * p.extent * p.block);
    debug_assert_eq!((indices.len(), y.len()), (p.indices, p.outer * p.indices * p.block));
    let outer = chunks(x, p.extent * p.block).zip(chunks_mut(y, p.indices * p.block));
    for (x, y) in outer {
        for (&index, y) in indices.iter().zip(chunks_mut(y, p.block)) {
            let index = usize::try_from(index).unwrap_or(p.extent).min(p.extent);
            let slice = part(x, index * p.block, p.block);
            if slice.is_empty() {
                y.fill(0);
            }
            for (y, x) in y.iter_mut().zip(slice) {
                *y = *x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gather_cases() {
        for (name, [outer, extent, block], indices, expect) in [
            ("slices of two bytes", [1, 4, 2], &[3, 0, 3][..], &[7, 8, 1, 2, 7, 8][..]),
            ("an inner axis", [2, 4, 1], &[2], &[3, 7]),
            ("slices that are not there", [2, 2, 2], &[2, -1, 1], &[0, 0, 0, 0, 3, 4, 0, 0, 0, 0, 7, 8]),
        ] {
            let params = GatherI8 { outer, extent, indices: indices.len(), block };
            let mut y = [9; 12];
            gather_i8(&params, &[1, 2, 3, 4, 5, 6, 7, 8], &mut y[..expect.len()], indices);
            assert_eq!(&y[..expect.len()], expect, "{name}");
        }
    }
}
