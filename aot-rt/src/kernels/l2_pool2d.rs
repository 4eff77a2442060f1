//! `l2_pool2d`: the root of the mean of a window's squares, for each channel.

use super::images::Images;
use super::pool2d::{Patch, counted_cells};
use super::{RangeF32, Window2d, kernel_params};
use crate::Params;

kernel_params! {
    /// Parameters of [`l2_pool2d_f32`].
    pub struct L2Pool2dF32 {
        /// How the window moves.
        pub window: Window2d,
        /// Channels of `x` and `y`.
        pub channels: usize,
        /// Fused activation.
        pub range: RangeF32,
    }
}

/// Root of the mean of squares over a window, f32.
///
/// `x`: `[batch, in_h, in_w, channels]`, `y`: `[batch, out_h, out_w, channels]`. Divides by
/// the number of cells in the image. Writes `y` in row-major order, each cell's channels in
/// order, each after the cells of `x` that it needs have been read.
pub fn l2_pool2d_f32(params: &impl Params<L2Pool2dF32>, images: impl Images<f32>) {
    let p = params.get();
    images.for_each_cell(&p.window, [p.channels; 2], |x, place, y| {
        let taps = p.window.taps(place);
        let cells = counted_cells(&p.window, taps, None) as f32;
        Patch::new(&p.window, taps, x, p.channels).fold(
            y,
            0.0_f32,
            |sum, x| sum + x * x,
            |sum| p.range.limit(libm::sqrtf(sum / cells)),
        );
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Apart;

    #[test]
    fn divides_by_the_cells_inside() {
        let params = L2Pool2dF32 {
            window: Window2d {
                batch: 1,
                input: [1, 3],
                output: [1, 2],
                kernel: [1, 2],
                stride: [1, 2],
                dilation: [1, 1],
                padding: [0, 0],
            },
            channels: 1,
            range: RangeF32 { min: 0.0, max: 6.0 },
        };
        let mut y = [0.0; 2];
        l2_pool2d_f32(&params, Apart { x: &[1.0, -7.0, 7.0], y: &mut y });
        assert_eq!(y, [5.0, 6.0]);
    }
}
