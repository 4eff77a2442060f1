//! The innermost loops of integer kernels, for processors without vectors: a few cells times the
//! filters, or channels, that share them.
//!
//! Armv7E-M and Armv8-M with DSP instructions multiply two pairs of 16-bit numbers in one
//! instruction, which compilers do not find. Their module has a twin in plain Rust with the same
//! functions and the same bits, which other processors use and which is tested on hosts.
//! [`Four`] is how a processor takes four cells that have been widened to 16 bits.
//!
//! Filters are rows of weights, or [`blocks`] of them.
//!
//! Armv8.1-M may have vectors. Their module runs on no host: `tests/embedded` compares it, in
//! QEMU, with the definitions.

#[cfg(aot_armv6m)]
mod armv6m;
#[cfg(aot_armv7m)]
mod armv7m;
pub(crate) mod blocks;
#[cfg(aot_dsp)]
mod dsp;
#[cfg(aot_helium)]
pub(crate) mod helium;
mod listed;
#[cfg(not(any(aot_armv6m, aot_armv7m)))]
mod portable;
#[cfg(any(not(aot_dsp), test))]
mod scalar;

#[cfg(aot_armv6m)]
use armv6m::blocked_dots;
#[cfg(aot_armv7m)]
use armv7m::blocked_dots;
#[cfg(aot_dsp)]
use dsp as processor;
#[cfg(not(any(aot_armv6m, aot_armv7m)))]
use portable::blocked_dots;
#[cfg(not(aot_dsp))]
use scalar as processor;

pub(crate) use listed::Listed;
pub(crate) use processor::requantize;

use super::dot::FILTERS;
use super::filters::Segments;
use super::loops::part;
use processor::Four;

/// Whether there are such instructions.
pub(crate) const DSP: bool = cfg!(aot_dsp);

/// Whether there are the vectors of Armv8.1-M.
pub(crate) const HELIUM: bool = cfg!(aot_helium);

/// Whether there are `len` elements from `start` on.
#[inline(always)]
const fn has(elements: &[i8], start: usize, len: usize) -> bool {
    match elements.len().checked_sub(start) {
        Some(behind) => len <= behind,
        None => false,
    }
}

/// Whether there are `len` elements from the first of each of `count` filters on, which are
/// `distance` apart; not where there are no filters. Nothing wraps, however large the numbers are.
#[inline(always)]
#[cfg(any(aot_armv7m, aot_helium, test))]
const fn each_has(elements: &[i8], (count, distance): (usize, usize), len: usize) -> bool {
    let Some(last) = count.checked_sub(1) else { return false };
    match last.checked_mul(distance) {
        Some(last) => has(elements, last, len),
        None => false,
    }
}

/// Cells, less their zero point, that many filters are multiplied with.
pub(crate) struct Widened {
    fours: [Four; FOURS],
    len: usize,
}

/// Whether there is little room on the stack: a run is to take less than 1 KiB, and code that
/// is compiled to be small takes more of it for other things.
const SMALL: bool = cfg!(aot_small);

/// What there is room for.
const FOURS: usize = if SMALL { 16 } else { 36 };

/// Outputs that are summed together.
pub(crate) const OUTPUTS: usize = if SMALL || !(DSP || HELIUM) {
    16
} else if HELIUM {
    64
} else {
    32
};

impl Widened {
    /// Most cells.
    pub(crate) const ROOM: usize = 4 * FOURS;

