//! `resize`: images of another height and width.

use super::kernel_params;
use super::loops::{chunks, chunks_mut, part};
use crate::Params;

kernel_params! {
    /// Images, and the extents that they get.
    pub struct Resize {
        /// Images in `x` and `y`.
        pub batch: usize,
        /// Extent of an image of `x`: rows, then columns.
        pub input: [usize; 2],
        /// Extent of an image of `y`.
        pub output: [usize; 2],
        /// Elements of a cell.
        pub channels: usize,
    }

    /// Parameters of [`resize_bilinear_f32`].
    pub struct ResizeBilinearF32 {
        /// The images.
        pub resize: Resize,
        /// Rows of `x` for each of `y`.
        pub row_scale: f32,
        /// Columns of `x` for each of `y`.
        pub column_scale: f32,
        /// Positions are those of the cells' centres, not of their corners.
        pub half_pixel_centers: bool,
    }

    /// Parameters of [`resize_bilinear_i8`] and [`resize_bilinear_i16`].
    pub struct ResizeBilinearI8 {
        /// The images.
        pub resize: Resize,
        /// Parts of a row of `x` for each of `y`: a row has 1024 parts.
        pub row_scale: i32,
        /// Parts of a column of `x` for each of `y`: a column has 1024 parts.
        pub column_scale: i32,
        /// Positions are those of the cells' centres, not of their corners.
        pub half_pixel_centers: bool,
    }

    /// Parameters of [`resize_nearest_i8`].
    pub struct ResizeNearestI8 {
        /// The images; bytes of a cell stand for its channels.
        pub resize: Resize,
    }
}

/// Two cells along an axis that a cell of `y` lies between, and the part that each has in it.
#[derive(Clone, Copy)]
struct Between<W> {
    cells: [usize; 2],
    parts: [W; 2],
}

/// An element that is interpolated.
trait Interpolated: Copy {
    type Part: Copy;
    /// The elements of two columns, each from the lower and the upper row.
    fn blend(values: [[Self; 2]; 2], rows: [Self::Part; 2], columns: [Self::Part; 2]) -> Self;
}

impl Interpolated for f32 {
    type Part = Self;

    #[inline(always)]
    fn blend([left, right]: [[Self; 2]; 2], rows: [Self; 2], columns: [Self; 2]) -> Self {
        left[0] * rows[0] * columns[0]
            + left[1] * rows[1] * columns[0]
            + right[0] * rows[0] * columns[1]
            + right[1] * rows[1] * columns[1]
    }
}

/// Parts of a cell, of 10 bits: products of two have 20.
const PARTS: i32 = 1 << 10;
const PRODUCT: i64 = 1 << 20;

macro_rules! interpolated {
    ($($ty:ty: $sum:ty),*) => {$(
        impl Interpolated for $ty {
            type Part = i32;

            /// Rounds half away from zero. Parts add up to one; they are at most 1.5, since
            /// positions lead half a cell out of the image at most.
            #[inline(always)]
            fn blend(values: [[Self; 2]; 2], rows: [i32; 2], columns: [i32; 2]) -> Self {
                let mut sum: $sum = 0;
                for (values, column) in values.into_iter().zip(columns) {
                    for (value, row) in values.into_iter().zip(rows) {
                        sum = sum.wrapping_add(<$sum>::from(value) * <$sum>::from(row.wrapping_mul(column)));
                    }
                }
                let half = (PRODUCT / 2) as $sum;
                let rounded = sum.wrapping_add(if sum > 0 { half } else { -half });
                (rounded / PRODUCT as $sum) as Self
            }
        }
    )*};
}

// A part of the sum has 8 or 16 bits, and 22 of the products of the parts.
interpolated!(i8: i32, i16: i64);

/// Images of other extents, interpolated between the cells, f32.
///
/// `x`: `[batch, in_h, in_w, channels]`, `y`: `[batch, out_h, out_w, channels]`.
pub fn resize_bilinear_f32(params: &impl Params<ResizeBilinearF32>, x: &[f32], y: &mut [f32]) {
    let p = params.get();
    let place = |i: usize, scale: f32, last: usize| {
        let position = if p.half_pixel_centers { (i as f32 + 0.5) * scale - 0.5 } else { i as f32 * scale };
        // What is before the image is 0 as an index.
        let lower = position as usize;
        let upper = lower + usize::from(position > lower as f32);
        let part = position - lower as f32;
        Between { cells: [lower.min(last), upper.min(last)], parts: [1.0 - part, part] }
    };
    interpolate(&p.resize, [p.row_scale, p.column_scale], place, x, y);
}

/// Images of other extents, interpolated between the cells, int8.
///
/// `x`: `[batch, in_h, in_w, channels]`, `y`: `[batch, out_h, out_w, channels]`.
pub fn resize_bilinear_i8(params: &impl Params<ResizeBilinearI8>, x: &[i8], y: &mut [i8]) {
    interpolate_integers(&params.get(), x, y);
}

/// [`resize_bilinear_i8`] in int16.
pub fn resize_bilinear_i16(params: &impl Params<ResizeBilinearI8>, x: &[i16], y: &mut [i16]) {
    interpolate_integers(&params.get(), x, y);
}

