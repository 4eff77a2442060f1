//! The innermost loops of integer kernels, for processors whose instructions compilers do not
//! find: a few cells times the filters, or channels, that share them.
//!
//! Armv7E-M and Armv8-M with DSP instructions multiply two pairs of 16-bit numbers in one
//! instruction. Their module has a twin in plain Rust with the same functions and the same
//! bits, which is tested on hosts; other processors use the loops of [`filters`](super::filters).
//! [`Four`] is how a processor takes four cells that have been widened to 16 bits.
//!
//! Armv8.1-M may have vectors. Their module runs on no host: `tests/embedded` compares it, in
//! QEMU, with the definitions.

#[cfg(aot_dsp)]
mod dsp;
#[cfg(aot_helium)]
pub(crate) mod helium;
mod listed;
#[cfg(any(not(aot_dsp), test))]
mod scalar;

#[cfg(aot_dsp)]
use dsp as processor;
#[cfg(not(aot_dsp))]
use scalar as processor;

pub(crate) use listed::Listed;
pub(crate) use processor::requantize;

use super::dot::FILTERS;
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

/// Cells, less their zero point, that many filters are multiplied with.
pub(crate) struct Widened {
    fours: [Four; FOURS],
    len: usize,
}

/// Whether there is little room on the stack: a run is to take less than 1 KiB, and code that
/// is compiled to be small takes more of it for other things.
const SMALL: bool = cfg!(aot_small);

/// What there is room for.
const FOURS: usize = if SMALL { 16 } else { 24 };

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

    /// `len` cells that are at the zero point.
    #[inline(always)]
    pub(crate) fn new(len: usize) -> Self {
        Self { fours: [Four::default(); FOURS], len }
    }

    /// Sets the cells from `at` on.
    #[inline(never)]
    pub(crate) fn set(&mut self, at: usize, x: &[i8], zero: i16) {
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

    /// Makes these all the cells.
    #[inline(always)]
    pub(crate) fn replace(&mut self, x: &[i8], zero: i16) {
        self.len = x.len().min(Self::ROOM);
        self.set(0, x, zero);
    }

    /// Adds `sum x * w` to the sums of filters that are `filter` weights apart, as far as there
    /// are weights.
    #[inline(never)]
    pub(crate) fn add_products(&self, sums: &mut [i32], weights: &[i8], filter: usize) {
        let whole = self.fours.get(..self.len / 4).unwrap_or_default();
        let (blocks, rest) = sums.as_chunks_mut::<FILTERS>();
        processor::dots(whole, blocks, weights, filter);
        let mut first = FILTERS * blocks.len() * filter;
        for sum in rest {
            // One filter, as if it were four.
            let mut four = [[0; FILTERS]];
            processor::dots(whole, &mut four, weights.get(first..).unwrap_or_default(), 0);
            *sum = sum.wrapping_add(four[0][0]);
            first += filter;
        }
        for at in 4 * whole.len()..self.len {
            let Some(four) = self.fours.get(at / 4) else { return };
            let x = i32::from(processor::get(four, at % 4));
            let mut at = at;
            for sum in &mut *sums {
                *sum = sum.wrapping_add(x * i32::from(weights.get(at).copied().unwrap_or(0)));
                at += filter;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the sums as they are defined, with every rest of a division by four.
    #[test]
    fn products_of_widened_cells() {
        let x: [i8; Widened::ROOM] = core::array::from_fn(|i| (i * 37 % 256) as u8 as i8);
        let weights: [i8; 9 * (Widened::ROOM + 2)] = core::array::from_fn(|i| (i * 91 % 256) as u8 as i8);
        for len in (0..13).chain([Widened::ROOM - 1, Widened::ROOM]) {
            for filters in 0..10 {
                let filter = len + filters % 3;
                let mut cells = Widened::new(len);
                for (i, x) in x[..len].chunks(5).enumerate() {
                    cells.set(5 * i, x, -128);
                }
                let mut sums = [7; 9];
                let end = (filters * filter).saturating_sub(filters % 3);
                cells.add_products(&mut sums[..filters], &weights[..end], filter);
                for (n, sum) in sums[..filters].iter().enumerate() {
                    let products =
                        (0..len).map(|i| (i32::from(x[i]) + 128) * i32::from(weights[n * filter + i]));
                    assert_eq!(*sum, 7 + products.sum::<i32>(), "filter {n} of {filters} with {len} weights");
                }
            }
        }
    }

    #[test]
    fn cells_that_are_not_set_count_as_zero() {
        let mut cells = Widened::new(9);
        cells.set(6, &[3, 4], 1);
        let mut sums = [0];
        cells.add_products(&mut sums, &[1, 1, 1, 1, 1, 1, 10, 100, 1], 9);
        assert_eq!(sums, [20 + 300]);
        cells.replace(&[5; 2], 0);
        cells.add_products(&mut sums, &[1, 2], 2);
        assert_eq!(sums, [320 + 15]);
        // No weights.
        cells.add_products(&mut sums, &[], 2);
        assert_eq!(sums, [335]);
    }
}
