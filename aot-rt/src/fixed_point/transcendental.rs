//! Exponential, reciprocal and logistic functions in fixed point.
//!
//! Numbers are `i32` with some integer bits `k` and `31 - k` fraction bits, written
//! `Qk`; the product of a `Qa` and a `Qb` is a `Q(a + b)`. The results equal those
//! of gemmlowp, which the reference kernels of softmax and logistic use, in every
//! bit (`tflite-numerics.md`, section 4).

use super::{doubling_high_mul as mul, rounding_shift_right};

/// `x * 2^exponent`, rounded or limited to `i32`.
pub(super) const fn scale_by_power(x: i32, exponent: i32) -> i32 {
    if exponent <= 0 {
        return rounding_shift_right(x, exponent.unsigned_abs());
    }
    let scaled = (x as i64) << (exponent & 31);
    if scaled > i32::MAX as i64 {
        i32::MAX
    } else if scaled < i32::MIN as i64 {
        i32::MIN
    } else {
        scaled as i32
    }
}

/// `exp(x)` for `x` in `-1/4 .. 0`; `x` and the result are `Q0`.
const fn exp_small(x: i32) -> i32 {
    /// `exp(-1/8)`.
    const EXP_EIGHTH: i32 = 1_895_147_668;
    /// 1/3.
    const THIRD: i32 = 715_827_883;
    // A Taylor series of degree 4 about -1/8.
    let x = x.wrapping_add(1 << 28);
    let x2 = mul(x, x);
    let x3 = mul(x2, x);
    let x4 = mul(x2, x2);
    let tail = mul(scale_by_power(x4, -2).wrapping_add(x3), THIRD).wrapping_add(x2);
    let tail = scale_by_power(tail, -1);
    EXP_EIGHTH.wrapping_add(mul(EXP_EIGHTH, x.wrapping_add(tail)))
}

/// `exp(x)` for `x` not above 0, a `Q(INTEGER_BITS)`; the result is `Q0`.
///
/// `INTEGER_BITS` is 0 to 30.
#[must_use]
pub const fn exp_negative<const INTEGER_BITS: i32>(x: i32) -> i32 {
    if x == 0 {
        return i32::MAX;
    }
    if INTEGER_BITS > 5 && (x as i64) < -(1_i64 << (36 - INTEGER_BITS)) {
        return 0;
    }
    let fraction_bits = 31 - INTEGER_BITS;
    // x = small - remainder, small in -1/4 .. 0 and the remainder whole quarters.
    let quarter = 1_i32.wrapping_shl((fraction_bits - 2) as u32);
    let small = (x & quarter.wrapping_sub(1)).wrapping_sub(quarter);
    let remainder = small.wrapping_sub(x);
    let result = exp_small(scale_by_power(small, INTEGER_BITS));
    // exp(-2^power) for the powers from -2 on, each where the remainder has it.
    let result = times_if::<INTEGER_BITS, -2>(result, remainder, 1_672_461_947);
    let result = times_if::<INTEGER_BITS, -1>(result, remainder, 1_302_514_674);
    let result = times_if::<INTEGER_BITS, 0>(result, remainder, 790_015_084);
    let result = times_if::<INTEGER_BITS, 1>(result, remainder, 290_630_308);
    let result = times_if::<INTEGER_BITS, 2>(result, remainder, 39_332_535);
    let result = times_if::<INTEGER_BITS, 3>(result, remainder, 720_401);
    times_if::<INTEGER_BITS, 4>(result, remainder, 242)
}

/// `x * factor` when `2^POWER` is a part of the `Q(INTEGER_BITS)` `remainder`.
const fn times_if<const INTEGER_BITS: i32, const POWER: i32>(x: i32, remainder: i32, factor: i32) -> i32 {
    let bit = (31 - INTEGER_BITS + POWER) as u32;
    if INTEGER_BITS > POWER && remainder & 1_i32.wrapping_shl(bit) != 0 { mul(x, factor) } else { x }
}

