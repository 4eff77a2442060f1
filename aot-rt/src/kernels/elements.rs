//! Where the operands of an elementwise kernel lie.

use super::images::Apart;
use super::kernel_params;
use super::loops::{Offsets, chunks_mut, part};

kernel_params! {
    /// How the elements of two operands meet: nested loops over the elements of `y`,
    /// from the outermost to the innermost. Loops that are not needed come first,
    /// with the extent 1; operands of equal shape need one.
    pub struct Broadcast {
        /// Rounds of each loop.
        pub extents: [usize; 6],
        /// Elements of `a` from one round to the next: 0 where `a` is repeated. The
        /// last is 0 or 1.
        pub a_strides: [usize; 6],
        /// Elements of `b` from one round to the next, likewise.
        pub b_strides: [usize; 6],
    }
}

impl Broadcast {
    /// The same with the operands exchanged.
    #[must_use]
    pub const fn swapped(self) -> Self {
        Self { a_strides: self.b_strides, b_strides: self.a_strides, ..self }
    }
}

/// The operand `x` and the result `y` of an elementwise kernel, of equal shapes.
pub trait Elements<T> {
    /// Sets each of `len` elements of `y` to a function of that of `x`.
    #[doc(hidden)]
    fn map(self, len: usize, function: impl Fn(T) -> T);
    /// Sets each element of `y` to a function of those of `x` and `b` that meet there;
    /// `x` may be repeated where it lies apart.
    #[doc(hidden)]
    fn zip(self, broadcast: &Broadcast, b: &[T], pair: impl Fn(T, T) -> T);
    /// Calls `rows` with `y`, which holds `x`.
    #[doc(hidden)]
    fn in_place(self, rows: impl FnOnce(&mut [T]));
}

/// `y` takes the place of `x`, element by element.
#[derive(Debug)]
pub struct InPlace<'a, T>(pub &'a mut [T]);

impl<T: Copy> Elements<T> for InPlace<'_, T> {
    #[inline(always)]
    fn map(self, len: usize, function: impl Fn(T) -> T) {
        debug_assert_eq!(self.0.len(), len);
        for y in self.0.iter_mut().take(len) {
            *y = function(*y);
        }
    }

    #[inline(always)]
    fn zip(self, broadcast: &Broadcast, b: &[T], pair: impl Fn(T, T) -> T) {
        let [e0, e1, e2, e3, e4, inner] = broadcast.extents;
        let [b0, b1, b2, b3, b4, b_inner] = broadcast.b_strides;
        let outer = Offsets::new([e0, e1, e2, e3, e4], [[b0], [b1], [b2], [b3], [b4]]);
        for (y, [b_start]) in chunks_mut(self.0, inner).zip(outer) {
            match (b_inner, part(b, b_start, if b_inner == 0 { 1 } else { inner })) {
                (0, &[b]) => y.iter_mut().for_each(|y| *y = pair(*y, b)),
                (_, b) => y.iter_mut().zip(b).for_each(|(y, &b)| *y = pair(*y, b)),
            }
        }
    }

    #[inline(always)]
    fn in_place(self, rows: impl FnOnce(&mut [T])) {
        rows(self.0);
    }
}

impl<T: Copy> Elements<T> for Apart<'_, T> {
    #[inline(always)]
    fn map(self, len: usize, function: impl Fn(T) -> T) {
        debug_assert_eq!((self.x.len(), self.y.len()), (len, len));
        for (&x, y) in self.x.iter().zip(self.y).take(len) {
            *y = function(x);
        }
    }

    #[inline(always)]
    fn zip(self, broadcast: &Broadcast, b: &[T], pair: impl Fn(T, T) -> T) {
        zip_into(broadcast, self.x, b, self.y, pair);
    }

    #[inline(always)]
    fn in_place(self, rows: impl FnOnce(&mut [T])) {
        for (y, &x) in self.y.iter_mut().zip(self.x) {
            *y = x;
        }
        rows(self.y);
    }
}

/// Sets each element of `y` to a function of those of `x`, called `a` in the parameters,
/// and `b` that meet there.
#[inline(always)]
pub(super) fn zip_into<T: Copy, U>(
    broadcast: &Broadcast,
    x: &[T],
    b: &[T],
    y: &mut [U],
    pair: impl Fn(T, T) -> U,
) {
    let [e0, e1, e2, e3, e4, inner] = broadcast.extents;
    let [a0, a1, a2, a3, a4, a_inner] = broadcast.a_strides;
    let [b0, b1, b2, b3, b4, b_inner] = broadcast.b_strides;
    let outer = Offsets::new([e0, e1, e2, e3, e4], [[a0, b0], [a1, b1], [a2, b2], [a3, b3], [a4, b4]]);
    for (y, [a_start, b_start]) in chunks_mut(y, inner).zip(outer) {
        let a = part(x, a_start, if a_inner == 0 { 1 } else { inner });
        let b = part(b, b_start, if b_inner == 0 { 1 } else { inner });
        match (a_inner, b_inner, a, b) {
            (0, 0, &[a], &[b]) => y.iter_mut().for_each(|y| *y = pair(a, b)),
            (0, _, &[a], b) => y.iter_mut().zip(b).for_each(|(y, &b)| *y = pair(a, b)),
            (_, 0, a, &[b]) => y.iter_mut().zip(a).for_each(|(y, &a)| *y = pair(a, b)),
            _ => y.iter_mut().zip(a).zip(b).for_each(|((y, &a), &b)| *y = pair(a, b)),
        }
    }
}
