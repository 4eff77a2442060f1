//! A patch of an image times many filters: the heart of convolutions and matrix
//! products.

use core::ops::Range;

use super::dot::dot_i16;
#[cfg(not(aot_helium))]
use super::dot::{FILTERS, I8_SHARED_READS, dot_i8, dot4_i8};
#[cfg(not(aot_helium))]
use super::loops::copy;
use super::loops::{chunks, part};
use super::microkernel::blocks::IN_BLOCKS;
#[cfg(aot_helium)]
use super::microkernel::helium::{self, copy};
use super::microkernel::{DSP, Widened};
use super::nibbles::Stored;
use super::real::Real;
use super::requantize::{Finish, FinishF32, OUTPUTS, RequantizeI16};

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
    /// Elements of `x` after which its rows start over.
    pub(crate) ring: usize,
}

/// The cells under a window, as slices that are contiguous in `x` and in a filter.
pub(crate) trait Segments<T> {
    /// Calls `segment` with every slice of `x` and its place in the filter.
    fn for_each(&self, segment: impl FnMut(&[T], usize));
}

/// Cells that are a patch of a slice.
pub(crate) trait Located<T>: Segments<T> {
    /// Calls `with` with patch and slice.
    fn located(&self, with: impl FnOnce(&Patch, &[T]));
}

/// All cells in one slice.
impl<T> Segments<T> for &[T] {
    #[inline(always)]
    fn for_each(&self, mut segment: impl FnMut(&[T], usize)) {
        segment(self, 0);
    }
}

impl<T> Located<T> for &[T] {
    #[inline(always)]
    fn located(&self, with: impl FnOnce(&Patch, &[T])) {
        let [start, row, step] = [[0; 2]; 3];
        with(&Patch { rows: 1, segments: 1, segment: self.len(), start, row, step, ring: usize::MAX }, self);
    }
}

impl<T> Located<T> for (&Patch, &[T]) {
    #[inline(always)]
    fn located(&self, with: impl FnOnce(&Patch, &[T])) {
        with(self.0, self.1);
    }
}

/// The cells of a patch in an image.
impl<T> Segments<T> for (&Patch, &[T]) {
    #[inline(always)]
    fn for_each(&self, mut segment: impl FnMut(&[T], usize)) {
        let (patch, x) = *self;
        let [mut x_row, mut filter_row] = patch.start;
        for _ in 0..patch.rows {
            let [mut x_at, mut filter_at] = [x_row, filter_row];
            for _ in 0..patch.segments {
                segment(part(x, x_at, patch.segment), filter_at);
                x_at += patch.step[0];
                filter_at += patch.step[1];
            }
            x_row += patch.row[0];
            if x_row >= patch.ring {
                x_row -= patch.ring;
            }
            filter_row += patch.row[1];
        }
    }
}

/// Bytes on the stack for the cells under a window, so that short rows become one
/// product: 3×3 cells of 16 channels.
const BUFFER: usize = 144;

impl Patch {
    /// Whether all cells of the filter are one slice of `x`.
    #[inline(always)]
    fn is_whole(&self, filter: usize) -> bool {
        self.rows == 1 && self.segments == 1 && self.segment == filter
    }

    /// Products with many filters, f32: see [`products_f32`].
    #[inline(always)]
    pub(crate) fn products_f32(
        &self,
        x: &[f32],
        (weights, filter): (&[impl Real], usize),
        bias: &[f32],
        finish: &impl FinishF32,
        y: &mut [f32],
    ) {
        if self.is_whole(filter) {
            products_f32(part(x, self.start[0], filter), (weights, filter), bias, finish, y);
        } else {
            products_f32((self, x), (weights, filter), bias, finish, y);
        }
    }

    /// Products with many filters, int8: see [`products_i8`].
    #[inline(always)]
    pub(crate) fn products_i8<S: Stored, F: Finish>(
        &self,
        x: &[i8],
        zero: i16,
        (weights, filter): (&[i8], usize),
        finish: &F,
        y: &mut [F::Y],
    ) {
        if S::WIDENS {
            S::products((self, x), zero, (weights, filter), finish, y);
        } else if self.is_whole(filter) {
            S::products(part(x, self.start[0], filter), zero, (weights, filter), finish, y);
        } else if filter <= BUFFER {
            #[cfg(not(aot_helium))]
            let buffer = &mut [zero as i8; BUFFER];
            #[cfg(aot_helium)]
            let mut room = helium::room::<_, BUFFER>();
            #[cfg(aot_helium)]
            let buffer = helium::filled(&mut room, zero as i8, filter);
            S::products(self.gather(x, filter, buffer), zero, (weights, filter), finish, y);
        } else {
            S::products((self, x), zero, (weights, filter), finish, y);
        }
    }