#[inline(always)]
fn interpolate_integers<T: Interpolated<Part = i32>>(p: &ResizeBilinearI8, x: &[T], y: &mut [T]) {
    let place = |i: usize, scale: i32, last: usize| {
        let position = (i as i32).wrapping_mul(scale);
        let centre = if p.half_pixel_centers { scale / 2 - PARTS / 2 } else { 0 };
        let position = position.wrapping_add(centre);
        let (lower, upper) = (position.max(0) / PARTS, position.wrapping_add(PARTS - 1).max(0) / PARTS);
        let part = position.wrapping_sub(lower * PARTS);
        Between {
            cells: [(lower as usize).min(last), (upper as usize).min(last)],
            parts: [PARTS.wrapping_sub(part), part],
        }
    };
    interpolate(&p.resize, [p.row_scale, p.column_scale], place, x, y);
}

/// `place` says between which cells one of `y` lies, from its position, the scale and the
/// last cell of `x` along the axis.
#[inline(always)]
fn interpolate<T: Interpolated, S: Copy>(
    p: &Resize,
    [row_scale, column_scale]: [S; 2],
    place: impl Fn(usize, S, usize) -> Between<T::Part>,
    x: &[T],
    y: &mut [T],
) {
    let Resize { input: [height, width], output: [rows, columns], channels, .. } = *p;
    let row = width * channels;
    debug_assert_eq!([x.len(), y.len()], [p.batch * height * row, p.batch * rows * columns * channels]);
    let images = chunks_mut(y, rows * columns * channels);
    for (x, y) in chunks(x, height * row).zip(images) {
        for (i, y) in chunks_mut(y, columns * channels).enumerate() {
            let between_rows = place(i, row_scale, height.saturating_sub(1));
            let two_rows = between_rows.cells.map(|cell| part(x, cell * row, row));
            for (i, y) in chunks_mut(y, channels).enumerate() {
                let between_columns = place(i, column_scale, width.saturating_sub(1));
                let cell = |column: usize| two_rows.map(|row| part(row, column * channels, channels));
                let ([a, b], [c, d]) = (cell(between_columns.cells[0]), cell(between_columns.cells[1]));
                for ((((y, &a), &b), &c), &d) in y.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                    *y = T::blend([[a, b], [c, d]], between_rows.parts, between_columns.parts);
                }
            }
        }
    }
}

/// Images of other extents, each cell one of `x`.
///
/// `x`: `[batch, in_h, in_w, channels]`, `rows`: `[out_h]`, `columns`: `[out_w]`, which say
/// where in an image of `x` a row and a column of `y` come from, `y`:
/// `[batch, out_h, out_w, channels]`.
pub fn resize_nearest_i8(
    params: &impl Params<ResizeNearestI8>,
    x: &[i8],
    y: &mut [i8],
    rows: &[i32],
    columns: &[i32],
) {
    let ResizeNearestI8 { resize: p } = params.get();
    let (row, block) = (p.input[1] * p.channels, p.channels);
    debug_assert_eq!([rows.len(), columns.len()], p.output);
    debug_assert_eq!(x.len(), p.batch * p.input[0] * row);
    let images = chunks_mut(y, rows.len() * columns.len() * block);
    for (x, y) in chunks(x, p.input[0] * row).zip(images) {
        for (y, &from) in chunks_mut(y, columns.len() * block).zip(rows) {
            let x = part(x, from as usize * row, row);
            for (y, &from) in chunks_mut(y, block).zip(columns) {
                for (y, &x) in y.iter_mut().zip(part(x, from as usize * block, block)) {
                    *y = x;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(input: usize, output: usize) -> Resize {
        Resize { batch: 1, input: [1, input], output: [1, output], channels: 1 }
    }

    #[test]
    fn resize_bilinear_cases() {
        // known-faults.md O11: half pixel centres, twice as wide.
        let resize = row(4, 8);
        let p = ResizeBilinearF32 { resize, row_scale: 1.0, column_scale: 0.5, half_pixel_centers: true };
        let mut y = [0.0; 8];
        resize_bilinear_f32(&p, &[1.0, 2.0, 3.0, 4.0], &mut y);
        assert_eq!(y, [1.0, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75, 4.0]);
        // The same times 4; ties away from zero.
        let p = ResizeBilinearI8 { resize, row_scale: 1024, column_scale: 512, half_pixel_centers: true };
        let mut y = [0; 8];
        resize_bilinear_i8(&p, &[-128, 2, 127, -3], &mut y);
        assert_eq!(y, [-128, -96, -31, 33, 96, 95, 30, -3]);
        let mut y = [0; 8];
        resize_bilinear_i16(&p, &[-32768, 32767, 32767, 0], &mut y);
        assert_eq!(y, [-32768, -16384, 16383, 32767, 32767, 24575, 8192, 0]);
    }

    #[test]
    fn resize_nearest_copies_cells() {
        let resize = Resize { channels: 2, ..row(2, 3) };
        let mut y = [0; 6];
        resize_nearest_i8(&ResizeNearestI8 { resize }, &[1, 2, 3, 4], &mut y, &[0], &[1, 0, 1]);
        assert_eq!(y, [3, 4, 1, 2, 3, 4]);
    }
}
