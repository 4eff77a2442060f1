//! `signal_filter_bank`: the energy of each channel.

use crate::Params;
use crate::kernels::kernel_params;

kernel_params! {
    /// Parameters of [`signal_filter_bank_u32`].
    pub struct SignalFilterBankU32 {
        /// Elements of `y`.
        pub channels: usize,
    }
}

/// Sums of weighted energies. The triangles of neighbouring channels overlap: the bins of
/// each band add to its channel by their weights, and to the next one by what the weights
/// leave over. The first band belongs to no channel but the next.
///
/// `x`: `[bins]`, `y`: `[channels]`; `weights` and `unweights`: those of all bands;
/// `bands`: `[channels + 1, 3]`, where the bins and the weights of each band start, and how
/// many there are.
pub fn signal_filter_bank_u32(
    params: &impl Params<SignalFilterBankU32>,
    x: &[u32],
    y: &mut [u64],
    weights: &[i16],
    unweights: &[i16],
    bands: &[i16],
) {
    let (bands, _) = bands.as_chunks();
    debug_assert_eq!((y.len(), bands.len()), (params.get().channels, params.get().channels + 1));
    let mut bands = bands.iter().map(|&[bin, weight, width]| {
        let x = band(x, bin, width);
        [weights, unweights].map(|weights| sum(x, band(weights, weight, width)))
    });
    let mut left_over = bands.next().map_or(0, |[_, left_over]| left_over);
    for (y, [weighted, unweighted]) in y.iter_mut().zip(bands) {
        *y = weighted.wrapping_add(left_over);
        left_over = unweighted;
    }
}

/// The elements from `start` on; none where there are not so many.
fn band<T>(elements: &[T], start: i16, width: i16) -> &[T] {
    let [start, width] = [start, width].map(|value| usize::try_from(value).unwrap_or(0));
    elements.get(start..start + width).unwrap_or_default()
}

/// Negative weights wrap, as does the sum.
fn sum(x: &[u32], weights: &[i16]) -> u64 {
    let products = x.iter().zip(weights).map(|(&x, &weight)| u64::from(x).wrapping_mul(weight as u64));
    products.fold(0, u64::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_add_to_two_channels() {
        let mut y = [0; 2];
        // Bins 1 and 2 are between no channel and the first, 3 between the two, 4 after.
        signal_filter_bank_u32(
            &SignalFilterBankU32 { channels: 2 },
            &[9, 10, 20, 30, u32::MAX],
            &mut y,
            &[1, 2, 3, -1],
            &[7, 6, 5, 4],
            &[1, 0, 2, 3, 2, 1, 4, 3, 1],
        );
        assert_eq!(y, [10 * 7 + 20 * 6 + 30 * 3, (30 * 5_u64).wrapping_sub(u32::MAX.into())]);
    }
}