    /// The cells under the window, in the order of the filter; those outside the
    /// image stay as they are in `buffer`.
    #[inline(always)]
    fn gather<'a>(&self, x: &[i8], filter: usize, buffer: &'a mut [i8]) -> &'a [i8] {
        (self, x).for_each(|x, at| copy(x, buffer.get_mut(at..).unwrap_or_default()));
        part(buffer, 0, filter)
    }
}

/// The slices of four filters that belong to one of `x`, or none when one is short.
#[cfg(not(aot_helium))]
#[inline(always)]
fn four<T>(filters: &[T], filter: usize, at: usize, len: usize) -> Option<[&[T]; FILTERS]> {
    let slice = |n: usize| filters.get(n * filter + at..)?.get(..len);
    Some([slice(0)?, slice(1)?, slice(2)?, slice(3)?])
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
    let in_block =
        move |block: Range<usize>| (0..len).flat_map(move |i| block.clone().map(move |f| f * len + i));
    filter_blocks(filters).flat_map(in_block)
}

/// The blocks of [`packed_filters`]. Some that follow each other are the blocks of that many
/// filters.
pub fn filter_blocks(filters: usize) -> impl Iterator<Item = Range<usize>> {
    let mut first = 0;
    core::iter::from_fn(move || {
        let width = BLOCKS.into_iter().find(|width| first + width <= filters)?;
        first += width;
        Some(first - width..first)
    })
}

/// Filters of a block, the widest first.
const BLOCKS: [usize; 4] = [16, 8, 4, 1];

/// Products of the cells under a window with many [packed](packed_filters) filters, f32.
///
/// Every sum is in the order of the filter's elements and the bias comes last, as in
/// the reference: vectors go across the filters. The loops here are compiled once,
/// with extents known at run time, also for specialised callers: known extents make
/// compilers unroll loops that they would otherwise turn into vector instructions.
#[inline(never)]
pub(crate) fn products_f32(
    cells: impl Segments<f32>,
    (weights, filter): (&[impl Real], usize),
    bias: &[f32],
    finish: &impl FinishF32,
    y: &mut [f32],
) {
    let mut rest = Rest { weights, bias, y };
    rest.blocks::<{ BLOCKS[0] }>(&cells, filter, finish);
    rest.blocks::<{ BLOCKS[1] }>(&cells, filter, finish);
    rest.blocks::<{ BLOCKS[2] }>(&cells, filter, finish);
    rest.blocks::<{ BLOCKS[3] }>(&cells, filter, finish);
}

/// The filters that are still to do.
struct Rest<'a, W> {
    weights: &'a [W],
    bias: &'a [f32],
    y: &'a mut [f32],
}

impl<W: Real> Rest<'_, W> {
    /// Does as many blocks of `N` filters as there are.
    #[inline(always)]
    fn blocks<const N: usize>(&mut self, cells: &impl Segments<f32>, filter: usize, finish: &impl FinishF32) {
        let (blocks, rest) = core::mem::take(&mut self.y).as_chunks_mut::<N>();
        self.y = rest;
        for y in blocks {
            let (weights, rest) = self.weights.split_at_checked(N * filter).unwrap_or_default();
            self.weights = rest;
            let mut sums = [0.0; N];
            cells.for_each(|x, at| {
                let weights = part(weights, N * at, N * x.len()).as_chunks::<N>().0;
                for (x, weights) in x.iter().zip(weights) {
                    for (sum, weight) in sums.iter_mut().zip(weights) {
                        *sum += x * weight.widen();
                    }
                }
            });
            let (bias, rest) = self.bias.split_at_checked(N).unwrap_or_default();
            self.bias = rest;
            for (i, (y, sum)) in y.iter_mut().zip(sums).enumerate() {
                finish.set(y, sum + bias.get(i).copied().unwrap_or(0.0));
            }
        }
    }
}

/// What weights with a zero point give too much: `sum (x - zero) * weights_zero`.
///
/// `sum (x - zero) * (w - weights_zero) = sum (x - zero) * w - sum (x - zero) * weights_zero`,
/// of which the last is the same for all filters.
#[inline(never)]
pub(crate) fn zero_products(cells: impl Segments<i8>, zero: i16, weights_zero: i32) -> i32 {
    let mut sum = 0_i32;
    cells.for_each(|x, _| {
        for &x in x {
            sum = sum.wrapping_add(i32::from(i16::from(x).wrapping_sub(zero)));
        }
    });
    sum.wrapping_mul(weights_zero)
}

/// Products of the differences of the cells under a window from `zero` with many
/// filters in rows, int8.
#[inline(always)]
pub(crate) fn products_i8<F: Finish>(
    cells: impl Located<i8>,
    zero: i16,
    filters: (&[i8], usize),
    finish: &F,
    y: &mut [F::Y],
) {
    if DSP {
        cells.located(|patch, x| products_of_widened::<false, F>((patch, x), zero, filters, finish, y));
    } else {
        products_of_cells(cells, zero, filters, finish, y);
    }
}

