//! Factors where words have 64 bits.

use super::{Multiplier, Rounding};

/// A [`Multiplier`] made ready for many numbers.
///
/// Both roundings of the reference are one addition and one shift of the product's
/// magnitude `q`, because rounding down after rounding down is rounding down once. The
/// first has its ties up: for a negative product that is down in magnitude, one
/// less before the shift. The second has its ties away from zero in any case.
/// There is no branch, so that loops become vector instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scaler {
    multiplier: i32,
    /// Shift of `x` before the multiplication.
    left: u32,
    /// Halves of the two last places.
    half: u64,
    /// Shift of the product.
    right: u32,
}

impl Scaler {
    /// Makes `factor` ready.
    #[inline(always)]
    #[must_use]
    pub const fn new(factor: Multiplier, rounding: Rounding) -> Self {
        let Multiplier { multiplier, shift } = factor;
        match rounding {
            Rounding::Double => {
                if shift < 0 {
                    let right = shift.unsigned_abs() & 31;
                    let half = (1 << 30) + (1_u64 << (30 + right));
                    Self { multiplier, left: 0, half, right: 31 + right }
                } else {
                    Self { multiplier, left: shift as u32, half: 1 << 30, right: 31 }
                }
            }
            Rounding::Single => {
                let right = (31_i32.wrapping_sub(shift) & 63) as u32;
                Self { multiplier, left: 0, half: 1_u64 << right >> 1, right }
            }
        }
    }

    /// [`apply`](Self::apply) of a factor that is used for one number.
    #[inline(always)]
    #[expect(
        clippy::if_same_then_else,
        reason = "the usual case is compiled apart: it needs no shift of `x`"
    )]
    pub(super) const fn once(factor: Multiplier, rounding: Rounding, x: i32) -> i32 {
        if factor.shift < 0 {
            Self::new(factor, rounding).apply(x)
        } else {
            Self::new(factor, rounding).apply(x)
        }
    }

    /// `x` times the factor, rounded.
    #[inline(always)]
    #[must_use]
    pub const fn apply(self, x: i32) -> i32 {
        let x = x.wrapping_shl(self.left);
        // -1 if negative, else 0.
        let sign = x >> 31;
        let magnitude = x.unsigned_abs() as u64 * self.multiplier as u32 as u64;
        let sum = magnitude.wrapping_add(self.half).wrapping_sub((sign & 1) as u64);
        let rounded = (sum >> (self.right & 63)) as i32;
        (rounded ^ sign).wrapping_sub(sign)
    }
}
