//! Logistic function and hyperbolic tangent of int16, by interpolation in a table.
//!
//! Operands are in steps of 1/12288, 512 from one entry of the table to the next; results have
//! 15 fraction bits. They equal those of the reference in every bit, for every operand.

use super::logistic;

/// Entries of the table from one unit of the operand to the next.
const STEPS: i64 = 24;

/// The logistic function at multiples of 1/24, times `2^16`.
///
/// Where the function bends, the straight line between two of its values lies below it;
/// the reference raises the values by half of the largest distance, `-f''(x) / (16 * 24^2)`.
static TABLE: [u16; 256] = table();

const fn table() -> [u16; 256] {
    const ONE: i64 = 1 << 31;
    let mut table = [u16::MAX; 256];
    // The last one stays: there the result is full.
    let mut i = 0;
    while i < 255 {
        let x = (((i as i64) << 27) + STEPS / 2) / STEPS;
        let y = logistic::<4>(x as i32) as i64;
        // -f'' = y * (1 - y) * (2 * y - 1)
        let bend = ((y * (ONE - y)) >> 31) * (2 * y - ONE) / ONE;
        table[i] = ((y + bend / (16 * STEPS * STEPS) + (1 << 14)) >> 15) as u16;
        i += 1;
    }
    table
}

/// The logistic function, times `2^(16 + BITS)`, of a magnitude of which the bits above the
/// lowest `BITS` are a position in the table; `None` beyond it.
#[inline(always)]
fn interpolate<const BITS: u32>(magnitude: u32) -> Option<i32> {
    let position = (magnitude >> BITS) as usize;
    let (from, to) = (*TABLE.get(position)?, *TABLE.get(position + 1)?);
    let part = (magnitude & ((1 << BITS) - 1)) as i32;
    Some((i32::from(from) << BITS) + part * i32::from(to.wrapping_sub(from)))
}

/// `1 / (1 + exp(-x))` of an `x` in units of 1/12288; the result is in units of `2^-15`.
#[must_use]
pub fn interpolated_logistic(x: i32) -> i16 {
    let y = interpolate::<9>(x.unsigned_abs()).unwrap_or(0x7fff << 10);
    let y = if x < 0 { (1 << 25) - y + (1 << 9) - 1 } else { y + (1 << 9) };
    (y >> 10) as i16
}

/// Hyperbolic tangent of an `x` in units of 1/12288; the result is in units of `2^-15`.
#[must_use]
pub fn interpolated_tanh(x: i32) -> i16 {
    // tanh(x) = 2 * logistic(2 * x) - 1
    let y = interpolate::<8>(x.unsigned_abs()).unwrap_or(0xffff << 8) - (1 << 23);
    let y = if x < 0 { (1 << 7) - 1 - y } else { y + (1 << 7) };
    (y >> 8) as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_references() {
        // Found by asking tflite-micro for hyperbolic tangents: their sum, and some.
        let sum: u32 = TABLE.iter().map(|&y| u32::from(y)).sum();
        assert_eq!(sum, 15_670_629);
        assert_eq!(TABLE[..6], [32768, 33451, 34133, 34813, 35493, 36169]);
        assert_eq!([28, 35, 43, 46, 62].map(|i: usize| TABLE[i]), [49975, 53169, 56174, 57133, 60935]);
        assert_eq!(TABLE[253..], [65534, 65534, 65535]);
    }

    #[test]
    fn functions_are_near_the_real_ones() {
        for x in (-500_000..=500_000).chain([i32::MIN, -(1 << 30), 1 << 30, i32::MAX]) {
            let real = f64::from(x) / 12_288.0;
            let expect = 32_768.0 / (1.0 + libm::exp(-real));
            assert!((f64::from(interpolated_logistic(x)) - expect).abs() < 2.0, "logistic {x}");
            let expect = 32_768.0 * libm::tanh(real);
            assert!((f64::from(interpolated_tanh(x)) - expect).abs() < 4.0, "tanh {x}");
        }
    }
}
