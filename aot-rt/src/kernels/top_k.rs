//! `top_k`: the indices of each row's greatest elements, in descending order.
//!
//! Of equal elements the first one comes first. [`gather_i8`](super::gather_i8) gets the
//! elements themselves.

use super::kernel_params;
use super::loops::{chunks, chunks_mut};
use crate::Params;

kernel_params! {
    /// Parameters of [`top_k_f32`] and its like.
    pub struct TopK {
        /// Rows of `x` and `y`.
        pub rows: usize,
        /// Elements of a row of `x`.
        pub columns: usize,
        /// Elements of a row of `y`.
        pub k: usize,
    }
}

/// Inserts every element of a row of `x` where it belongs among the greatest so far.
///
/// `x`: `[rows, columns]`, `y`: `[rows, k]`.
#[inline(always)]
fn top_k<T: Copy + PartialOrd>(params: &impl Params<TopK>, x: &[T], y: &mut [i32]) {
    let p = params.get();
    debug_assert_eq!((x.len(), y.len()), (p.rows * p.columns, p.rows * p.k));
    for (x, y) in chunks(x, p.columns).zip(chunks_mut(y, p.k)) {
        for (candidate, index) in x.iter().zip(0..) {
            insert(x, y, *candidate, index);
        }
    }
}

/// Inserts element `index`, of which so many are before it, into the indices `y`.
#[inline(always)]
fn insert<T: Copy + PartialOrd>(x: &[T], y: &mut [i32], candidate: T, index: i32) {
    let count = (index as usize).min(y.len());
    let filled = y.get(..count).unwrap_or_default();
    let is_less = |at: &&i32| x.get(**at as usize).is_some_and(|x| *x < candidate);
    let place = count - filled.iter().rev().take_while(is_less).count();
    // The last one falls out where all places are taken.
    let behind = y.get_mut(place..=count.min(y.len().saturating_sub(1))).unwrap_or_default();
    let mut next = index;
    for at in behind {
        next = core::mem::replace(at, next);
    }
}

/// Indices of the greatest elements, f32.
pub fn top_k_f32(params: &impl Params<TopK>, x: &[f32], y: &mut [i32]) {
    top_k(params, x, y);
}

/// Indices of the greatest elements, int8.
pub fn top_k_i8(params: &impl Params<TopK>, x: &[i8], y: &mut [i32]) {
    top_k(params, x, y);
}

/// Indices of the greatest elements, int32.
pub fn top_k_i32(params: &impl Params<TopK>, x: &[i32], y: &mut [i32]) {
    top_k(params, x, y);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_equal_ones_comes_first() {
        let x = [1, 3, 3, -3, 5, 3, 1];
        for (k, expect) in [(1, &[4][..]), (2, &[4, 1]), (4, &[4, 1, 2, 5]), (7, &[4, 1, 2, 5, 0, 6, 3])] {
            let mut y = [9; 7];
            top_k_i8(&TopK { rows: 1, columns: 7, k }, &x, &mut y[..k]);
            assert_eq!(&y[..k], expect);
        }
    }

    #[test]
    fn every_row_by_itself() {
        let mut y = [9; 4];
        let params = TopK { rows: 2, columns: 3, k: 2 };
        top_k_i32(&params, &[i32::MIN, i32::MAX, 0, 3, 2, 1], &mut y);
        assert_eq!(y, [1, 2, 0, 1]);
        top_k_f32(&params, &[0.0, f32::INFINITY, f32::NAN, -1.0, -0.5, -0.25], &mut y);
        assert_eq!(y, [1, 0, 2, 1]);
    }
}
