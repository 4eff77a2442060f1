//! `signal_filter_bank_square_root`: magnitudes from energies.

use crate::Params;
use crate::kernels::elementwise::map;
use crate::kernels::kernel_params;

kernel_params! {
    /// Parameters of [`signal_filter_bank_square_root_u64`].
    pub struct SignalFilterBankSquareRootU64 {
        /// Elements of `x` and `y`.
        pub len: usize,
    }
}

/// Square roots, rounded to the nearest, without as many bits as were scaled up before the
/// Fourier transform.
///
/// `x` and `y`: `[len]`, `shift`: `[1]`.
pub fn signal_filter_bank_square_root_u64(
    params: &impl Params<SignalFilterBankSquareRootU64>,
    x: &[u64],
    y: &mut [u32],
    shift: &[i32],
) {
    let &[shift] = shift else { return };
    map(params.get().len, x, y, |x| square_root(x).wrapping_shr(shift as u32));
}

/// The nearest integer of 32 bits to the square root; of 16 bits, where `x` has 32.
fn square_root(x: u64) -> u32 {
    let (mut rest, mut root) = (x, 0);
    // A digit in each round, from the pair of bits that `x` starts with.
    let mut digit = 1_u64 << ((63 - (x | 1).leading_zeros()) & !1);
    while digit != 0 {
        let step = root + digit;
        root >>= 1;
        if rest >= step {
            rest -= step;
            root += digit;
        }
        digit >>= 2;
    }
    let largest = if x <= u32::MAX.into() { u16::MAX.into() } else { u32::MAX.into() };
    // More than the half remains: (root + 1/2)² is root² + root + 1/4.
    (root + u64::from(rest > root && root < largest)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As TensorFlow Lite Micro has it.
    #[test]
    fn rounds_to_the_nearest() {
        for (x, root) in [
            (0, 0),
            (1, 1),
            (2, 1),
            (3, 2),
            (6, 2),
            (7, 3),
            (0xffff_ffff, 0xffff),
            (0x1_0000_0000, 0x1_0000),
            (0xffff_fffe_0000_0001, 0xffff_ffff),
            (u64::MAX, u32::MAX),
        ] {
            assert_eq!(square_root(x), root, "{x}");
        }
        let mut y = [0; 2];
        let params = SignalFilterBankSquareRootU64 { len: 2 };
        signal_filter_bank_square_root_u64(&params, &[10_000, 1 << 40], &mut y, &[3]);
        assert_eq!(y, [12, 1 << 17]);
    }
}
