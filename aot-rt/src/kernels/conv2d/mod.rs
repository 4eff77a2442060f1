//! `conv2d`: a window of weights over images, for every output channel.

#[cfg(test)]
mod tests;

use core::num::NonZeroUsize;

use half::f16;

use super::dot::VECTORS;
use super::dynamic::{Dynamic, RowQuantization};
use super::filters::{Patch, products_i16, zero_products};
use super::images::Images;
use super::loops::{chunks, chunks_mut};
use super::nibbles::{Blocked, Bytes, Nibbles, Stored};
use super::real::Real;
use super::requantize::{Finish, FinishF32, Requantize, RequantizeI16};
use super::window::{Place, Taps};
use super::{OutputI8, RangeF32, RangeI16, Window2d, kernel_params};
use crate::Params;

kernel_params! {
    /// Parameters of [`conv2d_f32`].
    pub struct Conv2dF32 {
        /// How the window moves.
        pub window: Window2d,
        /// Channels of `x`, a multiple of `groups`.
        pub in_channels: usize,
        /// Channels of `y`, a multiple of `groups`.
        pub out_channels: usize,
        /// Groups of channels that are convolved apart; at least 1.
        pub groups: usize,
        /// Fused activation.
        pub range: RangeF32,
    }

    /// Parameters of [`conv2d_i8`].
    pub struct Conv2dI8 {
        /// How the window moves.
        pub window: Window2d,
        /// Channels of `x`, a multiple of `groups`.
        pub in_channels: usize,
        /// Channels of `y`, a multiple of `groups`.
        pub out_channels: usize,
        /// Groups of channels that are convolved apart; at least 1.
        pub groups: usize,
        /// Zero point of `x`, which cells outside the image have, too.
        pub input_zero_point: i32,
        /// Zero point of the weights; 0 unless they are quantized per tensor.
        pub weights_zero_point: i32,
        /// Zero point and limits of `y`.
        pub output: OutputI8,
    }

    /// Parameters of [`conv2d_i16`].
    pub struct Conv2dI16 {
        /// How the window moves.
        pub window: Window2d,
        /// Channels of `x`, a multiple of `groups`.
        pub in_channels: usize,
        /// Channels of `y`, a multiple of `groups`.
        pub out_channels: usize,
        /// Groups of channels that are convolved apart; at least 1.
        pub groups: usize,
        /// Limits of `y`.
        pub range: RangeI16,
    }

    /// Parameters of [`conv2d_dynamic_i8`].
    pub struct Conv2dDynamicI8 {
        /// How the window moves; there is one image.
        pub window: Window2d,
        /// Channels of `x`, a multiple of `groups`.
        pub in_channels: usize,
        /// Channels of `y`, a multiple of `groups`.
        pub out_channels: usize,
        /// Groups of channels that are convolved apart; at least 1.
        pub groups: usize,
        /// Fused activation.
        pub range: RangeF32,
    }
}

/// The patch of the first group under a window; `group` of `channels` channels.
///
/// With one group and no dilation, a row of the window is one segment; with one
/// cell or row, the whole patch is.
#[inline(always)]
pub(super) fn patch(
    window: &Window2d,
    ring: usize,
    [rows, columns]: [Taps; 2],
    channels: usize,
    group: usize,
) -> Patch {
    let [row_axis, column_axis] = window.axes();
    let merged = column_axis.dilation == 1 && channels == group;
    let filter_row = column_axis.kernel * group;
    Patch {
        rows: rows.count,
        segments: if merged { 1 } else { columns.count },
        segment: if merged { columns.count * group } else { group },
        start: [
            (rows.start * column_axis.input + columns.start) * channels,
            rows.first * filter_row + columns.first * group,
        ],
        row: [row_axis.dilation * column_axis.input * channels, filter_row],
        step: [column_axis.dilation * channels, group],
        ring,
    }
}

/// Window and channels of a convolution, whatever it computes in.
#[derive(Clone, Copy)]
pub(super) struct Layer {
    window: Window2d,
    in_channels: usize,
    out_channels: usize,
    groups: usize,
}

impl Layer {
    /// Elements of a filter, and channels of `x` and `y` that make a group.
    #[inline(always)]
    fn group(&self) -> (usize, usize, usize) {
        let groups = NonZeroUsize::new(self.groups).unwrap_or(NonZeroUsize::MIN);
        let (in_group, out_group) = (self.in_channels / groups, self.out_channels / groups);
        (self.window.kernel_cells() * in_group, in_group, out_group)
    }
}

macro_rules! layer {
    ($($params:ident),*) => {$(
        impl From<$params> for Layer {
            #[inline(always)]
            fn from(p: $params) -> Self {
                let (in_channels, out_channels) = (p.in_channels, p.out_channels);
                Self { window: p.window, in_channels, out_channels, groups: p.groups }
            }
        }
    )*};
}

