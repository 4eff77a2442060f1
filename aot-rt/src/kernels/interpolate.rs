//! Functions of one int16, interpolated between the entries of a table.
//!
//! The tables are made when the model is compiled, and are constants of the program; but that of
//! the logistic function, which is always the same.

use super::elements::Elements;
use super::kernel_params;
use crate::Params;
use crate::fixed_point::{interpolated_logistic, interpolated_tanh};

kernel_params! {
    /// Parameters of [`interpolate_i16`].
    pub struct InterpolateI16 {
        /// Elements of `x` and `y`.
        pub len: usize,
    }

    /// Parameters of [`logistic_i16`] and [`tanh_i16`].
    pub struct LogisticI16 {
        /// Elements of `x` and `y`.
        pub len: usize,
        /// Factor of `x` that makes its scale 1/12288; less than 2^16.
        pub multiplier: i32,
        /// How far the product is shifted right, at most 31.
        pub shift: i32,
    }
}

/// Entries of a table for [`interpolate_i16`]: one for each 128th number, and the end.
pub(super) const ENTRIES: usize = 513;

/// The result for `x`: between the two entries that it lies between.
#[inline(always)]
pub(super) fn interpolated(table: &[i16; ENTRIES], x: i16) -> i16 {
    let index = ((i32::from(x) >> 7) + 256) as usize & 511;
    let (from, to) = (table[index], table[index + 1]);
    // The reference keeps the difference in 16 bits.
    let slope = i32::from(to.wrapping_sub(from));
    from.wrapping_add(((slope * i32::from(x & 127) + 64) >> 7) as i16)
}

/// Interpolates between the entries of a table.
///
/// `x` and `y`: `[len]`, `table`: `[513]`, the results for -32768, -32640, … and 32767.
pub fn interpolate_i16(params: &impl Params<InterpolateI16>, elements: impl Elements<i16>, table: &[i16]) {
    debug_assert_eq!(table.len(), ENTRIES);
    if let Some(table) = table.first_chunk::<ENTRIES>() {
        elements.map(params.get().len, |x| interpolated(table, x));
    }
}

impl LogisticI16 {
    /// `x` in steps of 1/12288.
    #[inline(always)]
    fn scaled(&self, x: i16) -> i32 {
        let shift = self.shift as u32 & 31;
        let half = 1_u32.wrapping_shl(shift) >> 1;
        i32::from(x).wrapping_mul(self.multiplier).wrapping_add(half as i32) >> shift
    }
}

/// The logistic function, int16; the scale of `y` is 1/32768, zero points are 0.
///
/// `x` and `y`: `[len]`.
pub fn logistic_i16(params: &impl Params<LogisticI16>, elements: impl Elements<i16>) {
    let p = params.get();
    elements.map(p.len, |x| interpolated_logistic(p.scaled(x)));
}

/// The hyperbolic tangent, int16; the scale of `y` is 1/32768, zero points are 0.
///
/// `x` and `y`: `[len]`.
pub fn tanh_i16(params: &impl Params<LogisticI16>, elements: impl Elements<i16>) {
    let p = params.get();
    elements.map(p.len, |x| interpolated_tanh(p.scaled(x)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{Apart, InPlace};

    #[test]
    fn interpolates_linearly() {
        // Three quarters of `x`.
        let mut table = [0; ENTRIES];
        for (i, entry) in table.iter_mut().enumerate() {
            *entry = ((i as i32 - 256) * 96).min(24_576) as i16;
        }
        let mut y = [-32_768, -129, -1, 0, 1, 2, 127, 128, 32_767];
        interpolate_i16(&InterpolateI16 { len: 9 }, InPlace(&mut y), &table);
        assert_eq!(y, [-24_576, -97, -1, 0, 1, 2, 95, 96, 24_575]);
    }

    #[test]
    fn results_are_near_the_real_ones() {
        // A scale of 1/4096, and one of 0.7.
        for (multiplier, shift, scale) in [(3, 0, 1.0 / 4096.0), (17_203, 1, 0.7)] {
            let x: [i16; 7] = [-32_768, -20_000, -3, 0, 5, 4000, 32_767];
            let params = LogisticI16 { len: 7, multiplier, shift };
            let [mut y, mut tangent] = [[0; 7]; 2];
            logistic_i16(&params, Apart { x: &x, y: &mut y });
            tanh_i16(&params, Apart { x: &x, y: &mut tangent });
            for (x, (y, tangent)) in x.into_iter().zip(y.into_iter().zip(tangent)) {
                let real = f64::from(x) * scale;
                let expect = 32_768.0 / (1.0 + libm::exp(-real));
                assert!((f64::from(y) - expect).abs() < 2.0, "logistic {real}: {y} {expect}");
                let expect = 32_768.0 * libm::tanh(real);
                assert!((f64::from(tangent) - expect).abs() < 8.0, "tanh {real}: {tangent} {expect}");
            }
        }
    }
}
