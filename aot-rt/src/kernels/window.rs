//! Windows that move over images: the geometry of convolutions and pools.

use core::num::NonZeroUsize;

use super::kernel_params;

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
    /// Where the window's edge is, from that of the padding.
    origin: usize,
    /// The first of them, counted from the window's edge.
    pub(crate) first: usize,
    /// Their number.
    pub(crate) count: usize,
}

/// A cell of an image of `y`.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub(crate) row: usize,
    pub(crate) column: usize,
    /// Rows of `x` before the one that a ring of them starts with.
    pub(crate) skipped: usize,
}

impl Window2d {
    /// The taps of the window at a cell, down the rows and along the columns.
    #[inline(always)]
    pub(crate) const fn taps(&self, place: Place) -> [Taps; 2] {
        let [rows, columns] = self.axes();
        let rows = rows.taps(place.row);
        [Taps { start: rows.start.wrapping_sub(place.skipped), ..rows }, columns.taps(place.column)]
    }

    /// Down the rows, and along the columns.
    #[inline(always)]
    pub(crate) const fn axes(&self) -> [Axis; 2] {
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
    pub(crate) const fn input_cells(&self) -> usize {
        self.input[0] * self.input[1]
    }

    /// Cells of an image of `y`.
    #[inline(always)]
    pub(crate) const fn output_cells(&self) -> usize {
        self.output[0] * self.output[1]
    }

    /// Cells of the window.
    #[inline(always)]
    pub(crate) const fn kernel_cells(&self) -> usize {
        self.kernel[0] * self.kernel[1]
    }
}

impl Axis {
    /// The taps when the window is at `position`.
    #[inline(always)]
    pub(crate) const fn taps(self, position: usize) -> Taps {
        let origin = position * self.stride;
        // Taps before the image, and taps before its end.
        let first = self.steps(self.padding.saturating_sub(origin));
        let end = min(self.steps((self.padding + self.input).saturating_sub(origin)), self.kernel);
        Taps {
            start: (origin + first * self.dilation).wrapping_sub(self.padding),
            origin,
            first,
            count: end.saturating_sub(first),
        }
    }

    /// The number of cells of a window that are in the image or its padding, which
    /// is `after` cells at the end.
    #[inline(always)]
    pub(crate) const fn padded_taps(self, taps: Taps, after: usize) -> usize {
        min(self.steps((self.padding + self.input + after).saturating_sub(taps.origin)), self.kernel)
    }

    /// Number of taps in `cells`.
    #[inline(always)]
    const fn steps(self, cells: usize) -> usize {
        match NonZeroUsize::new(self.dilation) {
            Some(dilation) if self.dilation > 1 => (cells + self.dilation - 1) / dilation.get(),
            _ => cells,
        }
    }
}

/// The lesser; `Ord::min` cannot be called in constants.
#[inline(always)]
pub(crate) const fn min(a: usize, b: usize) -> usize {
    if a < b { a } else { b }
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
