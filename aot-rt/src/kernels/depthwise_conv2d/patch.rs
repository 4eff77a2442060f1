//! The cells under a window, channel by channel.

use super::super::Window2d;
use super::super::dot::VECTORS;
#[cfg(aot_helium)]
use super::super::filters;
use super::super::images::Image;
use super::super::loops::chunks_mut;
use super::super::microkernel::Listed;
use super::super::window::Taps;
use super::arithmetic::Arithmetic;

/// Channels that are summed together, as long as there are so many.
const WIDE_BLOCK: usize = 16;

/// Channels of the remaining ones that are summed together.
const BLOCK: usize = if VECTORS { 8 } else { 4 };

/// The cells under a window: where they lie in `x` and in the weights.
#[derive(Clone, Copy)]
pub(super) struct Patch<'a, X, W> {
    x: Image<'a, X>,
    weights: &'a [W],
    rows: usize,
    columns: usize,
    /// First element in `x` and in the weights.
    start: [usize; 2],
    /// Elements from one row to the next, in `x` and in the weights.
    row: [usize; 2],
    /// Elements from one column to the next, in `x` and in the weights.
    step: [usize; 2],
}

impl<'a, X: Copy, W: Copy> Patch<'a, X, W> {
    #[inline(always)]
    pub(super) fn new(
        window: &Window2d,
        [rows, columns]: [Taps; 2],
        (x, in_channels): (Image<'a, X>, usize),
        (weights, out_channels): (&'a [W], usize),
    ) -> Self {
        let [row_axis, column_axis] = window.axes();
        let weights_row = column_axis.kernel * out_channels;
        Self {
            x,
            weights,
            rows: rows.count,
            columns: columns.count,
            start: [
                (rows.start * column_axis.input + columns.start) * in_channels,
                rows.first * weights_row + columns.first * out_channels,
            ],
            row: [row_axis.dilation * column_axis.input * in_channels, weights_row],
            step: [column_axis.dilation * in_channels, out_channels],
        }
    }

    /// Computes all channels `y` of a cell.
    #[inline(always)]
    pub(super) fn channels<A>(&self, arithmetic: &A, depth_multiplier: usize, y: &mut [A::Y])
    where
        A: Arithmetic<X = X, Weight = W>,
    {
        if arithmetic.channels(self, depth_multiplier, y) {
            return;
        }
        if depth_multiplier == 1 {
            let mut listed = Listed::new();
            let listed = (!VECTORS && self.list(&mut listed)).then_some(&listed);
            self.run::<A, false>(arithmetic, listed, [0, 0], y);
        } else {
            for (x_channel, y) in chunks_mut(y, depth_multiplier).enumerate() {
                self.run::<A, true>(arithmetic, None, [x_channel, x_channel * depth_multiplier], y);
            }
        }
    }

    /// Where the cells are, with so many channels from these on in `x` and in the weights, and in
    /// what.
    #[cfg(aot_helium)]
    #[inline(always)]
    pub(super) fn cells(&self, first: [usize; 2], channels: usize) -> (filters::Patch, &'a [X], &'a [W]) {
        let Self { x, weights, rows, columns, start, row, step } = *self;
        let start = [start[0] + first[0], start[1] + first[1]];
        let patch =
            filters::Patch { rows, segments: columns, segment: channels, start, row, step, ring: x.ring };
        (patch, x.cells, weights)
    }

    /// Lists the cells; gives whether there is room for all.
    #[inline(always)]
    fn list(&self, listed: &mut Listed) -> bool {
        let [mut x_row, mut weights_row] = self.start;
        for _ in 0..self.rows {
            let [mut x_at, mut weights_at] = [x_row, weights_row];
            for _ in 0..self.columns {
                if !listed.push([x_at, weights_at]) {
                    return false;
                }
                x_at += self.step[0];
                weights_at += self.step[1];
            }
            x_row += self.row[0];
            if x_row >= self.x.ring {
                x_row -= self.x.ring;
            }
            weights_row += self.row[1];
        }
        true
    }

    /// Computes a run of channels, which all read one channel of `x` if `SHARED`.
    #[inline(always)]
    fn run<A: Arithmetic<X = X, Weight = W>, const SHARED: bool>(
        &self,
        arithmetic: &A,
        listed: Option<&Listed>,
        [x_channel, mut channel]: [usize; 2],
        y: &mut [A::Y],
    ) {
        let (wide, rest) = y.as_chunks_mut::<WIDE_BLOCK>();
        channel = self.blocks::<A, SHARED, WIDE_BLOCK>(arithmetic, listed, [x_channel, channel], wide);
        let (blocks, rest) = rest.as_chunks_mut::<BLOCK>();
        channel = self.blocks::<A, SHARED, BLOCK>(arithmetic, listed, [x_channel, channel], blocks);
        let (single, _) = rest.as_chunks_mut::<1>();
        self.blocks::<A, SHARED, 1>(arithmetic, listed, [x_channel, channel], single);
    }

    /// Computes blocks of `N` channels and returns the next channel.
    #[inline(always)]
    fn blocks<A: Arithmetic<X = X, Weight = W>, const SHARED: bool, const N: usize>(
        &self,
        arithmetic: &A,
        listed: Option<&Listed>,
        [x_channel, mut channel]: [usize; 2],
        y: &mut [[A::Y; N]],
    ) -> usize {
        for y in y {
            let mut sums = [A::Sum::default(); N];
            let x_channel = if SHARED { x_channel } else { channel };
            let summed = listed.is_some_and(|listed| {
                let x = self.x.cells.get(x_channel..).unwrap_or_default();
                let weights = self.weights.get(channel..).unwrap_or_default();
                arithmetic.add_listed(&mut sums, listed, x, weights)
            });
            if !summed {
                self.sum::<A, SHARED, N>(arithmetic, [x_channel, channel], &mut sums);
            }
            arithmetic.finish(channel, &mut sums, y);
            channel += N;
        }
        channel
    }

    /// Adds the cells of `N` channels to their sums, in order.
    ///
    /// Compiled once: inside a specialised kernel rustc 1.95 makes scalar code of the int8
    /// channels, which takes three times as long.
    #[inline(never)]
    fn sum<A: Arithmetic<X = X, Weight = W>, const SHARED: bool, const N: usize>(
        &self,
        arithmetic: &A,
        [x_channel, channel]: [usize; 2],
        sums: &mut [A::Sum; N],
    ) {
        let [mut x_row, mut weights_row] = [self.start[0] + x_channel, self.start[1] + channel];
        for _ in 0..self.rows {
            let [mut x_at, mut weights_at] = [x_row, weights_row];
            for _ in 0..self.columns {
                let x = self.x.cells.get(x_at..).unwrap_or_default();
                let weights = self.weights.get(weights_at..).unwrap_or_default();
                if SHARED {
                    if let (Some(&x), Some(weights)) = (x.first(), weights.first_chunk::<N>()) {
                        for (sum, &weight) in sums.iter_mut().zip(weights) {
                            *sum = arithmetic.multiply_add(*sum, x, weight);
                        }
                    }
                } else if let (Some(x), Some(weights)) = (x.first_chunk::<N>(), weights.first_chunk::<N>()) {
                    for ((sum, &x), &weight) in sums.iter_mut().zip(x).zip(weights) {
                        *sum = arithmetic.multiply_add(*sum, x, weight);
                    }
                }
                x_at += self.step[0];
                weights_at += self.step[1];
            }
            x_row += self.row[0];
            if x_row >= self.x.ring {
                x_row -= self.x.ring;
            }
            weights_row += self.row[1];
        }
    }
}
