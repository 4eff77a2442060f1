//! `arg_max` and `arg_min`: where the greatest or the least element along an axis is.
//!
//! The first one counts where several are equal. One that is NaN is never found but at the
//! beginning, where it stays, as in TensorFlow Lite Micro.

use super::kernel_params;
use super::loops::{chunks, chunks_mut};
use crate::Params;

kernel_params! {
    /// Parameters of [`arg_max_f32`] and its like.
    pub struct Arg {
        /// Elements of the axes before the one that is searched.
        pub outer: usize,
        /// Elements of the axis.
        pub extent: usize,
        /// Elements of the axes after it.
        pub inner: usize,
    }
}

/// Sets `y` to the index of the element that no other is `better` than.
///
/// `x`: `[outer, extent, inner]`, `y`: `[outer, inner]`, written in order.
#[inline(always)]
fn arg<T: Copy>(params: &impl Params<Arg>, x: &[T], y: &mut [i32], better: impl Fn(T, T) -> bool) {
    let p = params.get();
    debug_assert_eq!((x.len(), y.len()), (p.outer * p.extent * p.inner, p.outer * p.inner));
    for (x, y) in chunks(x, p.extent * p.inner).zip(chunks_mut(y, p.inner)) {
        for (y, (first, start)) in y.iter_mut().zip(x.iter().zip(0..)) {
            let mut best = *first;
            *y = 0;
            let (mut at, mut index) = (start + p.inner, 1);
            while let Some(&candidate) = x.get(at) {
                if better(candidate, best) {
                    best = candidate;
                    *y = index;
                }
                at += p.inner;
                index += 1;
            }
        }
    }
}

/// Index of the greatest element, f32.
pub fn arg_max_f32(params: &impl Params<Arg>, x: &[f32], y: &mut [i32]) {
    arg(params, x, y, |candidate, best| candidate > best);
}

/// Index of the greatest element, int8.
pub fn arg_max_i8(params: &impl Params<Arg>, x: &[i8], y: &mut [i32]) {
    arg(params, x, y, |candidate, best| candidate > best);
}

/// Index of the greatest element, int32.
pub fn arg_max_i32(params: &impl Params<Arg>, x: &[i32], y: &mut [i32]) {
    arg(params, x, y, |candidate, best| candidate > best);
}

/// Index of the least element, f32.
pub fn arg_min_f32(params: &impl Params<Arg>, x: &[f32], y: &mut [i32]) {
    arg(params, x, y, |candidate, best| candidate < best);
}

/// Index of the least element, int8.
pub fn arg_min_i8(params: &impl Params<Arg>, x: &[i8], y: &mut [i32]) {
    arg(params, x, y, |candidate, best| candidate < best);
}

/// Index of the least element, int32.
pub fn arg_min_i32(params: &impl Params<Arg>, x: &[i32], y: &mut [i32]) {
    arg(params, x, y, |candidate, best| candidate < best);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_one_counts() {
        let rows = Arg { outer: 2, extent: 3, inner: 1 };
        let mut y = [9; 2];
        arg_max_i8(&rows, &[1, 7, 7, -3, -4, -5], &mut y);
        assert_eq!(y, [1, 0]);
        arg_min_i8(&rows, &[1, 1, 0, -5, -4, -5], &mut y);
        assert_eq!(y, [2, 0]);
        arg_max_f32(&rows, &[1.0, f32::NAN, 2.0, f32::NAN, 3.0, 4.0], &mut y);
        assert_eq!(y, [2, 0]);
        arg_min_f32(&rows, &[1.0, f32::NEG_INFINITY, 2.0, 5.0, 3.0, 4.0], &mut y);
        assert_eq!(y, [1, 1]);
    }

    #[test]
    fn an_axis_in_the_middle() {
        let middle = Arg { outer: 2, extent: 2, inner: 2 };
        let x = [1, 2, 3, 0, i32::MIN, 5, i32::MAX, 5];
        let mut y = [9; 4];
        arg_max_i32(&middle, &x, &mut y);
        assert_eq!(y, [1, 0, 1, 0]);
        arg_min_i32(&middle, &x, &mut y);
        assert_eq!(y, [0, 1, 0, 0]);
    }
}