/// [`products_i8`] with filters in [blocks](super::microkernel::blocks), where there are any.
#[inline(always)]
pub(crate) fn blocked_products_i8<F: Finish>(
    cells: impl Located<i8>,
    zero: i16,
    filters: (&[i8], usize),
    finish: &F,
    y: &mut [F::Y],
) {
    if IN_BLOCKS {
        cells.located(|patch, x| products_of_widened::<true, F>((patch, x), zero, filters, finish, y));
    } else {
        products_i8(cells, zero, filters, finish, y);
    }
}

/// [`products_i8`] for processors without vectors: cells are widened once for all filters, as far
/// as there is room on the stack, else for as many as are summed together. Compiled once, like
/// [`products_f32`].
#[inline(never)]
fn products_of_widened<const BLOCKED: bool, F: Finish>(
    cells: (&Patch, &[i8]),
    zero: i16,
    (mut weights, filter): (&[i8], usize),
    finish: &F,
    y: &mut [F::Y],
) {
    let mut widened = Widened::new();
    let mut channel = 0;
    for y in y.chunks_mut(OUTPUTS) {
        let mut sums = [0; OUTPUTS];
        let sums = sums.get_mut(..y.len()).unwrap_or_default();
        let mut first = 0;
        while first < filter {
            // Where there is room for all, they stay.
            if channel == 0 || filter > Widened::ROOM {
                if channel > 0 || first > 0 {
                    widened.clear();
                }
                widened.gather(&cells, zero, first, filter - first);
            }
            widened.add_products::<BLOCKED>(sums, (weights, filter), first);
            first += Widened::ROOM;
        }
        finish.channels(channel, sums, y);
        channel += y.len();
        weights = weights.get(y.len() * filter..).unwrap_or_default();
    }
}

/// [`products_i8`] with the vectors of a [microkernel](helium).
#[cfg(aot_helium)]
#[inline(never)]
fn products_of_cells<F: Finish>(
    cells: impl Segments<i8>,
    zero: i16,
    (mut weights, filter): (&[i8], usize),
    finish: &F,
    y: &mut [F::Y],
) {
    let mut channel = 0;
    for y in y.chunks_mut(OUTPUTS) {
        let mut room = helium::room::<_, OUTPUTS>();
        let sums = helium::cleared(&mut room, y.len());
        cells.for_each(|x, at| {
            helium::add_products(sums, x, zero, weights.get(at..).unwrap_or_default(), filter);
        });
        finish.channels(channel, sums, y);
        channel += y.len();
        weights = weights.get(y.len() * filter..).unwrap_or_default();
    }
}

/// [`products_i8`] with instructions that compilers find. Compiled once, like [`products_f32`].
#[cfg(not(aot_helium))]
#[inline(never)]
fn products_of_cells<F: Finish>(
    cells: impl Segments<i8>,
    zero: i16,
    (weights, filter): (&[i8], usize),
    finish: &F,
    y: &mut [F::Y],
) {
    let (mut weights, mut channel) = (weights, 0);
    for y in y.chunks_mut(OUTPUTS) {
        let mut sums = [0; OUTPUTS];
        let sums = sums.get_mut(..y.len()).unwrap_or_default();
        let (fours, rest) =
            if I8_SHARED_READS { sums.as_chunks_mut::<FILTERS>() } else { (&mut [][..], &mut *sums) };
        let mut blocks = chunks(weights, FILTERS * filter);
        for (sums, filters) in fours.iter_mut().zip(&mut blocks) {
            cells.for_each(|x, at| {
                if let Some(weights) = four(filters, filter, at, x.len()) {
                    dot4_i8(sums, x, zero, weights);
                }
            });
        }
        let mut filters = chunks(blocks.rest, filter);
        for (sum, filter) in rest.iter_mut().zip(&mut filters) {
            cells.for_each(|x, at| {
                *sum = sum.wrapping_add(dot_i8(x, zero, part(filter, at, x.len())));
            });
        }
        weights = filters.rest;
        finish.channels(channel, sums, y);
        channel += y.len();
    }
}

/// Products of the cells under a window with many filters, int16 times int8.
///
/// Compiled once, like [`products_f32`].
#[inline(never)]
pub(crate) fn products_i16(
    cells: impl Segments<i16>,
    (weights, filter): (&[i8], usize),
    requantize: &RequantizeI16<'_>,
    y: &mut [i16],
) {
    let mut filters = chunks(weights, filter);
    for (channel, y) in y.iter_mut().enumerate() {
        // A phase of a transposed convolution may have no weights.
        let weights = filters.next().unwrap_or_default();
        let mut sum = 0_i64;
        cells.for_each(|x, at| sum = sum.wrapping_add(dot_i16(x, part(weights, at, x.len()))));
        *y = requantize.apply(channel, sum);
    }
}
