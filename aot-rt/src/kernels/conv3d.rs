//! `conv3d`: a window of weights over volumes, for every output channel.

use super::conv2d::patch;
use super::filters::{Patch, Segments, products_f32};
use super::loops::{chunks, chunks_mut};
use super::window::{Axis, Taps};
use super::{RangeF32, Window2d, kernel_params};
use crate::Params;

kernel_params! {
    /// Parameters of [`conv3d_f32`].
    pub struct Conv3dF32 {
        /// How the window moves over the images that a volume consists of; the volumes are
        /// its batch.
        pub window: Window2d,
        /// Images in a volume of `x`.
        pub input_depth: usize,
        /// Images in a volume of `y`.
        pub output_depth: usize,
        /// Images under the window.
        pub kernel_depth: usize,
        /// Images of `x` from one position of the window to the next.
        pub stride_depth: usize,
        /// Images of `x` from one cell of the window to the next; at least 1.
        pub dilation_depth: usize,
        /// Images before the volume.
        pub padding_depth: usize,
        /// Channels of `x`.
        pub in_channels: usize,
        /// Channels of `y`.
        pub out_channels: usize,
        /// Fused activation.
        pub range: RangeF32,
    }
}

/// The patches of the images under a window.
#[derive(Clone, Copy)]
struct Stack<'a> {
    /// The patch of the first image.
    patch: Patch,
    images: usize,
    /// Elements from one image to the next, in `x` and in the filter.
    step: [usize; 2],
    x: &'a [f32],
}

impl Segments<f32> for Stack<'_> {
    #[inline(always)]
    fn for_each(&self, mut segment: impl FnMut(&[f32], usize)) {
        let mut patch = self.patch;
        for _ in 0..self.images {
            (&patch, self.x).for_each(&mut segment);
            patch.start[0] += self.step[0];
            patch.start[1] += self.step[1];
        }
    }
}

/// Convolution of volumes, f32.
///
/// `x`: `[batch, in_d, in_h, in_w, in_channels]`, `weights`:
/// `[out_channels, kernel_d, kernel_h, kernel_w, in_channels]` with the filters
/// [packed](super::packed_filters), `bias`: `[out_channels]` or empty, `y`:
/// `[batch, out_d, out_h, out_w, out_channels]`. Cells outside the volume count as 0.
pub fn conv3d_f32(params: &impl Params<Conv3dF32>, x: &[f32], y: &mut [f32], weights: &[f32], bias: &[f32]) {
    let p = params.get();
    let Conv3dF32 { window, in_channels, out_channels, .. } = p;
    let image = window.input_cells() * in_channels;
    let filter_image = window.kernel_cells() * in_channels;
    let filter = p.kernel_depth * filter_image;
    let row = window.output[1] * out_channels;
    debug_assert_eq!(x.len(), window.batch * p.input_depth * image);
    debug_assert_eq!(weights.len(), filter * out_channels);
    let [rows, columns] = window.axes();
    let depth = Axis {
        input: p.input_depth,
        kernel: p.kernel_depth,
        stride: p.stride_depth,
        dilation: p.dilation_depth,
        padding: p.padding_depth,
    };
    let volumes = chunks_mut(y, p.output_depth * window.output[0] * row);
    for (x, y) in chunks(x, p.input_depth * image).zip(volumes) {
        for (i, y) in chunks_mut(y, window.output[0] * row).enumerate() {
            let Taps { start, first, count, .. } = depth.taps(i);
            let x = x.get(start * image..).unwrap_or_default();
            for (i, y) in chunks_mut(y, row).enumerate() {
                let row_taps = rows.taps(i);
                for (i, y) in chunks_mut(y, out_channels).enumerate() {
                    let taps = [row_taps, columns.taps(i)];
                    let mut patch = patch(&window, usize::MAX, taps, in_channels, in_channels);
                    patch.start[1] += first * filter_image;
                    let step = [depth.dilation * image, filter_image];
                    let cells = Stack { patch, images: count, step, x };
                    products_f32(cells, (weights, filter), bias, &p.range, y);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conv3d_f32_sums_over_the_depth() {
        let window = Window2d {
            batch: 1,
            input: [1, 2],
            output: [1, 2],
            kernel: [1, 1],
            stride: [1, 1],
            dilation: [1, 1],
            padding: [0, 0],
        };
        let p = Conv3dF32 {
            window,
            input_depth: 3,
            output_depth: 3,
            kernel_depth: 2,
            stride_depth: 1,
            dilation_depth: 2,
            padding_depth: 1,
            in_channels: 1,
            out_channels: 1,
            range: RangeF32 { min: 0.0, max: 60.0 },
        };
        let mut y = [f32::NAN; 6];
        conv3d_f32(&p, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &mut y, &[1.0, 10.0], &[0.5]);
        // The images before and behind are 0.
        assert_eq!(y, [30.5, 40.5, 51.5, 60.0, 3.5, 4.5]);
    }
}
