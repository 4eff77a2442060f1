//! A patch of an image times many filters: the heart of convolutions and matrix
//! products.

use super::RangeF32;
use super::dot::{FILTERS, Sums, VECTORS, dot_f32, dot_i8, dot4_f32, dot4_i8};
use super::loops::{chunks, part};
use super::requantize::Requantize;

/// Where the cells under a window lie in `x` and in a filter: rows of contiguous
/// segments.
#[derive(Clone, Copy)]
pub(crate) struct Patch {
    pub(crate) rows: usize,
    /// Segments of a row.
    pub(crate) segments: usize,
    /// Elements of a segment.
    pub(crate) segment: usize,
    /// First element, in `x` and in the filter.
    pub(crate) start: [usize; 2],
    /// Elements from one row to the next, in `x` and in the filter.
    pub(crate) row: [usize; 2],
    /// Elements from one segment to the next, in `x` and in the filter.
    pub(crate) step: [usize; 2],
}

impl Patch {
    /// A patch that lies in `x` as in the filter, both of `len` elements.
    #[inline(always)]
    pub(crate) fn whole(len: usize) -> Self {
        Self { rows: 1, segments: 1, segment: len, start: [0, 0], row: [0, 0], step: [0, 0] }
    }

    /// Calls `segment` with every segment of `x` and its place in the filter.
    #[inline(always)]
    fn for_each_segment<T>(self, x: &[T], mut segment: impl FnMut(&[T], usize)) {
        let [mut x_row, mut filter_row] = self.start;
        for _ in 0..self.rows {
            let [mut x_at, mut filter_at] = [x_row, filter_row];
            for _ in 0..self.segments {
                segment(part(x, x_at, self.segment), filter_at);
                x_at += self.step[0];
                filter_at += self.step[1];
            }
            x_row += self.row[0];
            filter_row += self.row[1];
        }
    }

    /// Calls `filters` with a patch and an `x` that it lies in: as it is, or, when it
    /// is of several segments and fits, gathered in `buffer`, where the cells
    /// outside the image are `zero`.
    #[inline(always)]
    pub(crate) fn gathered<T: Copy, const N: usize>(
        self,
        x: &[T],
        filter: usize,
        zero: T,
        filters: impl FnOnce(Self, &[T]),
    ) {
        let mut buffer = [zero; N];
        let (mut patch, mut source) = (self, x);
        if self.segment < filter
            && let Some(buffer) = buffer.get_mut(..filter)
        {
            self.for_each_segment(x, |x, at| {
                for (cell, x) in buffer.get_mut(at..).unwrap_or_default().iter_mut().zip(x) {
                    *cell = *x;
                }
            });
            (patch, source) = (Self::whole(filter), buffer);
        }
        filters(patch, source);
    }
}

/// Products of the patch with many filters, f32.
///
/// The loops here are compiled once, with extents known at run time, also for
/// specialised callers: known extents make compilers unroll loops that they would
/// otherwise turn into vector instructions.
#[inline(never)]
pub(crate) fn products_f32(
    patch: &Patch,
    x: &[f32],
    (weights, filter): (&[f32], usize),
    bias: &[f32],
    range: RangeF32,
    y: &mut [f32],
) {
    let finish =
        |channel: usize, sums: Sums| range.limit(sums.total() + bias.get(channel).copied().unwrap_or(0.0));
    let (fours, rest) = if VECTORS { y.as_chunks_mut::<FILTERS>() } else { (&mut [][..], y) };
    let mut blocks = chunks(weights, FILTERS * filter);
    let mut channel = 0;
    for (y, filters) in fours.iter_mut().zip(&mut blocks) {
        let mut sums = [Sums::default(); FILTERS];
        patch.for_each_segment(x, |x, at| {
            let at = |n: usize| part(filters, n * filter + at, x.len());
            dot4_f32(&mut sums, x, [at(0), at(1), at(2), at(3)]);
        });
        for (y, sums) in y.iter_mut().zip(sums) {
            *y = finish(channel, sums);
            channel += 1;
        }
    }
    for (y, filter) in rest.iter_mut().zip(chunks(blocks.rest, filter)) {
        let mut sums = Sums::default();
        patch.for_each_segment(x, |x, at| dot_f32(&mut sums, x, part(filter, at, x.len())));
        *y = finish(channel, sums);
        channel += 1;
    }
}

/// Products of the differences of a patch from `zero` with many filters, int8.
///
/// Compiled once, like [`products_f32`].
#[inline(never)]
pub(crate) fn products_i8(
    patch: &Patch,
    (x, zero): (&[i8], i16),
    (weights, filter): (&[i8], usize),
    requantize: &Requantize<'_>,
    y: &mut [i8],
) {
    let mut blocks = chunks(weights, FILTERS * filter);
    let (fours, rest) = y.as_chunks_mut::<FILTERS>();
    let mut channel = 0;
    for (y, filters) in fours.iter_mut().zip(&mut blocks) {
        let mut sums = [0; FILTERS];
        patch.for_each_segment(x, |x, at| {
            let at = |n: usize| part(filters, n * filter + at, x.len());
            dot4_i8(&mut sums, x, zero, [at(0), at(1), at(2), at(3)]);
        });
        *y = requantize.channels(channel, sums);
        channel += FILTERS;
    }
    for (y, filter) in rest.iter_mut().zip(chunks(blocks.rest, filter)) {
        let mut sum = 0_i32;
        patch.for_each_segment(x, |x, at| {
            sum = sum.wrapping_add(dot_i8(x, zero, part(filter, at, x.len())));
        });
        [*y] = requantize.channels(channel, [sum]);
        channel += 1;
    }
}
