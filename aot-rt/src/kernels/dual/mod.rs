//! Products of 16-bit numbers, two in one instruction: what Armv7E-M and Armv8-M processors
//! with DSP instructions have.
//!
//! They are inline assembly, since `core` has no stable function for them. The twin that
//! other targets compile gives the same bits; its tests run on the host.

#[cfg(aot_dsp)]
mod arm;
#[cfg(not(aot_dsp))]
mod portable;

#[cfg(aot_dsp)]
use arm as instructions;
#[cfg(not(aot_dsp))]
use portable as instructions;

use super::dot::{FILTERS, product};

/// Whether the target has these instructions: `build.rs` knows.
pub(crate) const DUAL: bool = cfg!(aot_dsp);

/// Two numbers of 16 bits, the first in the lower half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair(u32);

impl Pair {
    /// The same number twice.
    #[inline(always)]
    pub(crate) const fn both(number: i16) -> Self {
        let half = number.cast_unsigned() as u32;
        Self(half << 16 | half)
    }

    /// `self` added to bytes 0 and 2 of four numbers of 8 bits, and to bytes 1 and 3.
    #[inline(always)]
    pub(crate) fn plus_bytes(self, bytes: [i8; 4]) -> [Self; 2] {
        let word = u32::from_le_bytes(bytes.map(i8::cast_unsigned));
        [instructions::add_bytes(self.0, word), instructions::add_rotated_bytes(self.0, word)].map(Self)
    }

    /// `sum` and the product of the first numbers.
    #[inline(always)]
    pub(crate) fn multiply_add_first(sum: i32, a: Self, b: Self) -> i32 {
        instructions::multiply_add_low(sum, a.0, b.0)
    }

    /// `sum` and the product of the second numbers.
    #[inline(always)]
    pub(crate) fn multiply_add_second(sum: i32, a: Self, b: Self) -> i32 {
        instructions::multiply_add_high(sum, a.0, b.0)
    }
}

/// `sum (x - zero) * w` of four filters, `filter` elements from one to the next; 0 where
/// they are too short.
#[inline(always)]
pub(crate) fn dots(x: &[i8], zero: i16, weights: &[i8], filter: usize) -> [i32; FILTERS] {
    let Some(weights) = weights.get(..3 * filter + x.len()) else { return [0; FILTERS] };
    let (fours, tail) = x.as_chunks();
    let mut sums = instructions::dots(fours, Pair::both(zero.wrapping_neg()).0, weights, filter);
    let first = x.len() - tail.len();
    for (n, sum) in sums.iter_mut().enumerate() {
        let weights = weights.get(n * filter + first..).unwrap_or_default();
        for (&x, &w) in tail.iter().zip(weights) {
            *sum = sum.wrapping_add(product(x, zero, w));
        }
    }
    sums
}

/// Adds the products `(x - zero) * w` of channels to their sums, four at a time.
#[inline(always)]
pub(crate) fn multiply_add_fours<const N: usize>(
    sums: &mut [i32; N],
    x: &[i8; N],
    zero: i16,
    weights: &[i8; N],
) {
    let ((sums, sums_tail), (x, x_tail)) = (sums.as_chunks_mut::<4>(), x.as_chunks());
    let (weights, weights_tail) = weights.as_chunks();
    for (([a, b, c, d], x), w) in sums.iter_mut().zip(x).zip(weights) {
        let [x_even, x_odd] = Pair::both(zero.wrapping_neg()).plus_bytes(*x);
        let [w_even, w_odd] = Pair::both(0).plus_bytes(*w);
        *a = Pair::multiply_add_first(*a, x_even, w_even);
        *b = Pair::multiply_add_first(*b, x_odd, w_odd);
        *c = Pair::multiply_add_second(*c, x_even, w_even);
        *d = Pair::multiply_add_second(*d, x_odd, w_odd);
    }
    for ((sum, &x), &w) in sums_tail.iter_mut().zip(x_tail).zip(weights_tail) {
        *sum = sum.wrapping_add(product(x, zero, w));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_four_bytes() {
        let bytes = [-128, 1, 127, -1];
        assert_eq!(Pair::both(0).plus_bytes(bytes), [Pair(0x007f_ff80), Pair(0xffff_0001)]);
        assert_eq!(Pair::both(128).plus_bytes(bytes), [Pair(0x00ff_0000), Pair(0x007f_0081)]);
    }

    #[test]
    fn products_are_added() {
        let [a, b] = [Pair(0xfffe_0003), Pair(0x0007_fffb)];
        assert_eq!(Pair::multiply_add_first(1, a, b), 1 - 15);
        assert_eq!(Pair::multiply_add_second(1, a, b), 1 - 14);
        assert_eq!(Pair::multiply_add_first(i32::MAX, Pair::both(1), Pair::both(1)), i32::MIN);
    }

    #[test]
    fn channels_in_fours() {
        let (x, w) = ([-128, 127, 3, -4, 5, 100], [-128, 127, -7, 9, -128, 2]);
        let mut sums = [i32::MAX, 1, 2, 3, 4, 5];
        multiply_add_fours(&mut sums, &x, 127, &w);
        assert_eq!(
            sums,
            [i32::MAX.wrapping_add(255 * 128), 1, 2 + 124 * 7, 3 - 131 * 9, 4 + 122 * 128, 5 - 27 * 2]
        );
    }

    /// Against the sums as they are defined, with every rest of a division by four.
    #[test]
    fn four_filters() {
        for len in 0..13 {
            let filter = len + 3;
            let x: [i8; 12] = core::array::from_fn(|i| (i * 37 % 256) as u8 as i8);
            let weights: [i8; 64] = core::array::from_fn(|i| (i * 91 % 256) as u8 as i8);
            let expect = core::array::from_fn(|n| {
                let products = (0..len).map(|i| (i32::from(x[i]) + 128) * i32::from(weights[n * filter + i]));
                products.sum::<i32>()
            });
            assert_eq!(dots(&x[..len], -128, &weights[..3 * filter + len], filter), expect, "{len}");
        }
        assert_eq!(dots(&[1; 4], 0, &[1; 15], 4), [0; 4]);
    }
}
