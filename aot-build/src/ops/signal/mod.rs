//! The audio front end of TensorFlow Lite Micro: from sound to features, in integers that
//! stand for themselves.
//!
//! Sources: the CUSTOM operators of the same names (`SignalWindow` is `signal_window`).

mod energy;
mod fft_auto_scale;
mod filter_bank;
mod filter_bank_log;
mod filter_bank_spectral_subtraction;
mod filter_bank_square_root;
mod pcan;
mod rfft;
mod window;

pub use energy::SignalEnergy;
pub use fft_auto_scale::SignalFftAutoScale;
pub use filter_bank::SignalFilterBank;
pub use filter_bank_log::SignalFilterBankLog;
pub use filter_bank_spectral_subtraction::SignalFilterBankSpectralSubtraction;
pub use filter_bank_square_root::SignalFilterBankSquareRoot;
pub use pcan::SignalPcan;
pub use rfft::SignalRfft;
pub use window::SignalWindow;

use aot_rt::DType;

use super::Operands;
use crate::error::OpError;
use crate::graph::Tensor;

/// Operand `i`, which must be of this type.
fn typed<'a>(operands: &Operands<'a>, i: usize, dtype: DType) -> Result<&'a Tensor, OpError> {
    let tensor = operands.get(i)?;
    if tensor.ty.dtype == dtype {
        return Ok(tensor);
    }
    Err(format!("operand {i} is {}, expected {}", tensor.ty, dtype.name()).into())
}

/// Operand `i`, which must be of this type and have one axis.
fn vector<'a>(operands: &Operands<'a>, i: usize, dtype: DType) -> Result<&'a Tensor, OpError> {
    let tensor = typed(operands, i, dtype)?;
    if tensor.ty.shape.len() == 1 {
        return Ok(tensor);
    }
    Err(format!("operand {i} is {}, expected one axis", tensor.ty).into())
}

/// Operand `i`, which must be of this type and as long as others.
fn vector_of<'a>(operands: &Operands<'a>, i: usize, dtype: DType, len: usize) -> Result<&'a Tensor, OpError> {
    let tensor = vector(operands, i, dtype)?;
    if tensor.ty.shape.elements() == len {
        return Ok(tensor);
    }
    Err(format!("operand {i} is {}, expected {len} elements", tensor.ty).into())
}

/// An attribute that must be at most `most`, for a parameter of a kernel.
fn limited(name: &str, value: u32, most: u32) -> Result<i32, OpError> {
    let limited = i32::try_from(value).ok().filter(|_| value <= most);
    limited.ok_or_else(|| format!("{name} is {value}, expected at most {most}").into())
}
