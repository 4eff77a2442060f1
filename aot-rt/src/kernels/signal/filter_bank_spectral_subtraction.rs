//! `signal_filter_bank_spectral_subtraction`: noise, estimated and subtracted.

use crate::Params;
use crate::kernels::elements::Elements;
use crate::kernels::kernel_params;

kernel_params! {
    /// Parameters of [`signal_filter_bank_spectral_subtraction_u32`].
    pub struct SignalFilterBankSpectralSubtractionU32 {
        /// Weight of the signal in the estimate, of channels 0, 2, … and of channels 1, 3, ….
        pub smoothing: [i32; 2],
        /// Weight of the estimate of the last run, likewise.
        pub one_minus_smoothing: [i32; 2],
        /// The part of the signal that is left in any case.
        pub min_signal_remaining: i32,
        /// Bits by which the estimate is finer than the signal, 0 to 31.
        pub smoothing_bits: i32,
        /// Bits behind the point of the weights, 0 to 31.
        pub weight_bits: i32,
        /// The estimate is limited to the signal.
        pub clamping: bool,
    }
}

/// Takes from each channel the estimate of its noise, a running mean.
///
/// `x` and `y`: `[channels]`, `noise`: `[channels]`, the estimate of the last run, which
/// is brought up to date.
pub fn signal_filter_bank_spectral_subtraction_u32(
    params: &impl Params<SignalFilterBankSpectralSubtractionU32>,
    elements: impl Elements<u32>,
    noise: &mut [u32],
) {
    let p = params.get();
    let weighted = |value: u32, weight: i32| u64::from(value).wrapping_mul(weight as u64);
    let unweighted = |value: u64| (value >> (p.weight_bits & 31)) as u32;
    elements.in_place(|channels| {
        debug_assert_eq!(channels.len(), noise.len());
        for (i, (signal, noise)) in channels.iter_mut().zip(noise).enumerate() {
            let fine = *signal << (p.smoothing_bits & 31);
            let (part, rest) = (p.smoothing[i & 1], p.one_minus_smoothing[i & 1]);
            let estimate = unweighted(weighted(fine, part).wrapping_add(weighted(*noise, rest)));
            *noise = if p.clamping { estimate.min(fine) } else { estimate };
            let subtracted = fine.saturating_sub(estimate) >> (p.smoothing_bits & 31);
            *signal = subtracted.max(unweighted(weighted(*signal, p.min_signal_remaining)));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::InPlace;

    #[test]
    fn follows_the_noise() {
        // A quarter, and a half for the second channel.
        let params = SignalFilterBankSpectralSubtractionU32 {
            smoothing: [4, 8],
            one_minus_smoothing: [12, 8],
            min_signal_remaining: 1,
            smoothing_bits: 2,
            weight_bits: 4,
            clamping: false,
        };
        for (clamping, noise) in [(false, [300, 200]), (true, [40, 40])] {
            let params = SignalFilterBankSpectralSubtractionU32 { clamping, ..params };
            let (mut signal, mut estimate) = ([100, 100], [0, 0]);
            signal_filter_bank_spectral_subtraction_u32(&params, InPlace(&mut signal), &mut estimate);
            assert_eq!((signal, estimate), ([75, 50], [100, 200]));
            let (mut signal, mut estimate) = ([10, 10], [387, 360]);
            signal_filter_bank_spectral_subtraction_u32(&params, InPlace(&mut signal), &mut estimate);
            assert_eq!((signal, estimate), ([0, 0], noise));
        }
    }
}
