//! `depthwise_conv2d`: a window of weights over images, each channel by itself.

mod arithmetic;
mod patch;
#[cfg(test)]
mod tests;

use core::marker::PhantomData;

use half::f16;

use super::dynamic::{Dynamic, RowQuantization};
use super::images::Images;
use super::real::Real;
use super::requantize::{Requantize, RequantizeI16};
use super::{OutputI8, RangeF32, RangeI16, Window2d, kernel_params};
use crate::Params;
use arithmetic::{Arithmetic, AsymmetricI8, F32, I8, I16};
use patch::Patch;

kernel_params! {
    /// Parameters of [`depthwise_conv2d_f32`].
    pub struct DepthwiseConv2dF32 {
        /// How the window moves.
        pub window: Window2d,
        /// Channels of `x`.
        pub in_channels: usize,
        /// Channels of `y` that each channel of `x` gives; at least 1.
        pub depth_multiplier: usize,
        /// Fused activation.
        pub range: RangeF32,
    }

    /// Parameters of [`depthwise_conv2d_i8`].
    pub struct DepthwiseConv2dI8 {
        /// How the window moves.
        pub window: Window2d,
        /// Channels of `x`.
        pub in_channels: usize,
        /// Channels of `y` that each channel of `x` gives; at least 1.
        pub depth_multiplier: usize,
        /// Zero point of `x`, which cells outside the image have, too.
        pub input_zero_point: i32,
        /// Zero point and limits of `y`.
        pub output: OutputI8,
    }

    /// Parameters of [`depthwise_conv2d_i16`].
    pub struct DepthwiseConv2dI16 {
        /// How the window moves.
        pub window: Window2d,
        /// Channels of `x`.
        pub in_channels: usize,
        /// Channels of `y` that each channel of `x` gives; at least 1.
        pub depth_multiplier: usize,
        /// Limits of `y`.
        pub range: RangeI16,
    }

    /// Parameters of [`depthwise_conv2d_dynamic_i8`].
    pub struct DepthwiseConv2dDynamicI8 {
        /// How the window moves; there is one image.
        pub window: Window2d,
        /// Channels of `x`.
        pub in_channels: usize,
        /// Channels of `y` that each channel of `x` gives; at least 1.
        pub depth_multiplier: usize,
        /// Fused activation.
        pub range: RangeF32,
    }

    /// Parameters of [`depthwise_conv2d_asymmetric_i8`].
    pub struct DepthwiseConv2dAsymmetricI8 {
        /// How the window moves.
        pub window: Window2d,
        /// Channels of `x`.
        pub in_channels: usize,
        /// Channels of `y` that each channel of `x` gives; at least 1.
        pub depth_multiplier: usize,
        /// Zero point of `x`, which cells outside the image have, too.
        pub input_zero_point: i32,
        /// Zero point of the weights.
        pub weights_zero_point: i32,
        /// Zero point and limits of `y`.
        pub output: OutputI8,
    }
}

/// Depthwise convolution, f32.
///
/// `x`: `[batch, in_h, in_w, in_channels]`, `weights`:
/// `[1, kernel_h, kernel_w, out_channels]`, `bias`: `[out_channels]` or empty, `y`:
/// `[batch, out_h, out_w, out_channels]`, where channel `i * depth_multiplier + m` of
/// `y` reads channel `i` of `x`. Cells outside the image count as 0. Writes `y` in
/// row-major order, each cell's channels in order, each after the cells of `x` that
/// it needs have been read.
pub fn depthwise_conv2d_f32(
    params: &impl Params<DepthwiseConv2dF32>,
    images: impl Images<f32>,
    weights: &[f32],
    bias: &[f32],
) {
    convolve_f32(params, images, weights, bias);
}

/// [`depthwise_conv2d_f32`] with weights in half precision.
pub fn depthwise_conv2d_f16(
    params: &impl Params<DepthwiseConv2dF32>,
    images: impl Images<f32>,
    weights: &[f16],
    bias: &[f32],
) {
    convolve_f32(params, images, weights, bias);
}

#[inline(always)]
fn convolve_f32<W: Real>(
    params: &impl Params<DepthwiseConv2dF32>,
    images: impl Images<f32>,
    weights: &[W],
    bias: &[f32],
) {
    let p = params.get();
    let channels = [p.in_channels, p.depth_multiplier];
    let arithmetic = F32 { bias, range: p.range, weights: PhantomData };
    convolve(params, &p.window, channels, images, weights, &arithmetic);
}

