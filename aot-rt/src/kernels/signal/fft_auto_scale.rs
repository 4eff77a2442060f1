//! `signal_fft_auto_scale`: samples, scaled up as far as they fit.

use crate::Params;
use crate::kernels::elements::Elements;
use crate::kernels::kernel_params;

kernel_params! {
    /// Parameters of [`signal_fft_auto_scale_i16`].
    pub struct SignalFftAutoScaleI16 {
        /// Elements of `x` and `y`.
        pub len: usize,
    }
}

/// Shifts all samples to the left by as many bits as the largest has room for, and says by
/// how many.
///
/// `x` and `y`: `[len]`, `shift`: `[1]`.
pub fn signal_fft_auto_scale_i16(
    params: &impl Params<SignalFftAutoScaleI16>,
    elements: impl Elements<i16>,
    shift: &mut [i32],
) {
    let len = params.get().len;
    elements.in_place(|samples| {
        debug_assert_eq!((samples.len(), shift.len()), (len, 1));
        let bits = room(largest(samples));
        for sample in samples.iter_mut().take(len) {
            *sample = sample.wrapping_shl(bits);
        }
        for shift in shift {
            *shift = bits as i32;
        }
    });
}

/// The largest magnitude as the reference finds it: -32768 has none of 16 bits, and what
/// comes after it counts from the start.
fn largest(samples: &[i16]) -> i16 {
    samples.iter().fold(0, |largest, &sample| {
        if sample > largest {
            sample
        } else if -i32::from(sample) > i32::from(largest) {
            sample.wrapping_neg()
        } else {
            largest
        }
    })
}

/// Bits between a magnitude and the sign.
fn room(magnitude: i16) -> u32 {
    if magnitude == 0 { 0 } else { magnitude.leading_zeros().saturating_sub(1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Apart;

    /// As TensorFlow Lite Micro has it.
    #[test]
    fn scales_by_the_largest() {
        for (x, y, shift) in [
            ([1, 2, -3], [8192, 16_384, -24_576], 13),
            ([0, 0, 0], [0, 0, 0], 0),
            ([5, -16_384, 0], [5, -16_384, 0], 0),
            ([0, 1, -32_768], [0, 1, -32_768], 0),
            ([-32_768, 1, 0], [0, 16_384, 0], 14),
        ] {
            let mut found = ([0; 3], [7]);
            let elements = Apart { x: &x, y: &mut found.0 };
            signal_fft_auto_scale_i16(&SignalFftAutoScaleI16 { len: 3 }, elements, &mut found.1);
            assert_eq!(found, (y, [shift]), "{x:?}");
        }
    }
}