/// Half of `1 / ((1 + x) / 2)`, a `Q2`, for `x` in `0 .. 1`, a `Q0`.
const fn half_reciprocal(x: i32) -> i32 {
    /// 48/17 and -32/17 as `Q2`: the first guess of Newton's division.
    const GUESS: (i32, i32) = (1_515_870_810, -1_010_580_540);
    let half = ((x as i64 + i32::MAX as i64 + 1) >> 1) as i32;
    let mut result = GUESS.0.wrapping_add(mul(half, GUESS.1));
    let mut step = 0;
    while step < 3 {
        let error = (1_i32 << 29).wrapping_sub(mul(half, result));
        result = result.wrapping_add(scale_by_power(mul(result, error), 2));
        step += 1;
    }
    result
}

/// `1 / (1 + x)` for `x` in `0 .. 1`; both are `Q0`.
#[must_use]
pub const fn one_over_one_plus(x: i32) -> i32 {
    scale_by_power(half_reciprocal(x), 1)
}

/// `(1 - x) / (1 + x)` for `x` in `0 .. 1`; both are `Q0`.
const fn one_minus_over_one_plus(x: i32) -> i32 {
    scale_by_power(half_reciprocal(x).wrapping_sub(1 << 29), 2)
}

/// `1 / (1 + exp(-x))` of a `Q(INTEGER_BITS)`; the result is `Q0`.
#[must_use]
pub const fn logistic<const INTEGER_BITS: i32>(x: i32) -> i32 {
    if x == 0 {
        return 1 << 30;
    }
    let magnitude = if x > 0 { x.wrapping_neg() } else { x };
    let positive = one_over_one_plus(exp_negative::<INTEGER_BITS>(magnitude));
    if x > 0 { positive } else { i32::MAX.wrapping_sub(positive) }
}

/// Hyperbolic tangent of `x`, given half of it as a `Q(INTEGER_BITS)`: the bits of a
/// `Q(INTEGER_BITS - 1)` `x`. The result is `Q0`.
#[must_use]
pub const fn tanh_of_double<const INTEGER_BITS: i32>(x: i32) -> i32 {
    if x == 0 {
        return 0;
    }
    let magnitude = if x > 0 { x.wrapping_neg() } else { x };
    let positive = one_minus_over_one_plus(exp_negative::<INTEGER_BITS>(magnitude));
    if x > 0 { positive } else { positive.wrapping_neg() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn real(x: i32, integer_bits: i32) -> f64 {
        f64::from(x) / libm::pow(2.0, f64::from(31 - integer_bits))
    }

    #[test]
    fn functions_are_near_the_real_ones() {
        for step in 0..4000_i32 {
            let x = -(step * 536_000);
            let exact = libm::exp(real(x, 5));
            assert!((real(exp_negative::<5>(x), 0) - exact).abs() < 1e-6, "exp {x}");
            let fraction = i32::MAX - step * 536_000;
            let exact = 1.0 / (1.0 + real(fraction, 0));
            assert!((real(one_over_one_plus(fraction), 0) - exact).abs() < 1e-6, "1/(1+{fraction})");
            for x in [x, -x] {
                let exact = 1.0 / (1.0 + libm::exp(-real(x, 4)));
                assert!((real(logistic::<4>(x), 0) - exact).abs() < 1e-6, "logistic {x}");
                let exact = libm::tanh(real(x, 4));
                assert!((real(tanh_of_double::<5>(x), 0) - exact).abs() < 1e-6, "tanh {x}");
            }
        }
    }

    #[test]
    fn ends_of_the_ranges() {
        assert_eq!(exp_negative::<5>(0), i32::MAX);
        assert_eq!(exp_negative::<5>(i32::MIN), 0);
        assert_eq!(exp_negative::<6>(i32::MIN), 0);
        assert_eq!(logistic::<4>(0), 1 << 30);
        assert_eq!(tanh_of_double::<5>(0), 0);
    }
}