/// Depthwise convolution, int8.
///
/// `x`: `[batch, in_h, in_w, in_channels]`, `weights`:
/// `[1, kernel_h, kernel_w, out_channels]`, `bias`: `[out_channels]` or empty,
/// `multipliers` and `shifts`: `[out_channels]` or `[1]`, `y`:
/// `[batch, out_h, out_w, out_channels]`, where channel `i * depth_multiplier + m` of
/// `y` reads channel `i` of `x`. Cells outside the image are at the zero point.
/// Writes `y` in row-major order, each cell's channels in order, each after the
/// cells of `x` that it needs have been read.
pub fn depthwise_conv2d_i8(
    params: &impl Params<DepthwiseConv2dI8>,
    images: impl Images<i8>,
    weights: &[i8],
    bias: &[i32],
    multipliers: &[i32],
    shifts: &[i8],
) {
    let p = params.get();
    let channels = [p.in_channels, p.depth_multiplier];
    let finish = Requantize { bias, multipliers, shifts, offset: 0, output: p.output };
    convolve(params, &p.window, channels, images, weights, &I8 { zero: p.input_zero_point as i16, finish });
}

/// Depthwise convolution, int8, with weights that have a zero point other than 0: one
/// for all, as converters of uint8 models make them.
///
/// Shapes and order as in [`depthwise_conv2d_i8`].
pub fn depthwise_conv2d_asymmetric_i8(
    params: &impl Params<DepthwiseConv2dAsymmetricI8>,
    images: impl Images<i8>,
    weights: &[i8],
    bias: &[i32],
    multipliers: &[i32],
    shifts: &[i8],
) {
    let p = params.get();
    let channels = [p.in_channels, p.depth_multiplier];
    let finish = Requantize { bias, multipliers, shifts, offset: 0, output: p.output };
    let x = I8 { zero: p.input_zero_point as i16, finish };
    let arithmetic = AsymmetricI8 { x, weights_zero: p.weights_zero_point as i16 };
    convolve(params, &p.window, channels, images, weights, &arithmetic);
}

/// Depthwise convolution of an image that has been quantized when it was there.
///
/// `x`: `[1, in_h, in_w, in_channels]` and `quantization`, `[1, 3]`, as
/// [`quantize_dynamic_i8`](super::quantize_dynamic_i8) makes and reads them, `weights`: as in
/// [`depthwise_conv2d_i8`], `scales`: theirs, `[out_channels]` or `[1]`, `bias`:
/// `[out_channels]` or empty, `y`: `[1, out_h, out_w, out_channels]`. Cells outside the image
/// count as 0.
pub fn depthwise_conv2d_dynamic_i8(
    params: &impl Params<DepthwiseConv2dDynamicI8>,
    images: impl Images<i8, f32>,
    weights: &[i8],
    bias: &[f32],
    scales: &[f32],
    quantization: &[f32],
) {
    let p = params.get();
    let Some(row) = RowQuantization::rows(quantization).next() else { return };
    let finish = Dynamic::new(bias, scales, row.scale, p.range);
    let channels = [p.in_channels, p.depth_multiplier];
    convolve(params, &p.window, channels, images, weights, &I8 { zero: row.zero_point(), finish });
}

/// Depthwise convolution, int16 with int8 weights.
///
/// Shapes and order as in [`depthwise_conv2d_i8`]. Zero points are 0, as are cells outside
/// the image. Sums have 64 bits.
pub fn depthwise_conv2d_i16(
    params: &impl Params<DepthwiseConv2dI16>,
    images: impl Images<i16>,
    weights: &[i8],
    bias: &[i64],
    multipliers: &[i16],
    shifts: &[i8],
) {
    let p = params.get();
    let channels = [p.in_channels, p.depth_multiplier];
    let arithmetic = I16(RequantizeI16 { bias, multipliers, shifts, range: p.range });
    convolve(params, &p.window, channels, images, weights, &arithmetic);
}

/// The convolution, whatever the arithmetic.
///
/// `_step` is only there for its type: with it the closure below is a step's own, is
/// inlined for being called once, and `window` is a constant in it. One closure for the
/// steps of a model takes 1.3 to 2.4 times as long.
#[inline(always)]
fn convolve<A: Arithmetic>(
    _step: &impl Sized,
    window: &Window2d,
    [in_channels, depth_multiplier]: [usize; 2],
    images: impl Images<A::X, A::Y>,
    weights: &[A::Weight],
    arithmetic: &A,
) {
    let out_channels = in_channels * depth_multiplier;
    debug_assert_eq!(weights.len(), window.kernel_cells() * out_channels);
    images.for_each_cell(window, [in_channels, out_channels], |x, place, y| {
        let taps = window.taps(place);
        let patch = Patch::new(window, taps, (x, in_channels), (weights, out_channels));
        patch.channels(arithmetic, depth_multiplier, y);
    });
}
