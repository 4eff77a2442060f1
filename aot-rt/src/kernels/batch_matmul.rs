//! `batch_matmul`: products of matrices that are both computed, for every pair of a batch.

use super::elements::Broadcast;
use super::kernel_params;
use super::loops::{Offsets, chunks_mut, part};
use super::output::{OutputI8, RangeI16};
use super::requantize::RequantizeI16;
use crate::Params;
use crate::fixed_point::Multiplier;

kernel_params! {
    /// How the matrices lie: `a` is `x`, and `y` is `[.., rows, columns]`.
    pub struct BatchMatmul {
        /// The pairs of matrices, of which the first elements are so far apart.
        pub batch: Broadcast,
        /// Rows of `a` and `y`.
        pub rows: usize,
        /// Columns of `a`, and rows of `b`.
        pub depth: usize,
        /// Columns of `b` and `y`.
        pub columns: usize,
        /// Elements of `a` from one row to the next, and from one column to the next.
        pub a_strides: [usize; 2],
        /// Elements of `b` from one row to the next, and from one column to the next. One of
        /// the two is 1.
        pub b_strides: [usize; 2],
    }

    /// Parameters of [`batch_matmul_i8`].
    pub struct BatchMatmulI8 {
        /// The matrices.
        pub matrices: BatchMatmul,
        /// Zero point of `a`.
        pub a_zero_point: i32,
        /// Zero point of `b`.
        pub b_zero_point: i32,
        /// The factor of the sums.
        pub multiplier: i32,
        /// Power of two that the factor is multiplied by.
        pub shift: i32,
        /// Zero point and limits of `y`.
        pub output: OutputI8,
    }

    /// Parameters of [`batch_matmul_i16`].
    pub struct BatchMatmulI16 {
        /// The matrices.
        pub matrices: BatchMatmul,
        /// 15 bits of the factor of the sums.
        pub multiplier: i32,
        /// How far a product with it is shifted right, at least 1.
        pub shift: i32,
        /// Limits of `y`.
        pub range: RangeI16,
    }
}

/// Products of matrices, f32.
///
/// `x`: `[.., rows, depth]`, `b`: `[.., depth, columns]`, either with its last axes exchanged,
/// `y`: `[.., rows, columns]`. Sums are in the order of the depth.
pub fn batch_matmul_f32(params: &impl Params<BatchMatmul>, x: &[f32], y: &mut [f32], b: &[f32]) {
    multiply(&params.get(), x, b, y, |sum: f32, a, b| sum + a * b, |sum| sum);
}

/// Products of matrices, int8.
///
/// Shapes as in [`batch_matmul_f32`]. Sums have 32 bits.
pub fn batch_matmul_i8(params: &impl Params<BatchMatmulI8>, x: &[i8], y: &mut [i8], b: &[i8]) {
    let p = params.get();
    let (a_zero, b_zero) = (p.a_zero_point as i16, p.b_zero_point as i16);
    // Differences fit 16 bits, of which many targets multiply and add pairs.
    let add = |sum: i32, a: i8, b: i8| {
        let [a, b] = [i16::from(a).wrapping_sub(a_zero), i16::from(b).wrapping_sub(b_zero)];
        sum.wrapping_add(i32::from(a) * i32::from(b))
    };
    let (factor, rounding) = (Multiplier { multiplier: p.multiplier, shift: p.shift }, p.output.rounding());
    multiply(&p.matrices, x, b, y, add, |sum| p.output.limit(factor.apply(sum, rounding)));
}

/// Products of matrices, int16.
///
/// Shapes as in [`batch_matmul_f32`]. Zero points are 0. Sums have 64 bits.
pub fn batch_matmul_i16(params: &impl Params<BatchMatmulI16>, x: &[i16], y: &mut [i16], b: &[i16]) {
    let p = params.get();
    let (multipliers, shifts) = ([p.multiplier as i16], [p.shift as i8]);
    let requantize = RequantizeI16 { bias: &[], multipliers: &multipliers, shifts: &shifts, range: p.range };
    let add = |sum: i64, a: i16, b: i16| sum.wrapping_add((i32::from(a).wrapping_mul(b.into())).into());
    multiply(&p.matrices, x, b, y, add, |sum| requantize.apply(0, sum));
}

/// Columns of `y` that are summed up together.
const COLUMNS: usize = 16;

