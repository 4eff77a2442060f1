//! `average_pool2d` and `max_pool2d`: the mean and the largest of a window's cells,
//! for each channel.

use super::dot::VECTORS;
use super::images::{Image, Images};
use super::output::Quantized;
use super::sum_rows::rounded_quotient;
use super::window::Taps;
use super::{RangeF32, RangeI8, Window2d, kernel_params};
use crate::Params;

kernel_params! {
    /// Parameters of [`average_pool2d_f32`].
    pub struct AveragePool2dF32 {
        /// How the window moves.
        pub window: Window2d,
        /// Channels of `x` and `y`.
        pub channels: usize,
        /// Divide by all cells of the padded image, not only by those of the image.
        pub count_padding: bool,
        /// Rows below the image and columns right of it that `count_padding` counts.
        pub padding_after: [usize; 2],
        /// Fused activation.
        pub range: RangeF32,
    }

    /// Parameters of [`average_pool2d_i8`] and [`average_pool2d_i16`].
    pub struct AveragePool2dI8 {
        /// How the window moves.
        pub window: Window2d,
        /// Channels of `x` and `y`.
        pub channels: usize,
        /// Divide by all cells of the padded image, not only by those of the image.
        pub count_padding: bool,
        /// Rows below the image and columns right of it that `count_padding` counts.
        pub padding_after: [usize; 2],
        /// Zero point of `x` and `y`, which counted cells outside the image have.
        pub zero_point: i32,
        /// Added to every cell before division, and taken off the mean: ties are rounded away
        /// from minus this. 0, or 128 as for uint8.
        pub rounding_offset: i32,
        /// Limits of `y`.
        pub range: RangeI8,
    }

    /// Parameters of [`max_pool2d_f32`].
    pub struct MaxPool2dF32 {
        /// How the window moves.
        pub window: Window2d,
        /// Channels of `x` and `y`.
        pub channels: usize,
        /// Fused activation.
        pub range: RangeF32,
    }

    /// Parameters of [`max_pool2d_i8`] and [`max_pool2d_i16`].
    pub struct MaxPool2dI8 {
        /// How the window moves.
        pub window: Window2d,
        /// Channels of `x` and `y`.
        pub channels: usize,
        /// Limits of `y`.
        pub range: RangeI8,
    }
}

/// Channels that are reduced together.
const BLOCK: usize = if VECTORS { 8 } else { 4 };

/// The cells under a window: where they lie in `x`.
#[derive(Clone, Copy)]
pub(super) struct Patch<'a, T> {
    x: Image<'a, T>,
    rows: usize,
    columns: usize,
    start: usize,
    /// Elements from one row to the next.
    row: usize,
    /// Elements from one column to the next.
    step: usize,
}

impl<'a, T: Copy> Patch<'a, T> {
    #[inline(always)]
    pub(super) fn new(
        window: &Window2d,
        [rows, columns]: [Taps; 2],
        x: Image<'a, T>,
        channels: usize,
    ) -> Self {
        let [row_axis, column_axis] = window.axes();
        Self {
            x,
            rows: rows.count,
            columns: columns.count,
            start: (rows.start * column_axis.input + columns.start) * channels,
            row: row_axis.dilation * column_axis.input * channels,
            step: column_axis.dilation * channels,
        }
    }

    /// Folds the cells, in order, from `init` for each channel of `y`.
    #[inline(always)]
    pub(super) fn fold<A: Copy>(
        &self,
        y: &mut [T],
        init: A,
        fold: impl Fn(A, T) -> A + Copy,
        finish: impl Fn(A) -> T + Copy,
    ) {
        let (blocks, rest) = y.as_chunks_mut::<BLOCK>();
        let mut channel = 0;
        for y in blocks {
            let mut folded = [init; BLOCK];
            self.fold_channels(channel, &mut folded, fold);
            for (y, folded) in y.iter_mut().zip(folded) {
                *y = finish(folded);
            }
            channel += BLOCK;
        }
        for y in rest {
            let mut folded = [init];
            self.fold_channels(channel, &mut folded, fold);
            *y = finish(folded[0]);
            channel += 1;
        }
    }

