//! A patch of an image times many filters: the heart of convolutions and matrix
//! products.

use super::RangeF32;
use super::dot::{FILTERS, dot_i8, dot4_i8};
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

/// Where the elements of `filters` filters of `len` elements each are, for the order
/// that [`conv2d_f32`](super::conv2d_f32) and
/// [`fully_connected_f32`](super::fully_connected_f32) read them in: filters stand in
/// blocks of 16, then 8, 4 and 1, and a block holds element 0 of all its filters, then
/// element 1 of all, and so on.
///
/// ```
/// # use aot_rt::kernels::packed_filters;
/// let order: Vec<usize> = packed_filters(5, 2).collect();
/// assert_eq!(order, [0, 2, 4, 6, 1, 3, 5, 7, 8, 9]);
/// ```
pub fn packed_filters(filters: usize, len: usize) -> impl Iterator<Item = usize> {
    let mut first = 0;
    let blocks = core::iter::from_fn(move || {
        let width = BLOCKS.into_iter().find(|width| first + width <= filters)?;
        first += width;
        Some(first - width..first)
    });
    blocks.flat_map(move |block| (0..len).flat_map(move |i| block.clone().map(move |f| f * len + i)))
}

/// Filters of a block, the widest first.
const BLOCKS: [usize; 4] = [16, 8, 4, 1];

/// Products of the patch with many [packed](packed_filters) filters, f32.
///
/// Every sum is in the order of the filter's elements and the bias comes last, as in
/// the reference: vectors go across the filters. The loops here are compiled once,
/// with extents known at run time, also for specialised callers: known extents make
/// compilers unroll loops that they would otherwise turn into vector instructions.
#[inline(never)]
pub(crate) fn products_f32(
    patch: &Patch,
    x: &[f32],
    (weights, filter): (&[f32], usize),
    bias: &[f32],
    range: RangeF32,
    y: &mut [f32],
) {
    let mut rest = Rest { weights, bias, y };
    rest.blocks::<{ BLOCKS[0] }>(patch, x, filter, range);
    rest.blocks::<{ BLOCKS[1] }>(patch, x, filter, range);
    rest.blocks::<{ BLOCKS[2] }>(patch, x, filter, range);
    rest.blocks::<{ BLOCKS[3] }>(patch, x, filter, range);
}

/// The filters that are still to do.
struct Rest<'a> {
    weights: &'a [f32],
    bias: &'a [f32],
    y: &'a mut [f32],
}

impl Rest<'_> {
    /// Does as many blocks of `N` filters as there are.
    #[inline(always)]
    fn blocks<const N: usize>(&mut self, patch: &Patch, x: &[f32], filter: usize, range: RangeF32) {
        let (blocks, rest) = core::mem::take(&mut self.y).as_chunks_mut::<N>();
        self.y = rest;
        for y in blocks {
            let (weights, rest) = self.weights.split_at_checked(N * filter).unwrap_or_default();
            self.weights = rest;
            let mut sums = [0.0; N];
            patch.for_each_segment(x, |x, at| {
                let weights = part(weights, N * at, N * x.len()).as_chunks::<N>().0;
                for (x, weights) in x.iter().zip(weights) {
                    for (sum, weight) in sums.iter_mut().zip(weights) {
                        *sum += x * weight;
                    }
                }
            });
            let (bias, rest) = self.bias.split_at_checked(N).unwrap_or_default();
            self.bias = rest;
            for (i, (y, sum)) in y.iter_mut().zip(sums).enumerate() {
                *y = range.limit(sum + bias.get(i).copied().unwrap_or(0.0));
            }
        }
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
