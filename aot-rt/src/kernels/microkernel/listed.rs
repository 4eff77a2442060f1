//! The cells under a window of a depthwise convolution, for four channels at a time.

use super::super::dot::FILTERS;
use super::processor;

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

    /// Adds the sums of `(x - zero) * w` to those of channels that follow each other; nothing
    /// where one of the cells is not there.
    #[inline(always)]
    pub(crate) fn add_to(&self, sums: &mut [[i32; FILTERS]], x: &[i8], zero: i16, weights: &[i8]) {
        let taps = self.offsets.get(..self.count).unwrap_or_default();
        processor::add_taps(sums, (taps, self.last), x, zero, weights);
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
        let mut sums = [[i32::MAX, 1, 2, 3]];
        taps.add_to(&mut sums, &x, 127, &w);
        let first = [255 * 128, 0, 124 * 7, -131 * 9];
        let second = [-131 * 9, 122 * 128, -27 * 2, -121 * 77];
        let expect = core::array::from_fn(|i| [i32::MAX, 1, 2, 3][i].wrapping_add(first[i] + second[i]));
        assert_eq!(sums, [expect]);
        // One cell is not there.
        assert!(taps.push([5, 0]));
        taps.add_to(&mut sums, &x, 127, &w);
        assert_eq!(sums, [expect]);
        let room = (3..=MAX_TAPS).filter(|_| taps.push([0, 0])).count();
        assert_eq!(room, MAX_TAPS - 3);
    }
}
