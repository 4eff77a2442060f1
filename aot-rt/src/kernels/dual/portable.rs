//! What the instructions compute, in Rust.

use crate::kernels::dot::FILTERS;

/// The product of `x + minus_zero`, which fits 16 bits, and `w`; `minus_zero` is in both
/// halves of its word.
#[inline(always)]
fn product(x: i8, minus_zero: u32, w: i8) -> i32 {
    i32::from(i16::from(x).wrapping_add(minus_zero as i16)) * i32::from(w)
}

/// `sum (x + minus_zero) * w` of four filters.
#[inline(always)]
pub(super) fn dots(x: &[[i8; 4]], minus_zero: u32, weights: &[i8], filter: usize) -> [i32; FILTERS] {
    core::array::from_fn(|n| {
        let products = x.as_flattened().iter().zip(weights.get(n * filter..).unwrap_or_default());
        products.fold(0, |sum: i32, (&x, &w)| sum.wrapping_add(product(x, minus_zero, w)))
    })
}

/// Adds the sums of `(x + minus_zero) * w` of four channels to theirs.
#[inline(always)]
pub(super) fn add_taps(
    sums: &mut [i32; FILTERS],
    taps: &[[usize; 2]],
    x: &[i8],
    minus_zero: u32,
    weights: &[i8],
) {
    for &[x_at, w_at] in taps {
        let [x, w] = [x.get(x_at..), weights.get(w_at..)].map(Option::unwrap_or_default);
        for ((sum, &x), &w) in sums.iter_mut().zip(x).zip(w) {
            *sum = sum.wrapping_add(product(x, minus_zero, w));
        }
    }
}