    #[inline(always)]
    fn fold_channels<A: Copy, const N: usize>(
        &self,
        channel: usize,
        folded: &mut [A; N],
        fold: impl Fn(A, T) -> A,
    ) {
        let mut row = self.start + channel;
        for _ in 0..self.rows {
            let mut at = row;
            for _ in 0..self.columns {
                if let Some(x) = self.x.cells.get(at..).and_then(|x| x.first_chunk::<N>()) {
                    for (folded, &x) in folded.iter_mut().zip(x) {
                        *folded = fold(*folded, x);
                    }
                }
                at += self.step;
            }
            row += self.row;
            if row >= self.x.ring {
                row -= self.x.ring;
            }
        }
    }
}

/// Number of cells that an average divides by.
#[inline(always)]
pub(super) fn counted_cells(
    window: &Window2d,
    [rows, columns]: [Taps; 2],
    padding_after: Option<[usize; 2]>,
) -> usize {
    match padding_after {
        None => rows.count * columns.count,
        Some([below, right]) => {
            let [row_axis, column_axis] = window.axes();
            row_axis.padded_taps(rows, below) * column_axis.padded_taps(columns, right)
        }
    }
}

/// Mean over a window, f32.
///
/// `x`: `[batch, in_h, in_w, channels]`, `y`: `[batch, out_h, out_w, channels]`.
/// Divides by the number of cells in the image, or in the padded image with
/// `count_padding`. Writes `y` in row-major order, each cell's channels in order,
/// each after the cells of `x` that it needs have been read.
pub fn average_pool2d_f32(params: &impl Params<AveragePool2dF32>, images: impl Images<f32>) {
    let p = params.get();
    let padding_after = p.count_padding.then_some(p.padding_after);
    images.for_each_cell(&p.window, [p.channels; 2], |x, place, y| {
        let taps = p.window.taps(place);
        let cells = counted_cells(&p.window, taps, padding_after) as f32;
        Patch::new(&p.window, taps, x, p.channels).fold(
            y,
            0.0_f32,
            |sum, x| sum + x,
            |sum| p.range.limit(sum / cells),
        );
    });
}

/// Mean over a window, int8, rounded half away from zero or from another number.
///
/// `x`: `[batch, in_h, in_w, channels]`, `y`: `[batch, out_h, out_w, channels]`, both
/// with the same scale and zero point. Divides by the number of cells in the image,
/// or in the padded image with `count_padding`. Writes `y` in row-major order, each
/// cell's channels in order, each after the cells of `x` that it needs have been
/// read.
pub fn average_pool2d_i8(params: &impl Params<AveragePool2dI8>, images: impl Images<i8>) {
    average(params.get(), images);
}

/// Mean over a window, int16: as [`average_pool2d_i8`].
pub fn average_pool2d_i16(params: &impl Params<AveragePool2dI8>, images: impl Images<i16>) {
    average(params.get(), images);
}

#[inline(always)]
fn average<T: Quantized>(p: AveragePool2dI8, images: impl Images<T>) {
    let padding_after = p.count_padding.then_some(p.padding_after);
    images.for_each_cell(&p.window, [p.channels; 2], |x, place, y| {
        let taps = p.window.taps(place);
        let cells = counted_cells(&p.window, taps, padding_after) as u32;
        let [rows, columns] = taps;
        let outside = cells.wrapping_sub((rows.count * columns.count) as u32) as i32;
        let offsets = p.rounding_offset.wrapping_mul(cells as i32);
        let init = outside.wrapping_mul(p.zero_point).wrapping_add(offsets);
        Patch::new(&p.window, taps, x, p.channels).fold(
            y,
            init,
            |sum, x| sum.wrapping_add(x.into()),
            |sum| p.range.limit(rounded_quotient(sum, cells).wrapping_sub(p.rounding_offset)),
        );
    });
}

