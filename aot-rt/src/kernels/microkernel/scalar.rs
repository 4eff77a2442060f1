//! Processors that multiply one pair of numbers in an instruction.

use super::super::dot::FILTERS;
use super::has;

/// Four cells of 16 bits.
pub(crate) type Four = [i16; 4];

/// Four zeros.
pub(super) const ZERO: Four = [0; 4];

/// Sets one of four cells.
#[inline(always)]
pub(super) fn set(four: &mut Four, at: usize, x: i16) {
    if let Some(cell) = four.get_mut(at) {
        *cell = x;
    }
}

/// Sets as many cells to `x - zero`.
#[inline(always)]
pub(super) fn widen(x: &[[i8; 4]], zero: i16, to: &mut [Four]) {
    for (to, x) in to.as_flattened_mut().iter_mut().zip(x.as_flattened()) {
        *to = i16::from(*x).wrapping_sub(zero);
    }
}

/// Adds `sum x * w` of filters, `filter` weights apart, to their sums, four by four; nothing
/// where there are not as many weights.
#[inline(never)]
pub(super) fn dots(x: &[Four], sums: &mut [[i32; FILTERS]], weights: &[i8], filter: usize) {
    let x = x.as_flattened();
    let mut first = 0;
    for sums in sums {
        let weights = |n: usize| weights.get(first + n * filter..)?.get(..x.len());
        let (Some(a), Some(b), Some(c), Some(d)) = (weights(0), weights(1), weights(2), weights(3)) else {
            return;
        };
        let [mut a_sum, mut b_sum, mut c_sum, mut d_sum] = *sums;
        for ((((&x, &a), &b), &c), &d) in x.iter().zip(a).zip(b).zip(c).zip(d) {
            let product = |w: i8| i32::from(x) * i32::from(w);
            a_sum = a_sum.wrapping_add(product(a));
            b_sum = b_sum.wrapping_add(product(b));
            c_sum = c_sum.wrapping_add(product(c));
            d_sum = d_sum.wrapping_add(product(d));
        }
        *sums = [a_sum, b_sum, c_sum, d_sum];
        first += FILTERS * filter;
    }
}

/// `sum x * w` of as many cells as there are weights, and `sum`.
#[inline(never)]
pub(super) fn dot(x: &[Four], weights: &[i8], sum: i32) -> i32 {
    let products = x.as_flattened().iter().zip(weights).map(|(&x, &w)| i32::from(x) * i32::from(w));
    products.fold(sum, i32::wrapping_add)
}

/// Sets `y`, from the last output on, to the scaled sums, as far as there is a better way than
/// that of a [`Scaler`](crate::fixed_point::Scaler): there is none. Gives how many are left.
#[inline(always)]
pub(crate) fn requantize(_: (&[i32], &[i8]), _: (&[i32], &[i32]), _zero_point: i32, y: &mut [i8]) -> usize {
    y.len()
}

/// Adds the sums of `(x - zero) * w` to those of channels that follow each other, four by
/// four; nothing where a tap is beyond `x` or `weights`: `last` has the largest offsets.
#[inline(always)]
pub(super) fn add_taps(
    sums: &mut [[i32; FILTERS]],
    (taps, last): (&[[usize; 2]], [usize; 2]),
    x: &[i8],
    zero: i16,
    w: &[i8],
) {
    let channels = FILTERS * sums.len();
    if !has(x, last[0], channels) || !has(w, last[1], channels) {
        return;
    }
    let mut base = 0;
    for to in sums {
        // Of their own, or compilers store them for every tap.
        let mut sums = *to;
        for &[x_at, w_at] in taps {
            let [x, w] = [x.get(x_at + base..), w.get(w_at + base..)].map(Option::unwrap_or_default);
            let (Some(x), Some(w)) = (x.first_chunk::<FILTERS>(), w.first_chunk::<FILTERS>()) else { return };
            for ((sum, &x), &w) in sums.iter_mut().zip(x).zip(w) {
                *sum = sum.wrapping_add(i32::from(i16::from(x).wrapping_sub(zero)) * i32::from(w));
            }
        }
        *to = sums;
        base += FILTERS;
    }
}
