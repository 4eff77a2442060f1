//! Processors that multiply one pair of numbers in an instruction.

use super::super::dot::{FILTERS, VECTORS};
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

/// Sets `y`, from the last output on, to the scaled sums, until one is shifted to the left or
/// has a multiplier below `2^30`; gives how many are left. Rounds twice.
///
/// `sums`, `bias`, `multipliers`, `shifts`: one for each output. With vectors there is a better
/// way, that of a [`Scaler`](crate::fixed_point::Scaler).
#[inline(always)]
pub(crate) fn requantize(
    factors: (&[i32], &[i8]),
    sums: (&[i32], &[i32]),
    zero_point: i32,
    y: &mut [i8],
) -> usize {
    if VECTORS { y.len() } else { requantize_one_by_one(factors, sums, zero_point, y) }
}

#[inline(always)]
fn requantize_one_by_one(
    (multipliers, shifts): (&[i32], &[i8]),
    (sums, bias): (&[i32], &[i32]),
    zero_point: i32,
    y: &mut [i8],
) -> usize {
    let left = y.len();
    let [Some(multipliers), Some(sums), Some(bias)] = [multipliers, sums, bias].map(|of| of.get(..left))
    else {
        return left;
    };
    let Some(shifts) = shifts.get(..left) else { return left };
    let outputs = y.iter_mut().zip(sums).zip(bias).zip(multipliers).zip(shifts).enumerate();
    for (i, ((((y, sum), bias), multiplier), shift)) in outputs.rev() {
        let doubled = multiplier << 1;
        if *shift >= 0 || doubled >= 0 {
            return i + 1;
        }
        let sum = sum.wrapping_add(*bias);
        // `(sum * multiplier + 2^30) >> 31`: the doubled multiplier is `2^32` too small.
        let product = rounded_high_product(sum, doubled).wrapping_add(sum);
        // The second rounding, ties away from zero.
        let halves = product.wrapping_add(product >> 31) >> (!i32::from(*shift) & 31);
        let steps = halves.wrapping_add(1) >> 1;
        *y = steps.wrapping_add(zero_point).clamp(i8::MIN.into(), i8::MAX.into()) as i8;
    }
    0
}

/// `(a * b + 2^31) >> 32`.
#[inline(always)]
#[cfg(not(aot_armv6m))]
const fn rounded_high_product(a: i32, b: i32) -> i32 {
    let product = a as i64 * b as i64;
    ((product >> 32) as i32).wrapping_add((product >> 31 & 1) as i32)
}

/// `(a * b + 2^31) >> 32`, by halves of words: there are no products of 64 bits.
#[inline(always)]
#[cfg(any(aot_armv6m, test))]
const fn rounded_high_product_by_halves(a: i32, b: i32) -> i32 {
    let [(a_low, a_high), (b_low, b_high)] = [(a & 0xffff, a >> 16), (b & 0xffff, b >> 16)];
    let low = (a_low as u32).wrapping_mul(b_low as u32);
    // At most 2^31 - 2^15 in magnitude, as is the next one.
    let middle = a_high.wrapping_mul(b_low).wrapping_add((low >> 16) as i32);
    let other = a_low.wrapping_mul(b_high).wrapping_add(middle & 0xffff);
    let high = a_high.wrapping_mul(b_high).wrapping_add(middle >> 16).wrapping_add(other >> 16);
    high.wrapping_add(other >> 15 & 1)
}
#[cfg(aot_armv6m)]
use rounded_high_product_by_halves as rounded_high_product;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixed_point::{Multiplier, Rounding};
    use crate::kernels::tests::Random;

    #[test]
    fn products_by_halves() {
        let edges = [0, 1, -1, 0x7fff, 0x8000, 0xffff, -0x8000, -0x1_0000, i32::MIN, i32::MAX];
        let mut random = Random(5);
        let numbers =
            random.array::<256>().map(|high| i32::from(high) << 24 | i32::from(random.array::<1>()[0]) << 7);
        for a in edges.into_iter().chain(numbers) {
            for b in edges.into_iter().chain(numbers) {
                let expect = ((i128::from(a) * i128::from(b) + (1 << 31)) >> 32) as i32;
                assert_eq!(rounded_high_product(a, b), expect);
                assert_eq!(rounded_high_product_by_halves(a, b), expect, "{a} {b}");
            }
        }
    }

    /// Against the factors of `fixed_point`, which are tested by their definition; up to the first
    /// output that is not usual.
    #[test]
    fn outputs_from_the_last_on() {
        let mut random = Random(7);
        for round in 0..400 {
            let sums = random.array::<6>().map(|sum| i32::from(sum) << (round % 24));
            let bias = random.array::<6>().map(|bias| i32::from(bias) * 1000);
            let multipliers = random
                .array::<6>()
                .map(|m| (i32::from(m).cast_unsigned() << 7 & 0x3fff_ffff | 1 << 30).cast_signed());
            let mut shifts = random.array::<6>().map(|shift| -1 - (shift & 15));
            shifts[round % 6] = if round % 3 == 0 { 0 } else { shifts[round % 6] };
            let mut y = [77; 6];
            let left = requantize_one_by_one((&multipliers, &shifts), (&sums, &bias), -3, &mut y);
            assert_eq!(left, shifts.iter().rposition(|shift| *shift >= 0).map_or(0, |last| last + 1));
            for i in 0..6 {
                let factor = Multiplier { multiplier: multipliers[i], shift: shifts[i].into() };
                let expect = (factor.apply(sums[i] + bias[i], Rounding::Double) - 3).clamp(-128, 127);
                assert_eq!(i32::from(y[i]), if i < left { 77 } else { expect }, "{factor:?}");
            }
        }
        let none = requantize_one_by_one((&[1 << 30], &[-1]), (&[5, 5], &[0, 0]), 0, &mut [0; 2]);
        assert_eq!(none, 2);
    }
}
