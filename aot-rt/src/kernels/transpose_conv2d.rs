//! `transpose_conv2d`: the transpose of a convolution, every cell of `x` times a window of
//! weights, summed where the windows overlap.
//!
//! Computed from the side of `y`: the cells of `y` that are at the same place modulo the
//! stride, a phase, see the same weights of the window, and are a convolution of stride 1
//! with those.

use core::num::NonZeroUsize;

use super::conv2d::patch;
use super::filters::{Patch, products_i16};
use super::loops::{chunks, chunks_mut, part_mut};
use super::nibbles::Bytes;
use super::requantize::{Requantize, RequantizeI16};
use super::window::Axis;
use super::{OutputI8, RangeF32, RangeI16, Window2d, kernel_params};
use crate::Params;

kernel_params! {
    /// Parameters of [`transpose_conv2d_f32`].
    pub struct TransposeConv2dF32 {
        /// How the window of the convolution that this is the transpose of moves: over images
        /// of `y`, to make those of `x`. Without dilation.
        pub window: Window2d,
        /// Channels of `x`.
        pub in_channels: usize,
        /// Channels of `y`.
        pub out_channels: usize,
        /// Fused activation.
        pub range: RangeF32,
    }

    /// Parameters of [`transpose_conv2d_i8`].
    pub struct TransposeConv2dI8 {
        /// As in [`TransposeConv2dF32`].
        pub window: Window2d,
        /// Channels of `x`.
        pub in_channels: usize,
        /// Channels of `y`.
        pub out_channels: usize,
        /// Zero point of `x`.
        pub input_zero_point: i32,
        /// Zero point and limits of `y`.
        pub output: OutputI8,
    }

    /// Parameters of [`transpose_conv2d_i16`].
    pub struct TransposeConv2dI16 {
        /// As in [`TransposeConv2dF32`].
        pub window: Window2d,
        /// Channels of `x`.
        pub in_channels: usize,
        /// Channels of `y`.
        pub out_channels: usize,
        /// Limits of `y`.
        pub range: RangeI16,
    }
}

/// Transposed convolution, f32.
///
/// `x`: `[batch, in_h, in_w, in_channels]`, `weights`: those of each
/// [phase](transposed_filters), `[out_channels, rows, columns, in_channels]` with the filters
/// [packed](super::packed_filters), `bias`: `[out_channels]` or empty, `y`:
/// `[batch, out_h, out_w, out_channels]`.
pub fn transpose_conv2d_f32(
    params: &impl Params<TransposeConv2dF32>,
    x: &[f32],
    y: &mut [f32],
    weights: &[f32],
    bias: &[f32],
) {
    let p = params.get();
    for_each_cell(&p.window, [p.in_channels, p.out_channels], x, y, weights, |patch, x, filters, y| {
        patch.products_f32(x, filters, bias, &p.range, y);
    });
}

/// Transposed convolution, int8.
///
/// `x`: `[batch, in_h, in_w, in_channels]`, `weights`: those of each
/// [phase](transposed_filters), `[out_channels, rows, columns, in_channels]`, `bias`:
/// `[out_channels]` or empty, `multipliers` and `shifts`: `[out_channels]` or `[1]`, `y`:
/// `[batch, out_h, out_w, out_channels]`.
pub fn transpose_conv2d_i8(
    params: &impl Params<TransposeConv2dI8>,
    x: &[i8],
    y: &mut [i8],
    weights: &[i8],
    bias: &[i32],
    multipliers: &[i32],
    shifts: &[i8],
) {
    let p = params.get();
    let requantize = Requantize { bias, multipliers, shifts, offset: 0, output: p.output };
    let zero = p.input_zero_point as i16;
    for_each_cell(&p.window, [p.in_channels, p.out_channels], x, y, weights, |patch, x, filters, y| {
        patch.products_i8::<Bytes, _>(x, zero, filters, &requantize, y);
    });
}

