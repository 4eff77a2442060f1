//! `depthwise_conv2d`: a window of weights over images, each channel by itself.

use super::dot::VECTORS;
use super::images::{Image, Images};
use super::loops::chunks_mut;
use super::requantize::{Finish, Requantize};
use super::window::Taps;
use super::{OutputI8, RangeF32, Window2d, kernel_params};
use crate::Params;

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
}

/// Channels that are summed together, as long as there are so many.
const WIDE_BLOCK: usize = if VECTORS { 16 } else { 4 };

/// Channels of the remaining ones that are summed together.
const BLOCK: usize = if VECTORS { 8 } else { 1 };

/// The cells under a window: where they lie in `x` and in the weights.
#[derive(Clone, Copy)]
struct Patch<'a, T> {
    x: Image<'a, T>,
    weights: &'a [T],
    rows: usize,
    columns: usize,
    /// First element in `x` and in the weights.
    start: [usize; 2],
    /// Elements from one row to the next, in `x` and in the weights.
    row: [usize; 2],
    /// Elements from one column to the next, in `x` and in the weights.
    step: [usize; 2],
}

impl<'a, T: Copy> Patch<'a, T> {
    #[inline(always)]
    fn new(
        window: &Window2d,
        [rows, columns]: [Taps; 2],
        (x, in_channels): (Image<'a, T>, usize),
        (weights, out_channels): (&'a [T], usize),
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
    fn channels<A: Arithmetic<Element = T>>(&self, arithmetic: &A, depth_multiplier: usize, y: &mut [T]) {
        if depth_multiplier == 1 {
            self.run::<A, false>(arithmetic, [0, 0], y);
        } else {
            for (x_channel, y) in chunks_mut(y, depth_multiplier).enumerate() {
                self.run::<A, true>(arithmetic, [x_channel, x_channel * depth_multiplier], y);
            }
        }
    }

    /// Computes a run of channels, which all read one channel of `x` if `SHARED`.
    #[inline(always)]
    fn run<A: Arithmetic<Element = T>, const SHARED: bool>(
        &self,
        arithmetic: &A,
        [x_channel, mut channel]: [usize; 2],
        y: &mut [T],
    ) {
        let (wide, rest) = y.as_chunks_mut::<WIDE_BLOCK>();
        channel = self.blocks::<A, SHARED, WIDE_BLOCK>(arithmetic, [x_channel, channel], wide);
        let (blocks, rest) = rest.as_chunks_mut::<BLOCK>();
        channel = self.blocks::<A, SHARED, BLOCK>(arithmetic, [x_channel, channel], blocks);
        let (single, _) = rest.as_chunks_mut::<1>();
        self.blocks::<A, SHARED, 1>(arithmetic, [x_channel, channel], single);
    }

    /// Computes blocks of `N` channels and returns the next channel.
    #[inline(always)]
    fn blocks<A: Arithmetic<Element = T>, const SHARED: bool, const N: usize>(
        &self,
        arithmetic: &A,
        [x_channel, mut channel]: [usize; 2],
        y: &mut [[T; N]],
    ) -> usize {
        for y in y {
            let mut sums = [A::Sum::default(); N];
            let x_channel = if SHARED { x_channel } else { channel };
            self.sum::<A, SHARED, N>(arithmetic, [x_channel, channel], &mut sums);
            arithmetic.finish(channel, &mut sums, y);
            channel += N;
        }
        channel
    }

    /// Adds the cells of `N` channels to their sums, in order.
    #[inline(always)]
    fn sum<A: Arithmetic<Element = T>, const SHARED: bool, const N: usize>(
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

/// What differs between element types.
trait Arithmetic {
    type Element: Copy;
    type Sum: Copy + Default;
    fn multiply_add(&self, sum: Self::Sum, x: Self::Element, weight: Self::Element) -> Self::Sum;
    /// Sets `y` to the results of the channels from `first` on.
    fn finish(&self, first: usize, sums: &mut [Self::Sum], y: &mut [Self::Element]);
}

struct F32<'a> {
    bias: &'a [f32],
    range: RangeF32,
}

impl Arithmetic for F32<'_> {
    type Element = f32;
    type Sum = f32;

    #[inline(always)]
    fn multiply_add(&self, sum: f32, x: f32, weight: f32) -> f32 {
        sum + x * weight
    }

    #[inline(always)]
    fn finish(&self, first: usize, sums: &mut [f32], y: &mut [f32]) {
        for (sum, bias) in sums.iter_mut().zip(self.bias.get(first..).unwrap_or_default()) {
            *sum += bias;
        }
        for (y, sum) in y.iter_mut().zip(sums) {
            *y = self.range.limit(*sum);
        }
    }
}

struct I8<'a> {
    zero: i16,
    requantize: Requantize<'a>,
}

impl Arithmetic for I8<'_> {
    type Element = i8;
    type Sum = i32;

    #[inline(always)]
    fn multiply_add(&self, sum: i32, x: i8, weight: i8) -> i32 {
        let x = i16::from(x).wrapping_sub(self.zero);
        sum.wrapping_add(i32::from(x) * i32::from(weight))
    }

    #[inline(always)]
    fn finish(&self, first: usize, sums: &mut [i32], y: &mut [i8]) {
        self.requantize.channels(first, sums, y);
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
    let p = params.get();
    let out_channels = p.in_channels * p.depth_multiplier;
    debug_assert_eq!(weights.len(), p.window.kernel_cells() * out_channels);
    let arithmetic = F32 { bias, range: p.range };
    images.for_each_cell(&p.window, [p.in_channels, out_channels], |x, taps, y| {
        let patch = Patch::new(&p.window, taps, (x, p.in_channels), (weights, out_channels));
        patch.channels(&arithmetic, p.depth_multiplier, y);
    });
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
    let out_channels = p.in_channels * p.depth_multiplier;
    debug_assert_eq!(weights.len(), p.window.kernel_cells() * out_channels);
    let requantize = Requantize { bias, multipliers, shifts, offset: 0, output: p.output };
    let arithmetic = I8 { zero: p.input_zero_point as i16, requantize };
    images.for_each_cell(&p.window, [p.in_channels, out_channels], |x, taps, y| {
        let patch = Patch::new(&p.window, taps, (x, p.in_channels), (weights, out_channels));
        patch.channels(&arithmetic, p.depth_multiplier, y);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixed_point::Multiplier;
    use crate::kernels::Apart;
    use crate::kernels::tests::{Random, floats, for_each_tap};

    struct Case {
        name: &'static str,
        window: Window2d,
        in_channels: usize,
        depth_multiplier: usize,
        x: &'static [i8],
        weights: &'static [i8],
        bias: &'static [i8],
        expect: &'static [i8],
    }

    const WINDOW: Window2d = Window2d {
        batch: 1,
        input: [1, 2],
        output: [1, 1],
        kernel: [1, 2],
        stride: [1, 1],
        dilation: [1, 1],
        padding: [0, 0],
    };

    /// Small integers, computed by hand; the same in floats and in int8.
    const CASES: &[Case] = &[
        Case {
            name: "nine channels: a block and one",
            window: WINDOW,
            in_channels: 9,
            depth_multiplier: 1,
            x: &[1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1],
            weights: &[1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9],
            bias: &[0, 0, 0, 0, 0, 0, 0, 0, 1],
            expect: &[2, 4, 6, 8, 10, 12, 14, 16, 28],
        },
        Case {
            name: "multiplier two",
            window: WINDOW,
            in_channels: 2,
            depth_multiplier: 2,
            x: &[1, 2, 3, 4],
            weights: &[1, 10, 1, 10, 2, 1, 0, -1],
            bias: &[],
            // 1 + 3*2, 10 + 3, 2, 20 - 4
            expect: &[7, 13, 2, 16],
        },
        Case {
            name: "multiplier nine of one channel: a block and one",
            window: WINDOW,
            in_channels: 1,
            depth_multiplier: 9,
            x: &[1, 2],
            weights: &[1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1],
            bias: &[],
            expect: &[3, 4, 5, 6, 7, 8, 9, 10, 11],
        },
        Case {
            name: "padding, stride, batch",
            window: Window2d {
                batch: 2,
                input: [3, 1],
                output: [2, 1],
                kernel: [3, 1],
                stride: [2, 1],
                padding: [1, 0],
                ..WINDOW
            },
            in_channels: 1,
            depth_multiplier: 1,
            x: &[1, 2, 3, 4, 5, 6],
            weights: &[1, 2, 3],
            bias: &[],
            // 2 + 3*2, 2 + 2*3; 8 + 15, 5 + 12
            expect: &[8, 8, 23, 17],
        },
        Case {
            name: "dilation",
            window: Window2d { input: [1, 4], output: [1, 2], dilation: [1, 2], ..WINDOW },
            in_channels: 1,
            depth_multiplier: 1,
            x: &[1, 2, 3, 4],
            weights: &[10, 1],
            bias: &[],
            expect: &[13, 24],
        },
    ];

    #[test]
    fn depthwise_conv2d_f32_cases() {
        for case in CASES {
            let params = DepthwiseConv2dF32 {
                window: case.window,
                in_channels: case.in_channels,
                depth_multiplier: case.depth_multiplier,
                range: RangeF32 { min: f32::NEG_INFINITY, max: f32::INFINITY },
            };
            let [x, weights, bias, expect] = [case.x, case.weights, case.bias, case.expect].map(floats);
            let mut y = [f32::NAN; 32];
            let y = &mut y[..case.expect.len()];
            let images = Apart { x: &x[..case.x.len()], y };
            let (weights, bias) = (&weights[..case.weights.len()], &bias[..case.bias.len()]);
            depthwise_conv2d_f32(&params, images, weights, bias);
            assert_eq!(y, &expect[..y.len()], "{}", case.name);
        }
    }

    #[test]
    fn depthwise_conv2d_i8_cases() {
        for case in CASES {
            for zero in [0_i8, -100, 90] {
                let params = DepthwiseConv2dI8 {
                    window: case.window,
                    in_channels: case.in_channels,
                    depth_multiplier: case.depth_multiplier,
                    input_zero_point: zero.into(),
                    output: OutputI8 { zero_point: -1, min: -128, max: 127, single_rounding: false },
                };
                let one = Multiplier::from_real(1.0).unwrap();
                let mut x = [0; 32];
                for (x, case_x) in x.iter_mut().zip(case.x) {
                    *x = case_x + zero;
                }
                let mut bias = [0; 16];
                for (bias, &case_bias) in bias.iter_mut().zip(case.bias) {
                    *bias = case_bias.into();
                }
                let mut y = [0; 32];
                let y = &mut y[..case.expect.len()];
                depthwise_conv2d_i8(
                    &params,
                    Apart { x: &x[..case.x.len()], y },
                    case.weights,
                    &bias[..case.bias.len()],
                    &[one.multiplier],
                    &[one.shift as i8],
                );
                for (y, expect) in y.iter().zip(case.expect) {
                    assert_eq!(*y, expect - 1, "{}", case.name);
                }
            }
        }
    }

    #[test]
    fn depthwise_conv2d_equals_the_definition() {
        let mut random = Random(3);
        for _ in 0..300 {
            let window = random.window();
            let depth_multiplier = 1 + random.below(2) * random.below(20);
            let in_channels = 1 + random.below(if depth_multiplier == 1 { 40 } else { 3 });
            let out_channels = in_channels * depth_multiplier;
            let zero = random.below(256) as i32 - 128;
            let (x, weights) = (random.array::<3920>(), random.array::<1024>());
            let x = &x[..window.batch * window.input_cells() * in_channels];
            let weights = &weights[..window.kernel_cells() * out_channels];
            let bias: [i32; 64] = core::array::from_fn(|i| i as i32 * 128);
            let params = DepthwiseConv2dI8 {
                window,
                in_channels,
                depth_multiplier,
                input_zero_point: zero,
                output: OutputI8 { zero_point: 0, min: -128, max: 127, single_rounding: true },
            };
            let factor = Multiplier::from_real(1.0 / 1024.0).unwrap();
            let (multipliers, shifts) = ([factor.multiplier; 64], [factor.shift as i8; 64]);
            let mut y = [0; 2000];
            let y = &mut y[..window.batch * window.output_cells() * out_channels];
            depthwise_conv2d_i8(
                &params,
                Apart { x, y },
                weights,
                &bias[..out_channels],
                &multipliers[..out_channels],
                &shifts[..out_channels],
            );
            let [height, width] = window.output;
            for (index, &y) in y.iter().enumerate() {
                let (cell, channel) = (index / out_channels, index % out_channels);
                let place = [cell / (height * width), cell / width % height, cell % width];
                let mut sum = bias[channel];
                for_each_tap(&window, place, |tap, pixel| {
                    let x = i32::from(x[pixel * in_channels + channel / depth_multiplier]) - zero;
                    sum += x * i32::from(weights[tap * out_channels + channel]);
                });
                assert_eq!(i32::from(y), ((sum + 512) >> 10).clamp(-128, 127), "{params:?}");
            }
        }
    }
}