/// Largest cell of a window, f32.
///
/// `x`: `[batch, in_h, in_w, channels]`, `y`: `[batch, out_h, out_w, channels]`. Cells
/// outside the image are ignored, and so is NaN, as in the reference. Writes `y` in
/// row-major order, each cell's channels in order, each after the cells of `x` that
/// it needs have been read.
pub fn max_pool2d_f32(params: &impl Params<MaxPool2dF32>, images: impl Images<f32>) {
    let p = params.get();
    images.for_each_cell(&p.window, [p.channels; 2], |x, place, y| {
        let taps = p.window.taps(place);
        Patch::new(&p.window, taps, x, p.channels).fold(
            y,
            f32::MIN,
            |max, x| if max < x { x } else { max },
            |max| p.range.limit(max),
        );
    });
}

/// Largest cell of a window, int8.
///
/// `x`: `[batch, in_h, in_w, channels]`, `y`: `[batch, out_h, out_w, channels]`, both
/// with the same scale and zero point. Cells outside the image are ignored. Writes
/// `y` in row-major order, each cell's channels in order, each after the cells of
/// `x` that it needs have been read.
pub fn max_pool2d_i8(params: &impl Params<MaxPool2dI8>, images: impl Images<i8>) {
    largest(params.get(), images);
}

/// Largest cell of a window, int16: as [`max_pool2d_i8`].
pub fn max_pool2d_i16(params: &impl Params<MaxPool2dI8>, images: impl Images<i16>) {
    largest(params.get(), images);
}

