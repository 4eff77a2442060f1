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

/// A number of 16 bits twice, in the halves of a word.
const fn both(number: i16) -> u32 {
    let half = number.cast_unsigned() as u32;
    half << 16 | half
}

/// `sum (x - zero) * w` of four filters, `filter` elements from one to the next; 0 where
/// they are too short.
#[inline(always)]
pub(crate) fn dots(x: &[i8], zero: i16, weights: &[i8], filter: usize) -> [i32; FILTERS] {
    let Some(weights) = weights.get(..3 * filter + x.len()) else { return [0; FILTERS] };
    let (fours, tail) = x.as_chunks();
    let mut sums = instructions::dots(fours, both(zero.wrapping_neg()), weights, filter);
    let first = x.len() - tail.len();
    for (n, sum) in sums.iter_mut().enumerate() {
        let weights = weights.get(n * filter + first..).unwrap_or_default();
        for (&x, &w) in tail.iter().zip(weights) {
            *sum = sum.wrapping_add(product(x, zero, w));
        }
    }
    sums
}

/// The cells under a window: where their first channels are in `x` and in the weights.
pub(crate) struct Listed {
    offsets: [[usize; 2]; MAX_TAPS],
    count: usize,
    /// The largest offsets.
    last: [usize; 2],
}

/// Most cells of a window that are listed.
const MAX_TAPS: usize = 25;

impl Listed {
    /// A list without cells.
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Self { offsets: [[0; 2]; MAX_TAPS], count: 0, last: [0; 2] }
    }

    /// Lists a cell, if there is room.
    #[inline(always)]
    pub(crate) fn push(&mut self, offsets: [usize; 2]) -> bool {
        let Some(next) = self.offsets.get_mut(self.count) else { return false };
        *next = offsets;
        self.last = [self.last[0].max(offsets[0]), self.last[1].max(offsets[1])];
        self.count += 1;
        true
    }

    /// Adds the sums of `(x - zero) * w` of four channels; nothing where one of the cells is
    /// not there.
    #[inline(always)]
    pub(crate) fn add_to(&self, sums: &mut [i32; FILTERS], x: &[i8], zero: i16, weights: &[i8]) {
        let taps = self.offsets.get(..self.count).unwrap_or_default();
        let there = |[x_at, w_at]: [usize; 2]| x_at + 4 <= x.len() && w_at + 4 <= weights.len();
        if there(self.last) {
            instructions::add_taps(sums, taps, x, both(zero.wrapping_neg()), weights);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_in_fours() {
        let (x, w) = ([9, -128, 127, 3, -4, 5, 100, 6], [-128, 127, -7, 9, -128, 2, 77]);
        let mut taps = Listed::new();
        assert!(taps.push([1, 0]) && taps.push([4, 3]));
        let mut sums = [i32::MAX, 1, 2, 3];
        taps.add_to(&mut sums, &x, 127, &w);
        let first = [255 * 128, 0, 124 * 7, -131 * 9];
        let second = [-131 * 9, 122 * 128, -27 * 2, -121 * 77];
        let expect = core::array::from_fn(|i| [i32::MAX, 1, 2, 3][i].wrapping_add(first[i] + second[i]));
        assert_eq!(sums, expect);
        // One cell is not there.
        assert!(taps.push([5, 0]));
        taps.add_to(&mut sums, &x, 127, &w);
        assert_eq!(sums, expect);
        let room = (3..=MAX_TAPS).filter(|_| taps.push([0, 0])).count();
        assert_eq!(room, MAX_TAPS - 3);
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
