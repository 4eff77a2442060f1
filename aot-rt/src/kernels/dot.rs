//! Dot products: the inner loops of matrix products and convolutions.
//!
//! The int8 forms multiply 16-bit differences into 32 bits, which compilers know as
//! one instruction on many processors. The float forms keep eight partial sums, so
//! that their order, and with it every bit, is the same on every target.

/// Partial sums of the float products.
const LANES: usize = 8;

/// Partial sums of a float dot product.
pub(crate) type Sums = [f32; LANES];

/// `sum (x - x_zero) * (w - w_zero)`; differences of int8 values fit 16 bits.
#[inline(always)]
pub(crate) fn dot_i8(x: &[i8], x_zero: i16, w: &[i8], w_zero: i16) -> i32 {
    x.iter().zip(w).fold(0, |sum: i32, (&x, &w)| {
        let x = i16::from(x).wrapping_sub(x_zero);
        let w = i16::from(w).wrapping_sub(w_zero);
        sum.wrapping_add(i32::from(x) * i32::from(w))
    })
}

/// Adds `sum (x - x_zero) * w` for four `w` to `sums`.
#[inline(always)]
pub(crate) fn dot4_i8(sums: &mut [i32; 4], x: &[i8], x_zero: i16, [a, b, c, d]: [&[i8]; 4]) {
    let mut local = [0_i32; 4];
    for ((((&x, &a), &b), &c), &d) in x.iter().zip(a).zip(b).zip(c).zip(d) {
        let x = i32::from(i16::from(x).wrapping_sub(x_zero));
        local[0] = local[0].wrapping_add(x * i32::from(a));
        local[1] = local[1].wrapping_add(x * i32::from(b));
        local[2] = local[2].wrapping_add(x * i32::from(c));
        local[3] = local[3].wrapping_add(x * i32::from(d));
    }
    for (sum, local) in sums.iter_mut().zip(local) {
        *sum = sum.wrapping_add(local);
    }
}

/// Adds the products of `x` and `w` to `sums`, element `i` to sum `i % 8`.
#[inline(always)]
pub(crate) fn dot_f32(sums: &mut Sums, x: &[f32], w: &[f32]) {
    let ((x, x_tail), (w, w_tail)) = (x.as_chunks::<LANES>(), w.as_chunks::<LANES>());
    for (x, w) in x.iter().zip(w) {
        for ((sum, x), w) in sums.iter_mut().zip(x).zip(w) {
            *sum += x * w;
        }
    }
    for ((sum, x), w) in sums.iter_mut().zip(x_tail).zip(w_tail) {
        *sum += x * w;
    }
}

/// The sum of the partial sums.
#[inline(always)]
pub(crate) fn total(sums: Sums) -> f32 {
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}