layer!(Conv2dF32, Conv2dI8, Conv2dI16, Conv2dDynamicI8);

/// Convolution, f32.
///
/// `x`: `[batch, in_h, in_w, in_channels]`, `weights`:
/// `[out_channels, kernel_h, kernel_w, in_channels / groups]` with the filters of each
/// group [packed](super::packed_filters), `bias`: `[out_channels]` or empty, `y`:
/// `[batch, out_h, out_w, out_channels]`. Cells outside the image count as 0.
pub fn conv2d_f32(params: &impl Params<Conv2dF32>, images: impl Images<f32>, weights: &[f32], bias: &[f32]) {
    convolve_f32(params, images, weights, bias, &params.get().range);
}

/// [`conv2d_f32`] with weights in half precision.
pub fn conv2d_f16(params: &impl Params<Conv2dF32>, images: impl Images<f32>, weights: &[f16], bias: &[f32]) {
    convolve_f32(params, images, weights, bias, &params.get().range);
}

/// Convolution, int8.
///
/// `x`: `[batch, in_h, in_w, in_channels]`, `weights`:
/// `[out_channels, kernel_h, kernel_w, in_channels / groups]`, `bias`:
/// `[out_channels]` or empty, `multipliers` and `shifts`: `[out_channels]` or `[1]`,
/// `y`: `[batch, out_h, out_w, out_channels]`. Cells outside the image are at the
/// zero point.
pub fn conv2d_i8(
    params: &impl Params<Conv2dI8>,
    images: impl Images<i8>,
    weights: &[i8],
    bias: &[i32],
    multipliers: &[i32],
    shifts: &[i8],
) {
    convolve_i8::<Bytes>(params, images, weights, (bias, multipliers, shifts));
}

/// [`conv2d_i8`] with the filters of each group as
/// [`Constants::with_blocks`](crate::Constants::with_blocks) arranges them, from a multiple of four
/// bytes on where there are four or more.
pub fn conv2d_blocked_i8(
    params: &impl Params<Conv2dI8>,
    images: impl Images<i8>,
    weights: &[i8],
    bias: &[i32],
    multipliers: &[i32],
    shifts: &[i8],
) {
    convolve_i8::<Blocked>(params, images, weights, (bias, multipliers, shifts));
}

/// [`conv2d_i8`] with weights of four bits: two of a filter are in a byte, the first in its
/// lower half, and every filter starts with a whole one.
pub fn conv2d_i4(
    params: &impl Params<Conv2dI8>,
    images: impl Images<i8>,
    weights: &[i8],
    bias: &[i32],
    multipliers: &[i32],
    shifts: &[i8],
) {
    convolve_i8::<Nibbles>(params, images, weights, (bias, multipliers, shifts));
}

/// Convolution of an image that has been quantized when it was there.
///
/// `x`: `[1, in_h, in_w, in_channels]` and `quantization`, `[1, 3]`, as
/// [`quantize_dynamic_i8`](super::quantize_dynamic_i8) makes and reads them, `weights`: as in
/// [`conv2d_i8`], `scales`: theirs, `[out_channels]` or `[1]`, `bias`: `[out_channels]` or
/// empty, `y`: `[1, out_h, out_w, out_channels]`. Cells outside the image count as 0.
pub fn conv2d_dynamic_i8(
    params: &impl Params<Conv2dDynamicI8>,
    images: impl Images<i8, f32>,
    weights: &[i8],
    bias: &[f32],
    scales: &[f32],
    quantization: &[f32],
) {
    let p = params.get();
    let Some(row) = RowQuantization::rows(quantization).next() else { return };
    let finish = Dynamic::new(bias, scales, row.scale, p.range);
    let zeros = [row.zero_point().into(), 0];
    convolve_integers::<Bytes, _, _>(params, zeros, images, weights, |first, _| finish.skip(first));
}

/// Convolution, int16 with int8 weights.
///
/// `x`: `[batch, in_h, in_w, in_channels]`, `weights`:
/// `[out_channels, kernel_h, kernel_w, in_channels / groups]`, `bias`:
/// `[out_channels]` or empty, `multipliers` and `shifts`: `[out_channels]` or `[1]`,
/// `y`: `[batch, out_h, out_w, out_channels]`. Zero points are 0, as are cells outside the
/// image. Sums have 64 bits.
pub fn conv2d_i16(
    params: &impl Params<Conv2dI16>,
    images: impl Images<i16>,
    weights: &[i8],
    bias: &[i64],
    multipliers: &[i16],
    shifts: &[i8],
) {
    let p = params.get();
    let layer = Layer::from(p);
    let requantize = RequantizeI16 { bias, multipliers, shifts, range: p.range };
    let (filter, in_group, out_group) = layer.group();
    debug_assert_eq!(weights.len(), filter * p.out_channels);
    images.for_each_cell(&p.window, [p.in_channels, p.out_channels], |x, place, y| {
        let taps = p.window.taps(place);
        let mut patch = patch(&p.window, x.ring, taps, p.in_channels, in_group);
        let groups = chunks_mut(y, out_group).zip(chunks(weights, filter * out_group));
        for (group, (y, weights)) in groups.enumerate() {
            products_i16((&patch, x.cells), (weights, filter), &requantize.skip(group * out_group), y);
            patch.start[0] += in_group;
        }
    });
}

