//! The untyped face of generated runners.
#![expect(unsafe_code, reason = "bytes are cast to element types")]

use crate::{CallError, Element, Instrument, StepInfo, TensorInfo};

/// A compiled model behind byte slices, for harnesses that drive any model.
///
/// Application code calls the runner's own typed `run`, which cannot fail.
pub trait Model {
    /// Name of the model.
    const NAME: &'static str;
    /// Inputs, in order.
    const INPUTS: &'static [TensorInfo];
    /// Outputs, in order.
    const OUTPUTS: &'static [TensorInfo];
    /// Steps, in order.
    const STEPS: &'static [StepInfo];

    /// Runs the model on little-endian bytes.
    ///
    /// # Errors
    ///
    /// When the number of slices or the length of one is not as described, or when
    /// the model works on the caller's memory and a slice is not aligned for its
    /// elements.
    fn run_bytes(&mut self, inputs: &[&[u8]], outputs: &mut [&mut [u8]]) -> Result<(), IoError> {
        self.run_bytes_with(&mut (), inputs, outputs)
    }

    /// The same, observed by `instrument`.
    ///
    /// # Errors
    ///
    /// As [`run_bytes`](Self::run_bytes).
    fn run_bytes_with(
        &mut self,
        instrument: &mut impl Instrument,
        inputs: &[&[u8]],
        outputs: &mut [&mut [u8]],
    ) -> Result<(), IoError>;
}

/// Why [`Model::run_bytes`] did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoError {
    /// Another number of inputs is needed.
    InputCount,
    /// Another number of outputs is needed.
    OutputCount,
    /// The input at this position has another length than its description.
    InputBytes(usize),
    /// The output at this position has another length than its description.
    OutputBytes(usize),
    /// The input at this position does not start at a multiple of its elements' size.
    InputAlignment(usize),
    /// The output at this position does not start at a multiple of its elements' size.
    OutputAlignment(usize),
    /// A kernel, called by its name, did not run.
    Kernel(CallError),
}

/// `bytes`, the input at `position`, as `LEN` elements.
///
/// # Errors
///
/// When they have another length, or are not aligned for `T`.
pub fn input_elements<T: Element, const LEN: usize>(
    bytes: &[u8],
    position: usize,
) -> Result<&[T; LEN], IoError> {
    if bytes.len() != size_of::<[T; LEN]>() {
        return Err(IoError::InputBytes(position));
    }
    // SAFETY: `Element` admits every bit pattern.
    let (_, elements, _) = unsafe { bytes.align_to::<T>() };
    elements.try_into().map_err(|_| IoError::InputAlignment(position))
}

/// `bytes`, the output at `position`, as `LEN` elements.
///
/// # Errors
///
/// When they have another length, or are not aligned for `T`.
pub fn output_elements<T: Element, const LEN: usize>(
    bytes: &mut [u8],
    position: usize,
) -> Result<&mut [T; LEN], IoError> {
    if bytes.len() != size_of::<[T; LEN]>() {
        return Err(IoError::OutputBytes(position));
    }
    // SAFETY: `Element` admits every bit pattern and has no padding.
    let (_, elements, _) = unsafe { bytes.align_to_mut::<T>() };
    elements.try_into().map_err(|_| IoError::OutputAlignment(position))
}

impl core::fmt::Display for IoError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::InputCount => f.write_str("the model has another number of inputs"),
            Self::OutputCount => f.write_str("the model has another number of outputs"),
            Self::InputBytes(i) => write!(f, "input {i} has another number of bytes"),
            Self::OutputBytes(i) => write!(f, "output {i} has another number of bytes"),
            Self::InputAlignment(i) => write!(f, "input {i} is not aligned for its elements"),
            Self::OutputAlignment(i) => write!(f, "output {i} is not aligned for its elements"),
            Self::Kernel(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for IoError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_elements() {
        #[repr(align(4))]
        struct Aligned([u8; 9]);
        let mut bytes = Aligned([0, 0, 128, 63, 0, 0, 128, 63, 0]);
        assert_eq!(input_elements::<f32, 2>(&bytes.0[..8], 0), Ok(&[1.0, 1.0]));
        assert_eq!(input_elements::<f32, 2>(&bytes.0, 3), Err(IoError::InputBytes(3)));
        assert_eq!(input_elements::<f32, 2>(&bytes.0[1..], 1), Err(IoError::InputAlignment(1)));
        *output_elements(&mut bytes.0[4..8], 0).unwrap() = [5_i32];
        assert_eq!(bytes.0, [0, 0, 128, 63, 5, 0, 0, 0, 0]);
        assert_eq!(output_elements::<i32, 1>(&mut bytes.0, 0), Err(IoError::OutputBytes(0)));
        assert_eq!(output_elements::<i32, 2>(&mut bytes.0[1..], 2), Err(IoError::OutputAlignment(2)));
    }
}
