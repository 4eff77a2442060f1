//! Factors where words have 32 bits.

use super::{Multiplier, Rounding, doubled_high};

/// A [`Multiplier`] with how it rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scaler {
    factor: Multiplier,
    rounding: Rounding,
}

impl Scaler {
    /// Makes `factor` ready.
    #[inline(always)]
    #[must_use]
    pub const fn new(factor: Multiplier, rounding: Rounding) -> Self {
        Self { factor, rounding }
    }

    /// [`apply`](Self::apply) of a factor that is used for one number.
    #[inline(always)]
    pub(super) const fn once(factor: Multiplier, rounding: Rounding, x: i32) -> i32 {
        Self::new(factor, rounding).apply(x)
    }

    /// `x` times the factor, rounded.
    #[inline(always)]
    #[must_use]
    pub const fn apply(self, x: i32) -> i32 {
        match self.rounding {
            Rounding::Double => by_two_roundings(self.factor, x),
            Rounding::Single => by_one_rounding(self.factor, x),
        }
    }
}

/// The first rounding has its ties up, which is the reference's "half away from zero, then
/// truncated" of a product; the second has them away from zero.
#[inline(always)]
const fn by_two_roundings(Multiplier { multiplier, shift }: Multiplier, x: i32) -> i32 {
    if shift >= 0 {
        return doubled_high(x.wrapping_shl(shift as u32), multiplier);
    }
    let product = doubled_high(x, multiplier);
    // -1 if negative, else 0. The product is greater than `i32::MIN`.
    let sign = product >> 31;
    let halves = product.wrapping_add(sign) >> (!shift & 31);
    halves.wrapping_add(1) >> 1
}

/// Apart from the loops that call it, which are for the usual case.
#[inline(never)]
const fn by_one_rounding(Multiplier { multiplier, shift }: Multiplier, x: i32) -> i32 {
    let right = 31_i32.wrapping_sub(shift) & 63;
    let half = 1_i64 << right >> 1;
    ((x as i64 * multiplier as i64).wrapping_add(half) >> right) as i32
}
