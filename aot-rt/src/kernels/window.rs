//! Windows that move over images: the geometry of convolutions and pools.

use core::num::NonZeroUsize;

use super::kernel_params;
use super::loops::{chunks, chunks_mut};

kernel_params! {
    /// How a window moves over images. Pairs are rows, then columns.
    pub struct Window2d {
        /// Images in `x` and `y`.
        pub batch: usize,
        /// Extent of an image of `x`.
        pub input: [usize; 2],
        /// Extent of an image of `y`.
        pub output: [usize; 2],
        /// Cells of the window.
        pub kernel: [usize; 2],
        /// Cells of `x` from one position of the window to the next.
        pub stride: [usize; 2],
        /// Cells of `x` from one cell of the window to the next; at least 1.
        pub dilation: [usize; 2],
        /// Rows above the image, columns left of it: where the window starts.
        pub padding: [usize; 2],
    }
}

/// One axis of a [`Window2d`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    pub(crate) input: usize,
    pub(crate) kernel: usize,
    pub(crate) stride: usize,
    pub(crate) dilation: usize,
    pub(crate) padding: usize,
}

/// The cells of a window, at one position along an axis, that are in the image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Taps {
    /// Cell of the image under the first of them.
    pub(crate) start: usize,
    /// The first of them, counted from the window's edge.
    pub(crate) first: usize,
    /// Their number.
    pub(crate) count: usize,
}

impl Window2d {
    /// Down the rows, and along the columns.
    #[inline(always)]
    pub(crate) fn axes(&self) -> [Axis; 2] {
        let [input, kernel, stride, dilation, padding] =
            [self.input, self.kernel, self.stride, self.dilation, self.padding];
        [
            Axis {
                input: input[0],
                kernel: kernel[0],
                stride: stride[0],
                dilation: dilation[0],
                padding: padding[0],
            },
            Axis {
                input: input[1],
                kernel: kernel[1],
                stride: stride[1],
                dilation: dilation[1],
                padding: padding[1],
            },
        ]
    }

    /// Cells of an image of `x`.
    #[inline(always)]
    pub(crate) fn input_cells(&self) -> usize {
        self.input[0] * self.input[1]
    }

    /// Cells of an image of `y`.
    #[inline(always)]
    pub(crate) fn output_cells(&self) -> usize {
        self.output[0] * self.output[1]
    }

    /// Cells of the window.
    #[inline(always)]
    pub(crate) fn kernel_cells(&self) -> usize {
        self.kernel[0] * self.kernel[1]
    }

    /// Calls `cell` for every cell of every image of `y`, in order, with the image
    /// of `x`, the taps along both axes, and the channels of the cell of `y`.
    #[inline(always)]
    pub(crate) fn for_each_cell<T, U>(
        &self,
        (x, x_channels): (&[T], usize),
        (y, y_channels): (&mut [U], usize),
        mut cell: impl FnMut(&[T], Taps, Taps, &mut [U]),
    ) {
        let [rows, columns] = self.axes();
        let y_row = self.output[1] * y_channels;
        let x_images = chunks(x, self.input_cells() * x_channels);
        let y_images = chunks_mut(y, self.output_cells() * y_channels);
        for (x, y) in x_images.zip(y_images) {
            for (row, y) in chunks_mut(y, y_row).enumerate() {
                let row_taps = rows.taps(row);
                for (column, y) in chunks_mut(y, y_channels).enumerate() {
                    cell(x, row_taps, columns.taps(column), y);
                }
            }
        }
    }
}

impl Axis {
    /// The taps when the window is at `position`.
    #[inline(always)]
    pub(crate) fn taps(self, position: usize) -> Taps {
        let origin = position * self.stride;
        // Taps before the image, and taps before its end.
        let first = self.steps(self.padding.saturating_sub(origin));
        let end = self.steps((self.padding + self.input).saturating_sub(origin)).min(self.kernel);
        Taps {
            start: (origin + first * self.dilation).wrapping_sub(self.padding),
            first,
            count: end.saturating_sub(first),
        }
    }

    /// The number of cells of a window that are in the image or its padding, which
    /// is `after` cells at the end.
    #[inline(always)]
    pub(crate) fn padded_taps(self, taps: Taps, after: usize) -> usize {
        let origin = taps.start.wrapping_add(self.padding).wrapping_sub(taps.first * self.dilation);
        self.steps((self.padding + self.input + after).saturating_sub(origin)).min(self.kernel)
    }

    /// Number of taps in `cells`.
    #[inline(always)]
    fn steps(self, cells: usize) -> usize {
        match NonZeroUsize::new(self.dilation) {
            Some(dilation) if self.dilation > 1 => (cells + self.dilation - 1) / dilation,
            _ => cells,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taps_are_those_inside_the_image() {
        for input in 1..7 {
            for kernel in 1..5 {
                for stride in 1..4 {
                    for dilation in 1..4 {
                        for padding in 0..5 {
                            for position in 0..6 {
                                let axis = Axis { input, kernel, stride, dilation, padding };
                                let cell =
                                    |tap: usize| (position * stride + tap * dilation).checked_sub(padding);
                                let mut inside =
                                    (0..kernel).filter(|&tap| cell(tap).is_some_and(|cell| cell < input));
                                let taps = axis.taps(position);
                                assert_eq!(taps.count, inside.clone().count(), "{position} {axis:?}");
                                if let Some(first) = inside.next() {
                                    assert_eq!((taps.first, Some(taps.start)), (first, cell(first)));
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
