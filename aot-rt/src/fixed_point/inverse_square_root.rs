//! The inverse square root in fixed point.

use super::transcendental::scale_by_power;
use super::{Multiplier, Rounding, doubling_high_mul as mul};

/// The factor `1 / sqrt(x)` of an integer `x`; that of 1 for all that are less.
///
/// Five of Newton's steps, as the reference kernel of L2 normalization takes them, in
/// every bit. The multiplier may be less than `2^30`, the shift is not above 0.
#[must_use]
pub fn inverse_square_root(x: i32) -> Multiplier {
    /// 1 and 3/2 as `Q3`.
    const ONE: i32 = 1 << 28;
    const THREE_HALVES: i32 = 3 << 27;
    /// The root of 1/2 as `Q0`.
    const ROOT_OF_HALF: i32 = 1_518_500_250;
    if x <= 1 {
        return Multiplier { multiplier: i32::MAX, shift: 0 };
    }
    // From 2^27 to 2^29 by a power of four.
    let pairs = (x.leading_zeros() as i32 - 1) / 2 - 1;
    let normalized = if pairs < 0 { x / 4 } else { x << ((2 * pairs) & 31) };
    let half = scale_by_power(normalized >> 1, -1);
    let mut root = ONE;
    for _ in 0..5 {
        let cube = scale_by_power(mul(mul(root, root), root), 6);
        root = scale_by_power(mul(THREE_HALVES, root).wrapping_sub(mul(half, cube)), 3);
    }
    let (root, right) = (mul(root, ROOT_OF_HALF), 11 - pairs);
    Multiplier { multiplier: root.wrapping_shl((-right).max(0) as u32), shift: (-right).min(0) }
}

/// Bits behind the point of the inverse root that [`over_square_root`] scales.
pub const ROOT_FRACTION: i32 = 20;

/// `numerator / sqrt(x)` of an integer `x`, not less than 1. The numerator is given divided by
/// `2^ROOT_FRACTION`: the inverse root is rounded to as many bits before it is scaled.
#[must_use]
pub fn over_square_root(numerator: Multiplier, x: i32, rounding: Rounding) -> i32 {
    let Multiplier { multiplier, shift } = inverse_square_root(x);
    let root = Multiplier { multiplier, shift: shift + ROOT_FRACTION }.apply(1, rounding);
    numerator.apply(root, rounding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_near_the_real_ones() {
        for step in 0..3000 {
            for x in [step, step * 715_827, i32::MAX - step] {
                let Multiplier { multiplier, shift } = inverse_square_root(x);
                let found = f64::from(multiplier) * libm::pow(2.0, f64::from(shift - 31));
                let exact = 1.0 / libm::sqrt(f64::from(x.max(1)));
                assert!((found / exact - 1.0).abs() < 1e-4, "{x}: {found} {exact}");
            }
        }
    }
}