    /// No cells.
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { fours: [processor::ZERO; FOURS], len: 0 }
    }

    /// Makes these the `len` cells from `first` on of those under a window, in the order of a
    /// filter; those outside the image are at the zero point.
    #[inline(always)]
    pub(crate) fn gather(&mut self, cells: &impl Segments<i8>, zero: i16, first: usize, len: usize) {
        self.len = len.min(Self::ROOM);
        let end = first + self.len;
        cells.for_each(|x, at| {
            let skip = first.saturating_sub(at);
            let stop = end.saturating_sub(at).min(x.len());
            if skip < stop {
                self.set(at + skip - first, part(x, skip, stop - skip), zero);
            }
        });
    }

    /// Forgets the cells.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        *self = Self::new();
    }

    /// Sets the cells from `at` on.
    #[inline(never)]
    fn set(&mut self, at: usize, x: &[i8], zero: i16) {
        // Four by four, where they are four here and there.
        let (fours, ones) = if at.is_multiple_of(4) { x.as_chunks() } else { (&[][..], x) };
        let places = self.fours.get_mut(at / 4..).unwrap_or_default();
        processor::widen(fours, zero, places.get_mut(..fours.len()).unwrap_or_default());
        for (at, &x) in (at % 4 + 4 * fours.len()..).zip(ones) {
            if let Some(four) = places.get_mut(at / 4) {
                processor::set(four, at % 4, i16::from(x).wrapping_sub(zero));
            }
        }
    }

    /// Adds `sum x * w` to the sums of filters of `filter` weights each, in blocks or in rows, as
    /// far as there are weights. These are the cells from `first` on, a multiple of four.
    #[inline(never)]
    pub(crate) fn add_products<const BLOCKED: bool>(
        &self,
        sums: &mut [i32],
        (weights, filter): (&[i8], usize),
        first: usize,
    ) {
        let (whole, rest) = (self.len / 4, self.len % 4);
        let (fours, last) = self.fours.split_at_checked(whole).unwrap_or_default();
        let from = |at: usize| weights.get(at..).unwrap_or_default();
        let (blocks, single) = sums.as_chunks_mut::<FILTERS>();
        let mut at = FILTERS * filter * blocks.len() + first;
        if BLOCKED {
            blocked_dots(&self.fours, self.len, blocks, from(FILTERS * first), filter);
        } else {
            processor::dots(fours, blocks, from(first), filter);
            if rest > 0 {
                let mut at = first + 4 * whole;
                for sum in blocks.as_flattened_mut() {
                    *sum = processor::dot(last, part(weights, at, rest), *sum);
                    at += filter;
                }
            }
        }
        for sum in single {
            *sum = processor::dot(&self.fours, part(weights, at, self.len), *sum);
            at += filter;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::blocks::{CELLS, Filters};
    use super::*;

    /// Cells of rows, each with its place in the filter.
    struct Rows<'a>(&'a [(usize, &'a [i8])]);

    impl Segments<i8> for Rows<'_> {
        fn for_each(&self, mut segment: impl FnMut(&[i8], usize)) {
            self.0.iter().for_each(|(at, row)| segment(row, *at));
        }
    }

    const ROOM: usize = Widened::ROOM;

    /// Sums of `N` filters, with cells that are gathered as far as there is room at a time.
    fn sums<const BLOCKED: bool, const N: usize>(rows: &Rows<'_>, weights: &[i8], filter: usize) -> [i32; N] {
        let (mut cells, mut sums) = (Widened::new(), [7; N]);
        for first in (0..filter).step_by(ROOM) {
            cells.clear();
            cells.gather(rows, -128, first, filter - first);
            cells.add_products::<BLOCKED>(&mut sums, (weights, filter), first);
        }
        sums
    }

    /// Against the sums as they are defined, with every rest of a division by four, and with more
    /// cells than there is room for.
    #[test]
    fn products_of_widened_cells() {
        const FILTERS: usize = 9;
        let x: [i8; 2 * ROOM + 7] = core::array::from_fn(|i| (i * 37 % 256) as u8 as i8);
        let rows: [u8; FILTERS * (2 * ROOM + 7)] = core::array::from_fn(|i| (i * 91 % 256) as u8);
        for len in (0..13).chain([ROOM - 1, ROOM, ROOM + 1, 2 * ROOM, 2 * ROOM + 7]) {
            let mut blocks = rows;
            Filters::new(0, 1, FILTERS, len).arrange(CELLS, &rows, &mut blocks);
            let [rows, blocks] = [rows, blocks].map(|weights| weights.map(u8::cast_signed));
            let dot = |weights: &[i8]| {
                let products = x.iter().zip(weights).map(|(&x, &w)| (i32::from(x) + 128) * i32::from(w));
                7 + products.sum::<i32>()
            };
            let expect: [i32; FILTERS] = core::array::from_fn(|n| dot(&rows[n * len..][..len]));
            let (first, second) = x[..len].split_at(len / 3);
            let cells = Rows(&[(0, first), (len / 3, second)]);
            assert_eq!(sums::<false, FILTERS>(&cells, &rows, len), expect, "{len} cells");
            assert_eq!(sums::<true, FILTERS>(&cells, &blocks, len), expect, "{len} cells, blocked");
        }
    }

    #[test]
    fn filters_that_are_there() {
        let elements = [0; 8];
        assert!(each_has(&elements, (3, 2), 4) && each_has(&elements, (1, usize::MAX), 8));
        assert!(!each_has(&elements, (3, 2), 5) && !each_has(&elements, (0, 2), 0));
        // Would wrap to 0.
        assert!(!each_has(&elements, (5, usize::MAX / 4 + 1), 0));
    }

    #[test]
    fn cells_that_are_not_there_count_as_zero() {
        let cells = Rows(&[(6, &[3, 4])]);
        let weights = [1, 1, 1, 1, 1, 1, 10, 100, 1];
        assert_eq!(sums::<false, 1>(&cells, &weights, 9), [7 + 1310 + 13200]);
        // No weights.
        assert_eq!(sums::<false, 1>(&cells, &[], 9), [7]);
        assert_eq!(sums::<true, 4>(&cells, &weights, 9), [7; 4]);
    }
}