#[inline(always)]
fn largest<T: Quantized + Into<i16>>(p: MaxPool2dI8, images: impl Images<T>) {
    images.for_each_cell(&p.window, [p.channels; 2], |x, place, y| {
        let taps = p.window.taps(place);
        Patch::new(&p.window, taps, x, p.channels).fold(
            y,
            // As 16 bits, which more processors compare in vectors than 8.
            i16::MIN,
            |max, x| max.max(x.into()),
            |max| p.range.limit(max.into()),
        );
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Apart;
    use crate::kernels::tests::floats;

    const WINDOW: Window2d = Window2d {
        batch: 1,
        input: [2, 2],
        output: [1, 1],
        kernel: [2, 2],
        stride: [2, 2],
        dilation: [1, 1],
        padding: [0, 0],
    };
    const ALL: RangeF32 = RangeF32 { min: f32::NEG_INFINITY, max: f32::INFINITY };

    struct Case {
        name: &'static str,
        window: Window2d,
        channels: usize,
        x: &'static [i8],
        average: &'static [i8],
        max: &'static [i8],
    }

    const CASES: &[Case] = &[
        Case {
            name: "known-faults.md L7: the second image, ties away from zero",
            window: Window2d { batch: 2, ..WINDOW },
            channels: 1,
            x: &[-28, 91, 13, -120, 67, 58, 88, -84],
            average: &[-11, 32],
            max: &[91, 88],
        },
        Case {
            name: "divides by the cells inside",
            window: Window2d {
                input: [1, 3],
                output: [1, 2],
                kernel: [1, 3],
                stride: [1, 2],
                padding: [0, 1],
                ..WINDOW
            },
            channels: 1,
            x: &[10, 21, -7],
            average: &[16, 7],
            max: &[21, 21],
        },
        Case {
            name: "nine channels: a block and one",
            window: Window2d { input: [2, 1], kernel: [2, 1], ..WINDOW },
            channels: 9,
            x: &[1, 2, 3, 4, 5, 6, 7, 8, 9, 3, 3, 3, 3, 3, 3, 3, 3, -3],
            average: &[2, 3, 3, 4, 4, 5, 5, 6, 3],
            max: &[3, 3, 3, 4, 5, 6, 7, 8, 9],
        },
    ];

    #[test]
    fn pool2d_i8_cases() {
        for case in CASES {
            let range = RangeI8 { min: -128, max: 127 };
            let mut y = [0; 16];
            let y = &mut y[..case.average.len()];
            let params = AveragePool2dI8 {
                window: case.window,
                channels: case.channels,
                count_padding: false,
                padding_after: [0, 0],
                zero_point: -3,
                rounding_offset: 0,
                range,
            };
            average_pool2d_i8(&params, Apart { x: case.x, y });
            assert_eq!(y, case.average, "{}", case.name);
            max_pool2d_i8(
                &MaxPool2dI8 { window: case.window, channels: case.channels, range },
                Apart { x: case.x, y },
            );
            assert_eq!(y, case.max, "{}", case.name);
        }
    }

    #[test]
    fn pool2d_f32_cases() {
        for case in CASES {
            let [x, average, max] = [case.x, case.average, case.max].map(floats);
            let mut y = [f32::NAN; 16];
            let y = &mut y[..case.average.len()];
            let params = AveragePool2dF32 {
                window: case.window,
                channels: case.channels,
                count_padding: false,
                padding_after: [0, 0],
                range: ALL,
            };
            average_pool2d_f32(&params, Apart { x: &x[..case.x.len()], y });
            assert_eq!(
                y.iter().map(|&y| libm::roundf(y)).sum::<f32>(),
                average.iter().sum(),
                "{}",
                case.name
            );
            let params = MaxPool2dF32 { window: case.window, channels: case.channels, range: ALL };
            max_pool2d_f32(&params, Apart { x: &x[..case.x.len()], y });
            assert_eq!(y, &max[..y.len()], "{}", case.name);
        }
    }

    #[test]
    fn average_pool2d_counts_padding() {
        // known-faults.md O6: the image is padded by 1, and the last windows reach
        // beyond the padding, where nothing counts.
        let window = Window2d { input: [4, 4], output: [3, 3], kernel: [3, 3], padding: [1, 1], ..WINDOW };
        let x: [f32; 16] = core::array::from_fn(|i| i as f32);
        for (count_padding, expect) in [
            (false, [2.5, 4.0, 5.0, 8.5, 10.0, 11.0, 12.5, 14.0, 15.0]),
            (true, [1.111_111, 2.666_666_7, 1.666_666_6, 5.666_666_5, 10.0, 5.5, 4.166_666_5, 7.0, 3.75]),
        ] {
            let params =
                AveragePool2dF32 { window, channels: 1, count_padding, padding_after: [1, 1], range: ALL };
            let mut y = [0.0; 9];
            average_pool2d_f32(&params, Apart { x: &x, y: &mut y });
            for (y, expect) in y.iter().zip(expect) {
                assert!((y - expect).abs() < 1e-6, "{y} {expect}");
            }
        }
        // In int8, the padding is at the zero point: (-54 + 5 * 8) / 9.
        let params = AveragePool2dI8 {
            window: Window2d { input: [2, 2], output: [1, 1], kernel: [3, 3], padding: [1, 1], ..WINDOW },
            channels: 1,
            count_padding: true,
            padding_after: [0, 0],
            zero_point: 8,
            rounding_offset: 0,
            range: RangeI8 { min: -128, max: 6 },
        };
        let mut y = [0];
        average_pool2d_i8(&params, Apart { x: &[5, -20, -11, -28], y: &mut y });
        assert_eq!(y, [-2]);
    }

    #[test]
    fn average_pool2d_rounds_ties_away_from_minus_the_offset() {
        // uint8 120, 117, 118, 119: a mean of 118.5 becomes 119, which is -9.
        for (rounding_offset, expect) in [(0, -10), (128, -9)] {
            let params = AveragePool2dI8 {
                window: WINDOW,
                channels: 1,
                count_padding: false,
                padding_after: [0, 0],
                zero_point: 0,
                rounding_offset,
                range: RangeI8 { min: -128, max: 127 },
            };
            let mut y = [0];
            average_pool2d_i8(&params, Apart { x: &[-8, -11, -10, -9], y: &mut y });
            assert_eq!(y, [expect]);
        }
    }

    #[test]
    fn max_pool2d_f32_ignores_nan() {
        let params = MaxPool2dF32 { window: WINDOW, channels: 1, range: ALL };
        let mut y = [0.0];
        max_pool2d_f32(&params, Apart { x: &[f32::NAN, -2.0, -1.0, f32::NAN], y: &mut y });
        assert_eq!(y, [-1.0]);
    }
}