/// Transposed convolution, int16 with int8 weights.
///
/// Shapes as in [`transpose_conv2d_i8`]. Zero points are 0. Sums have 64 bits.
pub fn transpose_conv2d_i16(
    params: &impl Params<TransposeConv2dI16>,
    x: &[i16],
    y: &mut [i16],
    weights: &[i8],
    bias: &[i64],
    multipliers: &[i16],
    shifts: &[i8],
) {
    let p = params.get();
    let requantize = RequantizeI16 { bias, multipliers, shifts, range: p.range };
    for_each_cell(&p.window, [p.in_channels, p.out_channels], x, y, weights, |patch, x, filters, y| {
        products_i16((&patch, x), filters, &requantize, y);
    });
}

/// Where the weights `[out, rows, columns, in]` of a transposed convolution are, for the order
/// that its kernels read them in: phase by phase, and the window turned round within each.
/// Phase `i` of an axis has its weights `i`, `i + stride`, and so on.
///
/// ```
/// # use aot_rt::kernels::transposed_filters;
/// // A row of three weights, at a stride of 2.
/// let phases: Vec<Vec<usize>> = transposed_filters([1, 3], [1, 2], [1, 1]).map(Iterator::collect).collect();
/// assert_eq!(phases, [vec![2, 0], vec![1]]);
/// ```
pub fn transposed_filters(
    kernel: [usize; 2],
    stride: [usize; 2],
    [in_channels, out_channels]: [usize; 2],
) -> impl Iterator<Item = impl Iterator<Item = usize> + Clone> {
    let of_phase = move |axis: usize, phase| (phase..kernel[axis]).step_by(stride[axis].max(1)).rev();
    let phases = (0..stride[0]).flat_map(move |row| (0..stride[1]).map(move |column| [row, column]));
    phases.map(move |[row, column]| {
        let cells = of_phase(0, row).flat_map(move |row| {
            of_phase(1, column).map(move |column| (row * kernel[1] + column) * in_channels)
        });
        let filter = kernel[0] * kernel[1] * in_channels;
        (0..out_channels).flat_map(move |out| {
            cells.clone().flat_map(move |cell| (0..in_channels).map(move |i| out * filter + cell + i))
        })
    })
}

/// The cells of `y` along an axis that are of a phase, each with the position of the window
/// over `x` that its phase's convolution has there.
#[inline(always)]
fn cells(axis: Axis, phase: usize) -> impl Iterator<Item = (usize, usize)> {
    let padded = (0..).map(move |position| (position, position * axis.stride + phase));
    let inside = padded.take_while(move |(_, cell)| *cell < axis.padding + axis.input);
    inside.filter_map(move |(position, cell)| Some((position, cell.checked_sub(axis.padding)?)))
}

/// Weights of a phase along an axis.
#[inline(always)]
fn taps(axis: Axis, phase: usize) -> usize {
    let stride = NonZeroUsize::new(axis.stride).unwrap_or(NonZeroUsize::MIN);
    (axis.kernel.saturating_sub(phase) + (stride.get() - 1)) / stride
}

