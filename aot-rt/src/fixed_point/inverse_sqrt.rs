//! The reciprocal of a square root, in fixed point.

use super::transcendental::scale_by_power;
use super::{Multiplier, doubling_high_mul as mul};

/// `1 / sqrt(x)` for a positive `x`; that of 1 for others.
///
/// Equals gemmlowp's in every bit: five rounds of Newton's method.
#[must_use]
pub const fn inverse_sqrt(x: i32) -> Multiplier {
    /// Half the square root of 2.
    const HALF_ROOT: i32 = 1_518_500_250;
    /// 1 and 1.5 with three integer bits.
    const ONE: i32 = 1 << 28;
    const ONE_AND_A_HALF: i32 = 3 << 27;
    if x <= 1 {
        return Multiplier { multiplier: i32::MAX, shift: 0 };
    }
    let (mut x, mut shift) = (x, -11);
    while x >= 1 << 29 {
        x >>= 2;
        shift -= 1;
    }
    // From 2^27 to 2^29: whole powers of 4 are moved to the shift.
    let pairs = ((x.leading_zeros() - 1) / 2).saturating_sub(1);
    shift += pairs as i32;
    let x = (x << (2 * pairs)) >> 1;
    let half = scale_by_power(x, -1);
    let (mut root, mut round) = (ONE, 0);
    while round < 5 {
        // The product of three numbers with three integer bits has nine.
        let cube = scale_by_power(mul(mul(root, root), root), 6);
        root = scale_by_power(mul(ONE_AND_A_HALF, root).wrapping_sub(mul(half, cube)), 3);
        round += 1;
    }
    let root = mul(root, HALF_ROOT);
    if shift > 0 {
        Multiplier { multiplier: root << (shift & 31), shift: 0 }
    } else {
        Multiplier { multiplier: root, shift }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_near_the_real_ones() {
        for x in [1, 2, 3, 4, 5, 100, 32_767, 1 << 20, (1 << 29) - 1, 1 << 29, i32::MAX] {
            let Multiplier { multiplier, shift } = inverse_sqrt(x);
            let found = f64::from(multiplier) * libm::exp2(f64::from(shift - 31));
            let expect = 1.0 / libm::sqrt(f64::from(x));
            assert!((found - expect).abs() < 1e-4 * expect, "{x}: {found}, not {expect}");
        }
    }
}
