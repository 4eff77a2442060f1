//! Fixed-point arithmetic of the quantized kernels.
//!
//! A real factor is `multiplier * 2^(shift - 31)` with a 32-bit multiplier. The
//! reference rounds twice: after the multiplication and after the shift
//! ([`Rounding::Double`], TensorFlow Lite Micro's default); some builds round once
//! ([`Rounding::Single`]).

mod interpolated;
mod inverse_square_root;
// Words of 64 bits, or only of 32.
#[cfg(any(not(any(target_pointer_width = "64", target_family = "wasm")), test))]
#[cfg_attr(
    any(target_pointer_width = "64", target_family = "wasm"),
    expect(dead_code, unreachable_pub, reason = "here it is only tested")
)]
mod narrow;
mod transcendental;
#[cfg(any(target_pointer_width = "64", target_family = "wasm", test))]
mod wide;

pub use interpolated::{interpolated_logistic, interpolated_tanh};
pub use inverse_square_root::{ROOT_FRACTION, inverse_square_root, over_square_root};
#[cfg(not(any(target_pointer_width = "64", target_family = "wasm")))]
pub use narrow::Scaler;
pub use transcendental::{exp_negative, logarithm, logistic, one_over_one_plus, tanh_of_double};
#[cfg(any(target_pointer_width = "64", target_family = "wasm"))]
pub use wide::Scaler;

/// How often [`Multiplier::apply`] rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Rounding {
    /// After the multiplication and after the shift, ties away from zero.
    #[default]
    Double,
    /// Once, ties up.
    Single,
}

impl Rounding {
    /// What parameters of kernels say by one bit.
    #[inline(always)]
    #[must_use]
    pub const fn of(single: bool) -> Self {
        if single { Self::Single } else { Self::Double }
    }
}

/// The factor `multiplier * 2^(shift - 31)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multiplier {
    /// 0, or in `2^30 ..= 2^31 - 1`.
    pub multiplier: i32,
    /// Power of two, `-31 ..= 30`.
    pub shift: i32,
}

impl Multiplier {
    /// The factor 0.
    pub const ZERO: Self = Self { multiplier: 0, shift: 0 };

    /// Nearest factor to `real`, or `None` when it is negative, not finite or
    /// `2^30` or more.
    ///
    /// Factors below `2^-32` become 0, as in the reference.
    #[must_use]
    pub fn from_real(real: f64) -> Option<Self> {
        if !(real.is_finite() && real >= 0.0) {
            return None;
        }
        let (fraction, mut shift) = libm::frexp(real);
        let mut multiplier = libm::round(fraction * 2_147_483_648.0) as i64;
        if multiplier == 1 << 31 {
            multiplier = 1 << 30;
            shift += 1;
        }
        match shift {
            ..-31 => Some(Self::ZERO),
            -31..=30 => Some(Self { multiplier: multiplier as i32, shift }),
            31.. => None,
        }
    }

    /// The factor of a mean: this factor divided by `count`.
    ///
    /// The reference divides the integer multiplier, which loses up to one step of
    /// the result (`tflite-numerics.md`, section 3, MEAN).
    #[must_use]
    pub const fn of_mean(self, count: core::num::NonZeroU32) -> Self {
        let mut left = count.get().ilog2() as i32;
        if left > 31 + self.shift {
            left = 31 + self.shift;
        }
        if left < 0 {
            left = 0;
        }
        let multiplier = ((self.multiplier as i64) << (left & 31)) / count.get() as i64;
        Self { multiplier: multiplier as i32, shift: self.shift - left }
    }

    /// `x` times the factor, rounded.
    ///
    /// With [`Rounding::Double`] and a positive shift, `x << shift` wraps at 32 bits.
    #[inline(always)]
    #[must_use]
    pub const fn apply(self, x: i32, rounding: Rounding) -> i32 {
        Scaler::once(self, rounding, x)
    }
}

/// `x * multiplier / 2^31`, rounded, ties up, which equals the reference's nudge by sign and
/// truncating division; not both are `i32::MIN`.
#[inline(always)]
const fn doubled_high(x: i32, multiplier: i32) -> i32 {
    ((x as i64 * multiplier as i64 + (1 << 30)) >> 31) as i32
}