/// Calls `products` for every cell of `y` with the patch of `x` that it is made of, the
/// images of `x`, and the filters of its phase with their length.
#[inline(always)]
fn for_each_cell<T, W, Y>(
    window: &Window2d,
    [in_channels, out_channels]: [usize; 2],
    x: &[T],
    y: &mut [Y],
    weights: &[W],
    products: impl Fn(Patch, &[T], (&[W], usize), &mut [Y]),
) {
    debug_assert_eq!(x.len(), window.batch * window.output_cells() * in_channels);
    debug_assert_eq!(y.len(), window.batch * window.input_cells() * out_channels);
    debug_assert_eq!(weights.len(), window.kernel_cells() * in_channels * out_channels);
    let [rows, columns] = window.axes();
    let images = chunks_mut(y, window.input_cells() * out_channels);
    for (x, y) in chunks(x, window.output_cells() * in_channels).zip(images) {
        let mut rest = weights;
        for row_phase in 0..rows.stride {
            for column_phase in 0..columns.stride {
                let kernel = [taps(rows, row_phase), taps(columns, column_phase)];
                let filter = kernel[0] * kernel[1] * in_channels;
                let (weights, others) = rest.split_at_checked(filter * out_channels).unwrap_or_default();
                rest = others;
                let phase = Window2d {
                    input: window.output,
                    output: window.input,
                    kernel,
                    stride: [1, 1],
                    dilation: [1, 1],
                    padding: kernel.map(|taps| taps.saturating_sub(1)),
                    ..*window
                };
                let [phase_rows, phase_columns] = phase.axes();
                for (position, row) in cells(rows, row_phase) {
                    let row_taps = phase_rows.taps(position);
                    for (position, column) in cells(columns, column_phase) {
                        let taps = [row_taps, phase_columns.taps(position)];
                        let patch = patch(&phase, usize::MAX, taps, in_channels, in_channels);
                        let cell = (row * columns.input + column) * out_channels;
                        products(patch, x, (weights, filter), part_mut(y, cell, out_channels));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::packed_filters;
    use crate::kernels::tests::Random;

    /// Adds every cell of `x` times the window to `y`, as the operator is defined.
    fn scatter<const Y: usize>(w: &Window2d, [ins, outs]: [usize; 2], x: &[i8], weights: &[i8]) -> [i32; Y] {
        let mut y = [0; Y];
        for (i, &x) in x.iter().enumerate() {
            let (cell, channel) = (i / ins, i % ins);
            let [row, column] = [cell / w.output[1] % w.output[0], cell % w.output[1]];
            let image = cell / w.output_cells();
            for tap in 0..w.kernel_cells() * outs {
                let (out, tap) = (tap % outs, tap / outs);
                let [tap_row, tap_column] = [tap / w.kernel[1], tap % w.kernel[1]];
                let at = [row * w.stride[0] + tap_row, column * w.stride[1] + tap_column];
                let [Some(row), Some(column)] = [0, 1].map(|i| at[i].checked_sub(w.padding[i])) else {
                    continue;
                };
                if row < w.input[0] && column < w.input[1] {
                    let y = &mut y[((image * w.input[0] + row) * w.input[1] + column) * outs + out];
                    *y += i32::from(x) * i32::from(weights[(out * w.kernel_cells() + tap) * ins + channel]);
                }
            }
        }
        y
    }

    #[test]
    fn phases_are_the_scattered_windows() {
        let range = RangeF32 { min: f32::NEG_INFINITY, max: f32::INFINITY };
        let channels = [3, 2];
        for (kernel, stride, padding, input) in [
            ([3, 3], [2, 2], [0, 1], [7, 5]),
            ([2, 4], [1, 2], [0, 1], [4, 6]),
            ([1, 1], [2, 3], [0, 0], [5, 7]),
            ([4, 2], [3, 1], [1, 0], [7, 5]),
        ] {
            let out = |i: usize| (input[i] + 2 * padding[i] - kernel[i]) / stride[i] + 1;
            let output = [out(0), out(1)];
            let window = Window2d { batch: 2, input, output, kernel, stride, dilation: [1, 1], padding };
            let mut random = Random(9);
            let x: [i8; 2 * 7 * 7 * 3] = random.array();
            let x = &x[..2 * window.output_cells() * channels[0]];
            let weights: [i8; 16 * 6] = random.array();
            let weights = &weights[..window.kernel_cells() * 6];
            let expect = scatter::<{ 2 * 35 * 2 }>(&window, channels, x, weights);
            let cells = 2 * window.input_cells() * channels[1];

            let (mut packed, mut start) = ([0.0; 16 * 6], 0);
            for phase in transposed_filters(kernel, stride, channels) {
                let len = phase.clone().count();
                for (i, at) in packed_filters(2, len / 2).enumerate() {
                    packed[start + i] = weights[phase.clone().nth(at).unwrap()].into();
                }
                start += len;
            }
            let (x, packed) = (
                core::array::from_fn::<f32, 294, _>(|i| x.get(i).map_or(0.0, |&x| x.into())),
                &packed[..start],
            );
            let x = &x[..2 * window.output_cells() * channels[0]];
            let params = TransposeConv2dF32 { window, in_channels: 3, out_channels: 2, range };
            let mut y = [f32::NAN; 2 * 35 * 2];
            transpose_conv2d_f32(&params, x, &mut y[..cells], packed, &[]);
            assert!(y[..cells].iter().zip(expect).all(|(y, expect)| *y == expect as f32), "{kernel:?}");
        }
    }
}