/// The convolution, with the sums going where `finish` says.
///
/// Generic over the parameters, so that the closure below is a step's own and is inlined
/// for being called once.
#[inline(always)]
pub(super) fn convolve_f32(
    params: &impl Params<Conv2dF32>,
    images: impl Images<f32>,
    weights: &[impl Real],
    bias: &[f32],
    finish: &impl FinishF32,
) {
    let p = params.get();
    let (filter, in_group, out_group) = Layer::from(p).group();
    debug_assert_eq!(weights.len(), filter * p.out_channels);
    images.for_each_cell(&p.window, [p.in_channels, p.out_channels], |x, place, y| {
        let taps = p.window.taps(place);
        let mut patch = patch(&p.window, x.ring, taps, p.in_channels, in_group);
        let groups = chunks_mut(y, out_group).zip(chunks(weights, filter * out_group));
        for (group, (y, weights)) in groups.enumerate() {
            let bias = bias.get(group * out_group..).unwrap_or_default();
            patch.products_f32(x.cells, (weights, filter), bias, finish, y);
            patch.start[0] += in_group;
        }
    });
}

/// [`conv2d_i8`], however the weights are stored.
#[inline(always)]
fn convolve_i8<S: Stored>(
    params: &impl Params<Conv2dI8>,
    images: impl Images<i8>,
    weights: &[i8],
    (bias, multipliers, shifts): (&[i32], &[i32], &[i8]),
) {
    let p = params.get();
    let requantize = Requantize { bias, multipliers, shifts, offset: 0, output: p.output };
    let zeros = [p.input_zero_point, p.weights_zero_point];
    convolve_integers::<S, _, _>(params, zeros, images, weights, |first, offset| {
        requantize.skip(first, offset)
    });
}

/// The convolution of integers with zero points, with the sums of the channels from the one
/// given to `finish` on, less what it is given second, going where that says.
#[inline(always)]
pub(super) fn convolve_integers<S: Stored, T, F: Finish>(
    params: &impl Params<T>,
    [zero, weights_zero]: [i32; 2],
    images: impl Images<i8, F::Y>,
    weights: &[i8],
    finish: impl Fn(usize, i32) -> F,
) where
    Layer: From<T>,
{
    let layer = Layer::from(params.get());
    let (filter, in_group, out_group) = layer.group();
    debug_assert_eq!(weights.len(), S::bytes(filter) * layer.out_channels);
    let zero = zero as i16;
    images.for_each_cell(&layer.window, [layer.in_channels, layer.out_channels], |x, place, y| {
        let mut patch = patch_at(params, x.ring, place, in_group);
        let groups = chunks_mut(y, out_group).zip(chunks(weights, S::bytes(filter) * out_group));
        for (group, (y, weights)) in groups.enumerate() {
            let offset = match weights_zero {
                0 => 0,
                weights_zero => zero_products((&patch, x.cells), zero, weights_zero),
            };
            let finish = finish(group * out_group, offset);
            patch.products_i8::<S, F>(x.cells, zero, (weights, filter), &finish, y);
            patch.start[0] += in_group;
        }
    });
}

/// The patch of a cell. Where the kernel is not compiled for its parameters, it is made in a
/// frame of its own: not all of them need to be on the stack then, in every frame below.
#[inline(always)]
fn patch_at<T, P: Params<T>>(params: &P, ring: usize, place: Place, group: usize) -> Patch
where
    Layer: From<T>,
{
    #[inline(always)]
    fn here<T, P: Params<T>>(params: &P, ring: usize, place: Place, group: usize) -> Patch
    where
        Layer: From<T>,
    {
        let layer = Layer::from(params.get());
        patch(&layer.window, ring, layer.window.taps(place), layer.in_channels, group)
    }

    #[inline(never)]
    fn apart<T, P: Params<T>>(params: &P, ring: usize, place: Place, group: usize) -> Patch
    where
        Layer: From<T>,
    {
        here(params, ring, place, group)
    }

    if P::CONSTANT || VECTORS { here(params, ring, place, group) } else { apart(params, ring, place, group) }
}
