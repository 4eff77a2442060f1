//! The audio front end of TensorFlow Lite Micro, an operator a file: from sound to the
//! features that models of speech take, in integers.
//!
//! window → scale → Fourier transform → energy → filter bank → square root → noise
//! subtraction → gain control → logarithm.

mod energy;
mod fft;
mod fft_auto_scale;
mod filter_bank;
mod filter_bank_log;
mod filter_bank_spectral_subtraction;
mod filter_bank_square_root;
mod pcan;
mod rfft;
mod window;

pub use energy::{SignalEnergyI16, signal_energy_i16};
pub use fft_auto_scale::{SignalFftAutoScaleI16, signal_fft_auto_scale_i16};
pub use filter_bank::{SignalFilterBankU32, signal_filter_bank_u32};
pub use filter_bank_log::{SignalFilterBankLogU32, signal_filter_bank_log_u32};
pub use filter_bank_spectral_subtraction::{
    SignalFilterBankSpectralSubtractionU32, signal_filter_bank_spectral_subtraction_u32,
};
pub use filter_bank_square_root::{SignalFilterBankSquareRootU64, signal_filter_bank_square_root_u64};
pub use pcan::{SignalPcanU32, signal_pcan_u32};
pub use rfft::{SignalRfft, signal_rfft_f32, signal_rfft_i16, signal_rfft_i32};
pub use window::{SignalWindowI16, signal_window_i16};
