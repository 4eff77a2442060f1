//! Where the images of a window kernel lie, and which cells of `y` it computes.
//!
//! The arithmetic of a kernel is the same whether `x` and `y` lie apart, share a
//! region, or are rings of rows: a kernel is written once, over [`Images`].

use super::loops::{chunks, chunks_mut, part, part_mut};
use super::overlap::Overlap;
use super::window::{Place, Window2d};

/// The tensors `x` and `y` of a window kernel.
pub trait Images<T, U = T> {
    /// Calls `cell` for cells of `y` with the image of `x`, the place of the cell, and its
    /// channels.
    #[doc(hidden)]
    fn for_each_cell(
        self,
        window: &Window2d,
        channels: [usize; 2],
        cell: impl FnMut(Image<'_, T>, Place, &mut [U]),
    );
}

/// An image of `x`, or a ring of its rows.
#[derive(Clone, Copy)]
pub struct Image<'a, T> {
    pub(crate) cells: &'a [T],
    /// Elements after which the rows start over.
    pub(crate) ring: usize,
}

impl<'a, T> Image<'a, T> {
    #[inline(always)]
    pub(super) fn whole(cells: &'a [T]) -> Self {
        Self { cells, ring: usize::MAX }
    }
}

/// Both tensors whole, each in a place of its own.
#[derive(Debug)]
pub struct Apart<'a, T, U = T> {
    /// The tensor that is read.
    pub x: &'a [T],
    /// The tensor that is written, in row-major order.
    pub y: &'a mut [U],
}

impl<T: Copy, U> Images<T, U> for Apart<'_, T, U> {
    #[inline(always)]
    fn for_each_cell(
        self,
        window: &Window2d,
        [x_channels, y_channels]: [usize; 2],
        mut cell: impl FnMut(Image<'_, T>, Place, &mut [U]),
    ) {
        debug_assert_eq!(self.x.len(), window.batch * window.input_cells() * x_channels);
        debug_assert_eq!(self.y.len(), window.batch * window.output_cells() * y_channels);
        let y_row = window.output[1] * y_channels;
        let x_images = chunks(self.x, window.input_cells() * x_channels);
        let y_images = chunks_mut(self.y, window.output_cells() * y_channels);
        for (x, y) in x_images.zip(y_images) {
            for (row, y) in chunks_mut(y, y_row).enumerate() {
                for (column, y) in chunks_mut(y, y_channels).enumerate() {
                    cell(Image::whole(x), Place { row, column, skipped: 0 }, y);
                }
            }
        }
    }
}

/// Both tensors whole, in one region: `y` takes the place of `x`, which dies.
///
/// Each cell of `y` is made on the stack and written when all that it needs has been
/// read; an [`Overlap`] says in which order that leaves what later cells need. `CELL`
/// is the number of channels that there is room for on the stack.
#[derive(Debug)]
pub struct Overlapping<'a, T, const CELL: usize> {
    memory: &'a mut [T],
    overlap: Overlap,
}

impl<'a, T, const CELL: usize> Overlapping<'a, T, CELL> {
    /// The two tensors in `memory`, as `overlap` says.
    #[inline(always)]
    #[must_use]
    pub fn new(memory: &'a mut [T], overlap: Overlap) -> Self {
        Self { memory, overlap }
    }
}

impl<T: Copy + Default, const CELL: usize> Images<T> for Overlapping<'_, T, CELL> {
    #[inline(always)]
    fn for_each_cell(
        self,
        window: &Window2d,
        [x_channels, y_channels]: [usize; 2],
        mut cell: impl FnMut(Image<'_, T>, Place, &mut [T]),
    ) {
        let Self { memory, overlap: Overlap { x, y, reverse } } = self;
        let mut room = [T::default(); CELL];
        debug_assert!(y_channels <= CELL);
        let result = room.get_mut(..y_channels).unwrap_or_default();
        let [height, width] = window.output;
        let x_image = window.input_cells() * x_channels;
        let place = |position: usize, end: usize| if reverse { end - 1 - position } else { position };
        for image in 0..window.batch {
            let image = place(image, window.batch);
            for row in 0..height {
                let row = place(row, height);
                for column in 0..width {
                    let column = place(column, width);
                    let image_cells = part(memory, x + image * x_image, x_image);
                    cell(Image::whole(image_cells), Place { row, column, skipped: 0 }, result);
                    let at = y + ((image * height + row) * width + column) * y_channels;
                    for (y, result) in part_mut(memory, at, y_channels).iter_mut().zip(&*result) {
                        *y = *result;
                    }
                }
            }
        }
    }
}

/// One row of `y`, in a ring of its rows, made of rows of `x` in another; there is one
/// image. A whole image is a ring that holds all its rows.
#[derive(Debug)]
pub struct Row<'a, T, U = T> {
    /// Rows of `x`: row `i` is at `i` modulo their number.
    pub x: &'a [T],
    /// Rows of `y`, likewise.
    pub y: &'a mut [U],
    /// Number of rows that there is room for, of `x` and of `y`.
    pub rings: [usize; 2],
    /// The row of `y` to compute.
    pub row: usize,
}

impl<T: Copy, U> Images<T, U> for Row<'_, T, U> {
    #[inline(always)]
    fn for_each_cell(
        self,
        window: &Window2d,
        [x_channels, y_channels]: [usize; 2],
        mut cell: impl FnMut(Image<'_, T>, Place, &mut [U]),
    ) {
        let [x_rows, y_rows] = self.rings;
        let [x_row, y_row] = [window.input[1] * x_channels, window.output[1] * y_channels];
        debug_assert_eq!([self.x.len(), self.y.len()], [x_rows * x_row, y_rows * y_row]);
        let start = window.axes()[0].taps(self.row).start;
        let skipped = start - remainder(start, x_rows);
        let x = Image { cells: self.x, ring: x_rows * x_row };
        let y = part_mut(self.y, remainder(self.row, y_rows) * y_row, y_row);
        for (column, y) in chunks_mut(y, y_channels).enumerate() {
            cell(x, Place { row: self.row, column, skipped }, y);
        }
    }
}

/// `position` in a ring of `rows`, or 0 where the ring is empty.
#[inline(always)]
pub(super) fn remainder(position: usize, rows: usize) -> usize {
    position.checked_rem(rows).unwrap_or(0)
}
