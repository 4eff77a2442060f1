//! `signal_window`: a frame of sound, faded in and out.

use crate::Params;
use crate::kernels::elements::Elements;
use crate::kernels::kernel_params;
use crate::kernels::loops::chunks_mut;

kernel_params! {
    /// Parameters of [`signal_window_i16`].
    pub struct SignalWindowI16 {
        /// Samples of a frame.
        pub frame: usize,
        /// Bits behind the point of the weights, 0 to 31.
        pub shift: i32,
    }
}

/// Multiplies each sample by its weight, rounds down and saturates.
///
/// `x` and `y`: `[frames, frame]`, `weights`: `[frame]`.
pub fn signal_window_i16(
    params: &impl Params<SignalWindowI16>,
    elements: impl Elements<i16>,
    weights: &[i16],
) {
    let p = params.get();
    elements.in_place(|samples| {
        for frame in chunks_mut(samples, p.frame) {
            for (sample, &weight) in frame.iter_mut().zip(weights) {
                let product = (i32::from(*sample) * i32::from(weight)) >> (p.shift & 31);
                *sample = i16::try_from(product).unwrap_or(if product < 0 { i16::MIN } else { i16::MAX });
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Apart;

    #[test]
    fn rounds_down_and_saturates() {
        let params = SignalWindowI16 { frame: 3, shift: 12 };
        let mut y = [0; 6];
        let x = &[-1, -32_768, 100, 1, 32_767, -32_768];
        signal_window_i16(&params, Apart { x, y: &mut y }, &[4095, 4097, -4097]);
        assert_eq!(y, [-1, -32_768, -101, 0, 32_767, 32_767]);
    }
}
