//! `select`: elements of one tensor or another, by a condition, with broadcasting.

use super::kernel_params;
use super::loops::{Offsets, chunks_mut, part};
use crate::Params;

kernel_params! {
    /// Parameters of [`select_i8`].
    pub struct SelectI8 {
        /// Rounds of each loop, the outermost first; 1 for those that are not needed.
        pub extents: [usize; 6],
        /// Elements of the condition from one round to the next: 0 where it is repeated.
        pub condition_strides: [usize; 6],
        /// Bytes of `a` from one round to the next, likewise.
        pub a_strides: [usize; 6],
        /// Bytes of `b` from one round to the next, likewise.
        pub b_strides: [usize; 6],
        /// Bytes for which there is one condition.
        pub block: usize,
    }
}

/// Copies blocks of bytes of `a` where the condition is not 0, of `b` elsewhere.
///
/// `x`: the condition, a byte for each element; `y`: written in order; `a` and `b`: bytes
/// of elements of any type. All have their own shapes, `y` the one that they are broadcast
/// to.
pub fn select_i8(params: &impl Params<SelectI8>, x: &[i8], y: &mut [i8], a: &[i8], b: &[i8]) {
    let p = params.get();
    let [e0, e1, e2, e3, e4, inner] = p.extents;
    let [c0, c1, c2, c3, c4, c_inner] = p.condition_strides;
    let [a0, a1, a2, a3, a4, a_inner] = p.a_strides;
    let [b0, b1, b2, b3, b4, b_inner] = p.b_strides;
    let strides = [[c0, a0, b0], [c1, a1, b1], [c2, a2, b2], [c3, a3, b3], [c4, a4, b4]];
    let outer = Offsets::new([e0, e1, e2, e3, e4], strides);
    for (y, [mut c_at, mut a_at, mut b_at]) in chunks_mut(y, inner * p.block).zip(outer) {
        for y in chunks_mut(y, p.block) {
            let chosen = match x.get(c_at) {
                Some(0) | None => part(b, b_at, p.block),
                Some(_) => part(a, a_at, p.block),
            };
            for (y, chosen) in y.iter_mut().zip(chosen) {
                *y = *chosen;
            }
            c_at += c_inner;
            a_at += a_inner;
            b_at += b_inner;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_chosen() {
        // A condition for each row of two bytes; `b` is one row.
        let params = SelectI8 {
            extents: [1, 1, 1, 1, 1, 3],
            condition_strides: [0, 0, 0, 0, 0, 1],
            a_strides: [0, 0, 0, 0, 0, 2],
            b_strides: [0; 6],
            block: 2,
        };
        let mut y = [0; 6];
        select_i8(&params, &[1, 0, -1], &mut y, &[1, 2, 3, 4, 5, 6], &[7, 8]);
        assert_eq!(y, [1, 2, 7, 8, 5, 6]);
        // A column of conditions for a row of bytes, (2, 1) to (2, 3).
        let params = SelectI8 {
            extents: [1, 1, 1, 1, 2, 3],
            condition_strides: [0, 0, 0, 0, 1, 0],
            a_strides: [0, 0, 0, 0, 0, 1],
            b_strides: [0, 0, 0, 0, 3, 1],
            block: 1,
        };
        select_i8(&params, &[0, 1], &mut y, &[1, 2, 3], &[4, 5, 6, 7, 8, 9]);
        assert_eq!(y, [4, 5, 6, 1, 2, 3]);
    }
}
