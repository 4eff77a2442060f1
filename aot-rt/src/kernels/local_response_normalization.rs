//! `local_response_normalization`: elements divided by a power of the squares of those
//! around them.

use super::kernel_params;
use super::loops::{chunks, chunks_mut};
use crate::Params;

kernel_params! {
    /// Parameters of [`local_response_normalization_f32`].
    pub struct LocalResponseNormalizationF32 {
        /// Rows of `x` and `y`.
        pub rows: usize,
        /// Elements of a row.
        pub columns: usize,
        /// Elements on either side whose squares count.
        pub radius: usize,
        /// Added to the sum of the squares.
        pub bias: f32,
        /// Factor of the sum of the squares.
        pub alpha: f32,
        /// The power.
        pub beta: f32,
    }
}

/// `x / (bias + alpha * sum)^beta`, f32, where the sum is that of the squares of an element
/// and of the `radius` ones before and after it in its row.
///
/// `x` and `y`: `[rows, columns]`.
pub fn local_response_normalization_f32(
    params: &impl Params<LocalResponseNormalizationF32>,
    x: &[f32],
    y: &mut [f32],
) {
    let p = params.get();
    debug_assert_eq!((x.len(), y.len()), (p.rows * p.columns, p.rows * p.columns));
    for (x, y) in chunks(x, p.columns).zip(chunks_mut(y, p.columns)) {
        for (at, (x_at, y)) in x.iter().zip(y).enumerate() {
            let first = at.saturating_sub(p.radius);
            let around = x.iter().skip(first).take(at - first + p.radius.saturating_add(1));
            let sum = around.fold(0.0_f32, |sum, &x| sum + x * x);
            *y = x_at * libm::powf(p.bias + p.alpha * sum, -p.beta);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_around_count() {
        let params = LocalResponseNormalizationF32 {
            rows: 2,
            columns: 3,
            radius: 1,
            bias: 1.0,
            alpha: 0.5,
            beta: 1.0,
        };
        let mut y = [0.0; 6];
        local_response_normalization_f32(&params, &[2.0, 4.0, -6.0, 1.0, 0.0, 0.0], &mut y);
        for (y, expect) in y.into_iter().zip([2.0 / 11.0, 4.0 / 29.0, -6.0 / 27.0, 1.0 / 1.5, 0.0, 0.0]) {
            assert!((y - expect).abs() < 1e-6, "{y} {expect}");
        }
    }
}