/// Every sum of `add`, from 0 on, through `finish`.
#[inline(always)]
fn multiply<T: Copy, S: Copy + Default>(
    p: &BatchMatmul,
    x: &[T],
    b: &[T],
    y: &mut [T],
    add: impl Fn(S, T, T) -> S,
    finish: impl Fn(S) -> T,
) {
    let Broadcast { extents, a_strides, b_strides } = p.batch;
    let mut strides = [[0; 2]; 6];
    for (strides, (a, b)) in strides.iter_mut().zip(a_strides.into_iter().zip(b_strides)) {
        *strides = [a, b];
    }
    let [a_row, a_column] = p.a_strides;
    let [b_row, b_column] = p.b_strides;
    for (y, [a, b_at]) in chunks_mut(y, p.rows * p.columns).zip(Offsets::new(extents, strides)) {
        let b = b.get(b_at..).unwrap_or_default();
        for (i, y) in chunks_mut(y, p.columns).enumerate() {
            let row = x.get(a + i * a_row..).unwrap_or_default();
            if b_column == 1 {
                for (block, y) in y.chunks_mut(COLUMNS).enumerate() {
                    let b = b.get(block * COLUMNS..).unwrap_or_default();
                    let sums = column_sums(elements(row, a_column, p.depth), b, b_row, &add);
                    for (y, sum) in y.iter_mut().zip(sums) {
                        *y = finish(sum);
                    }
                }
                continue;
            }
            for (j, y) in y.iter_mut().enumerate() {
                let column = part(b, j * b_column, p.depth);
                // Where both stand together, loops become vector instructions.
                let sum = if a_column == 1 {
                    let pairs = part(row, 0, p.depth).iter().zip(column);
                    pairs.fold(S::default(), |sum, (&a, &b)| add(sum, a, b))
                } else {
                    let pairs = elements(row, a_column, p.depth).zip(column);
                    pairs.fold(S::default(), |sum, (a, &b)| add(sum, a, b))
                };
                *y = finish(sum);
            }
        }
    }
}

/// `count` elements at equal distances.
#[inline(always)]
fn elements<T: Copy>(all: &[T], step: usize, count: usize) -> impl Iterator<Item = T> {
    all.iter().step_by(step.max(1)).take(count).copied()
}

/// The sums of columns that stand side by side: vectors go across them. Those behind the last
/// column are of no meaning.
#[inline(always)]
fn column_sums<T: Copy, S: Copy + Default>(
    row: impl Iterator<Item = T>,
    b: &[T],
    b_row: usize,
    add: &impl Fn(S, T, T) -> S,
) -> [S; COLUMNS] {
    let mut sums = [S::default(); COLUMNS];
    let mut at = 0;
    for a in row {
        let columns = b.get(at..).unwrap_or_default();
        match columns.first_chunk::<COLUMNS>() {
            Some(columns) => sums.iter_mut().zip(columns).for_each(|(sum, &b)| *sum = add(*sum, a, b)),
            None => sums.iter_mut().zip(columns).for_each(|(sum, &b)| *sum = add(*sum, a, b)),
        }
        at += b_row;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batch_matmul_f32_cases() {
        // known-faults.md L10: `a` is transposed, and `b` the same for both.
        let batch =
            Broadcast { extents: [1, 1, 1, 1, 1, 2], a_strides: [0, 0, 0, 0, 0, 6], b_strides: [0; 6] };
        let p = BatchMatmul { batch, rows: 2, depth: 3, columns: 4, a_strides: [1, 2], b_strides: [4, 1] };
        let x = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0, 7.0, 10.0, 8.0, 11.0, 9.0, 12.0];
        let b: [f32; 12] = core::array::from_fn(|i| 7.0 + i as f32);
        let expect = [
            74.0, 80.0, 86.0, 92.0, 173.0, 188.0, 203.0, 218.0, 272.0, 296.0, 320.0, 344.0, 371.0, 404.0,
            437.0, 470.0,
        ];
        let mut y = [0.0; 16];
        batch_matmul_f32(&p, &x, &mut y, &b);
        assert_eq!(y, expect);
        // The same with `b` transposed.
        let b: [f32; 12] = core::array::from_fn(|i| b[i % 3 * 4 + i / 3]);
        let mut y = [0.0; 16];
        batch_matmul_f32(&BatchMatmul { b_strides: [1, 3], ..p }, &x, &mut y, &b);
        assert_eq!(y, expect);
    }
}
