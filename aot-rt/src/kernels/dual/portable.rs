//! The instructions in Rust.

use super::Pair;
use crate::kernels::dot::FILTERS;

#[inline(always)]
const fn halves(pair: u32) -> [i16; 2] {
    [pair as i16, (pair >> 16) as i16]
}

#[inline(always)]
pub(super) fn add_bytes(pair: u32, bytes: u32) -> u32 {
    let [first, second] = halves(pair);
    let first = first.wrapping_add((bytes as i8).into()).cast_unsigned();
    let second = second.wrapping_add(((bytes >> 16) as i8).into()).cast_unsigned();
    u32::from(second) << 16 | u32::from(first)
}

#[inline(always)]
pub(super) fn add_rotated_bytes(pair: u32, bytes: u32) -> u32 {
    add_bytes(pair, bytes.rotate_right(8))
}

#[inline(always)]
pub(super) fn multiply_add_low(sum: i32, a: u32, b: u32) -> i32 {
    sum.wrapping_add(i32::from(halves(a)[0]) * i32::from(halves(b)[0]))
}

#[inline(always)]
pub(super) fn multiply_add_high(sum: i32, a: u32, b: u32) -> i32 {
    sum.wrapping_add(i32::from(halves(a)[1]) * i32::from(halves(b)[1]))
}

/// `sum (x + minus_zero) * w` of four filters.
#[inline(always)]
pub(super) fn dots(x: &[[i8; 4]], minus_zero: u32, weights: &[i8], filter: usize) -> [i32; FILTERS] {
    core::array::from_fn(|n| {
        let weights = weights.get(n * filter..).unwrap_or_default().as_chunks().0;
        x.iter().zip(weights).fold(0, |sum, (x, w)| {
            let pairs = Pair(minus_zero).plus_bytes(*x).into_iter().zip(Pair::both(0).plus_bytes(*w));
            pairs
                .fold(sum, |sum, (x, w)| Pair::multiply_add_second(Pair::multiply_add_first(sum, x, w), x, w))
        })
    })
}
