//! `signal_energy`: squares of the magnitudes of a spectrum.

use crate::Params;
use crate::kernels::kernel_params;

kernel_params! {
    /// Parameters of [`signal_energy_i16`].
    pub struct SignalEnergyI16 {
        /// The first bin that is computed.
        pub start: usize,
        /// The bin after the last that is computed.
        pub end: usize,
    }
}

/// Sums of the squares of real and imaginary parts; 0 for bins that are not asked for.
///
/// `x`: `[bins, 2]`, `y`: `[bins]`.
pub fn signal_energy_i16(params: &impl Params<SignalEnergyI16>, x: &[i16], y: &mut [u32]) {
    let p = params.get();
    let (bins, _) = x.as_chunks::<2>();
    debug_assert_eq!(bins.len(), y.len());
    for (i, (bin, y)) in bins.iter().zip(y).enumerate() {
        let [re, im] = bin.map(|part| u32::from(part.unsigned_abs()));
        *y = if (p.start..p.end).contains(&i) { re * re + im * im } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computes_the_bins_asked_for() {
        let mut y = [1; 4];
        let x = &[7, 7, -32_768, -32_768, 3, -4, 5, 5];
        signal_energy_i16(&SignalEnergyI16 { start: 1, end: 3 }, x, &mut y);
        assert_eq!(y, [0, 1 << 31, 25, 0]);
    }
}