/// `round(a * b / 2^31)`, ties away from zero, limited to `i32`.
#[inline(always)]
#[must_use]
pub const fn doubling_high_mul(a: i32, b: i32) -> i32 {
    if a == i32::MIN && b == i32::MIN {
        return i32::MAX;
    }
    doubled_high(a, b)
}

/// `round(x / 2^exponent)`, ties away from zero; `exponent` at most 31.
#[inline(always)]
#[must_use]
pub const fn rounding_shift_right(x: i32, exponent: u32) -> i32 {
    let exponent = exponent & 31;
    let mask = ((1_i64 << exponent) - 1) as i32;
    let threshold = (mask >> 1) + (x < 0) as i32;
    (x >> exponent) + ((x & mask) > threshold) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `tflite-numerics.md`, section 1, written down word for word.
    fn reference(x: i32, m: Multiplier) -> i32 {
        let (left, right) = (m.shift.max(0), (-m.shift).max(0));
        let a = i64::from(x.wrapping_shl(left as u32));
        let product = a * i64::from(m.multiplier);
        let nudge = if product >= 0 { 1 << 30 } else { 1 - (1 << 30) };
        let high = ((product + nudge) / (1 << 31)) as i32;
        let mask = ((1_i64 << right) - 1) as i32;
        let threshold = (mask >> 1) + i32::from(high < 0);
        (high >> right) + i32::from((high & mask) > threshold)
    }

    /// `x` times the factor, by words of 64 bits and of 32.
    fn both(factor: Multiplier, rounding: Rounding, x: i32) -> i32 {
        let result = wide::Scaler::new(factor, rounding).apply(x);
        assert_eq!(narrow::Scaler::new(factor, rounding).apply(x), result, "{x} {factor:?}");
        result
    }

    #[test]
    fn double_rounding_equals_the_definition() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 32) as i32
        };
        for _ in 0..200_000 {
            let m = Multiplier {
                multiplier: (random() & 0x3fff_ffff) | 1 << 30,
                shift: random().rem_euclid(40) - 31,
            };
            let x = random() >> random().rem_euclid(31);
            assert_eq!(both(m, Rounding::Double, x), reference(x, m), "{x} {m:?}");
            // Products that are whole and a half after the first rounding.
            let m = Multiplier { multiplier: 1 << 30, ..m };
            assert_eq!(both(m, Rounding::Double, x), reference(x, m), "{x} {m:?}");
        }
    }

    #[test]
    fn single_rounding_equals_the_definition() {
        for shift in -31..=30 {
            for x in [0, 1, -1, 2, -3, 1000, -1001, i32::MAX, i32::MIN] {
                let m = Multiplier { multiplier: 3 << 29, shift };
                let product = i128::from(x) * i128::from(m.multiplier);
                let expect = (product + (1 << (30 - shift))) >> (31 - shift);
                assert_eq!(both(m, Rounding::Single, x), expect as i32, "{x} {m:?}");
            }
        }
    }

    #[test]
    fn known_multipliers() {
        // known-faults.md L5 (a).
        let m = Multiplier::from_real(0.4 / 37.0).unwrap();
        assert_eq!(m, Multiplier { multiplier: 1_485_826_524, shift: -6 });
        for (accumulator, double, single) in
            [(-1896, -21, -20), (-1711, -19, -18), (-1526, -17, -16), (-1341, -15, -14)]
        {
            assert_eq!(m.apply(accumulator, Rounding::Double), double);
            assert_eq!(m.apply(accumulator, Rounding::Single), single);
        }
    }

    #[test]
    fn factors_at_the_edge() {
        for (real, expect) in [
            (0.0, Some(Multiplier::ZERO)),
            (1.0, Some(Multiplier { multiplier: 1 << 30, shift: 1 })),
            (1.0 - 1e-12, Some(Multiplier { multiplier: 1 << 30, shift: 1 })),
            (2.0_f64.powi(-40), Some(Multiplier::ZERO)),
            (2.0_f64.powi(30), None),
            (-1.0, None),
            (f64::NAN, None),
        ] {
            assert_eq!(Multiplier::from_real(real), expect, "{real}");
        }
    }
}
