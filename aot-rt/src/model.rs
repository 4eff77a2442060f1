//! The untyped face of generated runners.

use crate::TensorInfo;

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

    /// Runs the model on little-endian bytes.
    ///
    /// # Errors
    ///
    /// When the number of slices or the length of one is not as described.
    fn run_bytes(&mut self, inputs: &[&[u8]], outputs: &mut [&mut [u8]]) -> Result<(), IoError>;
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
}

impl core::fmt::Display for IoError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::InputCount => f.write_str("the model has another number of inputs"),
            Self::OutputCount => f.write_str("the model has another number of outputs"),
            Self::InputBytes(i) => write!(f, "input {i} has another number of bytes"),
            Self::OutputBytes(i) => write!(f, "output {i} has another number of bytes"),
        }
    }
}

impl core::error::Error for IoError {}
