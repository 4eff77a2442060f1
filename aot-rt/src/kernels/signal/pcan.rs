//! `signal_pcan`: per-channel amplitude normalisation, an automatic gain.

use crate::Params;
use crate::kernels::elements::Elements;
use crate::kernels::kernel_params;

kernel_params! {
    /// Parameters of [`signal_pcan_u32`].
    pub struct SignalPcanU32 {
        /// Bits that the product of signal and gain has too many, 0 to 63.
        pub snr_shift: i32,
    }
}

/// Bits behind the point of the ratio of signal to noise.
const SNR_BITS: u32 = 12;
/// Bits behind the point of the result.
const OUTPUT_BITS: u32 = 6;
/// Bits of a position between two entries of the table.
const FRACTION_BITS: u32 = 10;

/// Multiplies each channel by a gain that falls with its noise, and compresses the product.
///
/// `x`, `y` and `noise`: `[channels]`, `gains`: `[125]`, three results, then for each
/// further power of two the value and the slopes of a parabola up to the next.
pub fn signal_pcan_u32(
    params: &impl Params<SignalPcanU32>,
    elements: impl Elements<u32>,
    noise: &[u32],
    gains: &[i16],
) {
    let p = params.get();
    elements.in_place(|channels| {
        debug_assert_eq!(channels.len(), noise.len());
        for (signal, &noise) in channels.iter_mut().zip(noise) {
            let product = u64::from(*signal).wrapping_mul(gain(noise, gains) as u64);
            *signal = compressed((product >> (p.snr_shift & 63)) as u32);
        }
    });
}

/// The table's function at `x`.
fn gain(x: u32, gains: &[i16]) -> u32 {
    let entry = |i: u32| gains.get(i as usize).map_or(0, |gain| i32::from(*gain));
    if x <= 2 {
        return entry(x) as u32;
    }
    let bits = 32 - x.leading_zeros();
    let first = 4 * bits - 6;
    // What follows the first bit, as a fraction.
    let fraction = ((x << (32 - bits)) >> (31 - FRACTION_BITS)) & ((1 << FRACTION_BITS) - 1);
    let fraction = fraction as i32;
    let slope = ((entry(first + 2) * fraction) >> 5).wrapping_add(entry(first + 1) << 5);
    let rise = slope.wrapping_mul(fraction).wrapping_add(1 << 14) >> 15;
    // Results have 16 bits.
    (entry(first) + rise) as i16 as u32
}

/// `x²/4` up to 2, then `x - 1`.
const fn compressed(x: u32) -> u32 {
    if x < 2 << SNR_BITS {
        x.wrapping_mul(x) >> (2 + 2 * SNR_BITS - OUTPUT_BITS)
    } else {
        (x >> (SNR_BITS - OUTPUT_BITS)) - (1 << OUTPUT_BITS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compresses_without_a_jump() {
        for (x, y) in [(0, 0), (4096, 16), (8191, 63), (8192, 64), (12_288, 128), (u32::MAX, 67_108_799)] {
            assert_eq!(compressed(x), y, "{x}");
        }
    }

    #[test]
    fn gains_lie_on_parabolas() {
        let mut gains = [0; 125];
        gains[..3].copy_from_slice(&[100, 90, 80]);
        gains[6..9].copy_from_slice(&[2000, -3000, 64]);
        // Between 4 and 8.
        for (x, expect) in [(0, 100), (1, 90), (2, 80), (4, 2000), (6, 2000 - 1500 + 16)] {
            assert_eq!(gain(x, &gains), expect, "{x}");
        }
        assert_eq!(gain(u32::MAX, &[]), 0);
    }
}
