//! `l2_normalization`: each row divided by the root of the sum of its squares.

use super::elements::Elements;
use super::kernel_params;
use super::loops::chunks_mut;
use super::output::Quantized;
use crate::Params;
use crate::fixed_point::{Multiplier, Rounding, Scaler, inverse_square_root};

kernel_params! {
    /// Parameters of [`l2_normalization_f32`].
    pub struct L2NormalizationF32 {
        /// Rows of `x` and `y`.
        pub rows: usize,
        /// Elements of a row.
        pub columns: usize,
    }

    /// Parameters of [`l2_normalization_i8`].
    pub struct L2NormalizationI8 {
        /// Rows of `x` and `y`.
        pub rows: usize,
        /// Elements of a row.
        pub columns: usize,
        /// Zero point of `x`.
        pub input_zero_point: i32,
        /// Bits that a difference from the zero point is shifted left before it is scaled:
        /// of the 7 that the scale of `y` stands for, those that the factor does not hold.
        pub left: i32,
        /// Round once instead of twice, see [`Rounding`].
        pub single_rounding: bool,
    }
}

/// The least norm that is divided by.
const LEAST_NORM: f32 = 1e-6;

/// Rows of norm 1, f32.
///
/// `x` and `y`: `[rows, columns]`.
pub fn l2_normalization_f32(params: &impl Params<L2NormalizationF32>, elements: impl Elements<f32>) {
    let p = params.get();
    elements.in_place(|elements| {
        debug_assert_eq!(elements.len(), p.rows * p.columns);
        for row in chunks_mut(elements, p.columns) {
            let sum = row.iter().fold(0.0_f32, |sum, &x| sum + x * x);
            let norm = libm::sqrtf(sum);
            let norm = if norm < LEAST_NORM { LEAST_NORM } else { norm };
            for y in row {
                *y /= norm;
            }
        }
    });
}

/// Rows of norm 1, int8.
///
/// `x` and `y`: `[rows, columns]`; the scale of `y` is 1/128, its zero point 0.
pub fn l2_normalization_i8(params: &impl Params<L2NormalizationI8>, elements: impl Elements<i8>) {
    let p = params.get();
    let rounding = Rounding::of(p.single_rounding);
    elements.in_place(|elements| {
        debug_assert_eq!(elements.len(), p.rows * p.columns);
        for row in chunks_mut(elements, p.columns) {
            let difference = |x: i8| i32::from(x).wrapping_sub(p.input_zero_point);
            let squares = row.iter().map(|&x| difference(x).wrapping_mul(difference(x)));
            let Multiplier { multiplier, shift } = inverse_square_root(squares.fold(0, i32::wrapping_add));
            let factor = Multiplier { multiplier, shift: shift + 7 - p.left };
            let scaler = Scaler::new(factor, rounding);
            for y in row {
                *y = i8::saturate(scaler.apply(difference(*y).wrapping_shl(p.left as u32)));
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{Apart, InPlace};

    #[test]
    fn floats() {
        let mut y = [0.0, 0.0, 3.0, -4.0, 1e-8, 0.0];
        l2_normalization_f32(&L2NormalizationF32 { rows: 3, columns: 2 }, InPlace(&mut y));
        assert_eq!(y, [0.0, 0.0, 0.6, -0.8, 0.01, 0.0]);
    }

    #[test]
    fn int8_rows_are_the_rounded_ones() {
        let x: [i8; 16] = core::array::from_fn(|i| (i as i8).wrapping_mul(37));
        for (columns, left) in [(16, 0), (4, 0), (2, 7), (1, 0)] {
            let params = L2NormalizationI8 {
                rows: 16 / columns,
                columns,
                input_zero_point: -5,
                left,
                single_rounding: false,
            };
            let mut y = [0; 16];
            l2_normalization_i8(&params, Apart { x: &x, y: &mut y });
            for (x, y) in x.chunks(columns).zip(y.chunks(columns)) {
                let norm = libm::sqrt(x.iter().map(|x| (f64::from(*x) + 5.0) * (f64::from(*x) + 5.0)).sum());
                for (x, y) in x.iter().zip(y) {
                    let exact = (128.0 * (f64::from(*x) + 5.0) / norm).min(127.0);
                    // Rounded to halves of a step first, at worst.
                    assert!((f64::from(*y) - exact).abs() < 0.76, "{columns} {x} {y} {exact}");
                }
            }
        }
    }

    #[test]
    fn a_row_of_zeros_stays() {
        let params =
            L2NormalizationI8 { rows: 1, columns: 2, input_zero_point: 4, left: 0, single_rounding: false };
        let mut y = [4, 4];
        l2_normalization_i8(&params, InPlace(&mut y));
        assert_eq!(y, [0, 0]);
    }
}
