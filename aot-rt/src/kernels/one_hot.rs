//! `one_hot`: rows that are one value where an index says, and another elsewhere.

use super::kernel_params;
use super::loops::{chunks, chunks_mut};
use crate::Params;

kernel_params! {
    /// Parameters of [`one_hot_i32`] and [`one_hot_i64`].
    pub struct OneHot {
        /// Elements of the axes before the new one.
        pub outer: usize,
        /// Extent of the new axis.
        pub depth: usize,
        /// Elements of the axes after it.
        pub inner: usize,
        /// Bytes of an element of `y`.
        pub block: usize,
    }
}

/// Sets the elements of `y`. An index that the axis does not have sets none to `on`.
///
/// `x`: indices, `[outer, inner]`; `y`: `[outer, depth, inner]` of `block` bytes, written
/// in order; `on` and `off`: one such element.
#[inline(always)]
fn one_hot<T: Copy + TryInto<usize>>(
    params: &impl Params<OneHot>,
    x: &[T],
    y: &mut [i8],
    on: &[i8],
    off: &[i8],
) {
    let p = params.get();
    debug_assert_eq!((x.len(), y.len()), (p.outer * p.inner, p.outer * p.depth * p.inner * p.block));
    debug_assert_eq!((on.len(), off.len()), (p.block, p.block));
    let row = p.inner * p.block;
    for (x, y) in chunks(x, p.inner).zip(chunks_mut(y, p.depth * row)) {
        for (place, y) in (0..).zip(chunks_mut(y, row)) {
            for (&index, y) in x.iter().zip(chunks_mut(y, p.block)) {
                let is_on = index.try_into().is_ok_and(|index: usize| index == place);
                for (y, value) in y.iter_mut().zip(if is_on { on } else { off }) {
                    *y = *value;
                }
            }
        }
    }
}

/// Rows by int32 indices.
pub fn one_hot_i32(params: &impl Params<OneHot>, x: &[i32], y: &mut [i8], on: &[i8], off: &[i8]) {
    one_hot(params, x, y, on, off);
}

/// Rows by int64 indices.
pub fn one_hot_i64(params: &impl Params<OneHot>, x: &[i64], y: &mut [i8], on: &[i8], off: &[i8]) {
    one_hot(params, x, y, on, off);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_hot_cases() {
        let mut y = [9; 12];
        let last = OneHot { outer: 4, depth: 3, inner: 1, block: 1 };
        one_hot_i32(&last, &[2, 0, -1, 3], &mut y, &[7], &[-1]);
        assert_eq!(y, [-1, -1, 7, 7, -1, -1, -1, -1, -1, -1, -1, -1]);
        let first = OneHot { outer: 1, depth: 3, inner: 2, block: 2 };
        one_hot_i64(&first, &[1, i64::MAX], &mut y, &[1, 2], &[0, 0]);
        assert_eq!(y, [0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0]);
    }
}
