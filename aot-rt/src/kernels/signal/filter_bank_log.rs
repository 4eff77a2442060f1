//! `signal_filter_bank_log`: logarithms.

use crate::Params;
use crate::kernels::elementwise::map;
use crate::kernels::kernel_params;

kernel_params! {
    /// Parameters of [`signal_filter_bank_log_u32`].
    pub struct SignalFilterBankLogU32 {
        /// Elements of `x` and `y`.
        pub len: usize,
        /// What the logarithm is multiplied by.
        pub output_scale: i32,
        /// Bits that `x` is shifted to the left by before, 0 to 31.
        pub input_correction_bits: i32,
    }
}

/// Bits behind the point of logarithms.
const BITS: u32 = 16;
/// The natural logarithm of 2.
const LN_2: u64 = 45_426;
/// Bits that say which entry of the table counts.
const SEGMENT_BITS: u32 = 7;

/// Natural logarithms times a scale, as far as 16 bits hold them; 0 of numbers up to 1.
///
/// `x` and `y`: `[len]`, `table`: `[129]`, from 1 to 2 by how much the logarithm to base 2,
/// with 16 bits behind the point, is above the line.
pub fn signal_filter_bank_log_u32(
    params: &impl Params<SignalFilterBankLogU32>,
    x: &[u32],
    y: &mut [i16],
    table: &[i16],
) {
    let p = params.get();
    map(p.len, x, y, |x| {
        let x = x << (p.input_correction_bits & 31);
        if x <= 1 {
            return 0;
        }
        let natural = (LN_2 * u64::from(log2(x, table)) + (1 << (BITS - 1))) >> BITS;
        // The reference's product wraps.
        let scaled =
            (p.output_scale as u32).wrapping_mul(natural as u32).wrapping_add(1 << (BITS - 1)) >> BITS;
        if scaled < i16::MAX as u32 { scaled as i16 } else { i16::MAX }
    });
}

/// Logarithm to base 2 of a number that is not 0.
fn log2(x: u32, table: &[i16]) -> u32 {
    const SEGMENT: u32 = BITS - SEGMENT_BITS;
    let integer = 31 - (x | 1).leading_zeros();
    // What follows the first bit.
    let fraction = ((u64::from(x) << BITS) >> integer) as u32 & ((1 << BITS) - 1);
    let (entry, within) = (fraction >> SEGMENT, fraction & ((1 << SEGMENT) - 1));
    let above = |entry: u32| table.get(entry as usize).map_or(0, |above| i32::from(*above));
    // The reference shifts by more bits than a segment has: little of the rise is left.
    let rise = ((above(entry + 1) - above(entry)) * within as i32) >> BITS;
    (integer << BITS) + fraction.wrapping_add_signed(above(entry) + rise)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nears_the_natural_logarithm() {
        let table: [i16; 129] = core::array::from_fn(|i| {
            let x = i as f64 / 128.0;
            libm::round(65_536.0 * (libm::log2(1.0 + x) - x)) as i16
        });
        let params = SignalFilterBankLogU32 { len: 5, output_scale: 1400, input_correction_bits: 3 };
        let x = [0, 1, 1000, 123_456, 0x1fff_ffff];
        let mut y = [0; 5];
        signal_filter_bank_log_u32(&params, &x, &mut y, &table);
        assert_eq!(y[0], 0);
        for (x, y) in x.into_iter().zip(y).skip(1) {
            let expect = 1400.0 * libm::log(8.0 * f64::from(x));
            // 1 for the rounding, and what the reference's logarithm of 2 and its table lack.
            assert!((f64::from(y) - expect).abs() <= 1.0 + 1e-4 * expect, "{x}: {y}, expected {expect}");
        }
        let params = SignalFilterBankLogU32 { len: 1, output_scale: 2000, input_correction_bits: 0 };
        let mut y = [0];
        signal_filter_bank_log_u32(&params, &[u32::MAX], &mut y, &table);
        assert_eq!(y, [i16::MAX]);
    }
}
