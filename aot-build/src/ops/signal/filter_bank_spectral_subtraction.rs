//! `signal_filter_bank_spectral_subtraction`: noise, estimated and subtracted.
//!
//! Operands: `x`, uint32, one axis, an element for each channel; the estimate of the last
//! run, likewise, 0 at first. Results: what is left of the signal; the new estimate, a
//! running mean, which is to be kept for the next run. The estimate has `smoothing_bits`
//! bits more than the signal.

use aot_rt::DType;
use aot_rt::kernels::{Kernel, SignalFilterBankSpectralSubtractionU32};
use serde::{Deserialize, Serialize};

use super::{limited, vector, vector_of};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::ops::{Operands, Operator};
use crate::program::NodeLowering;

/// Attributes of `signal_filter_bank_spectral_subtraction`: weights are in units of
/// `2^-spectral_subtraction_bits`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SignalFilterBankSpectralSubtraction {
    /// Weight of the signal in the estimate, for channels 0, 2, …
    pub smoothing: u32,
    /// Weight of the last estimate, for channels 0, 2, …
    pub one_minus_smoothing: u32,
    /// Weight of the signal in the estimate, for channels 1, 3, …
    pub alternate_smoothing: u32,
    /// Weight of the last estimate, for channels 1, 3, …
    pub alternate_one_minus_smoothing: u32,
    /// The part of the signal that is left in any case.
    pub min_signal_remaining: u32,
    /// Bits by which the estimate is finer than the signal, at most 31.
    pub smoothing_bits: u32,
    /// Bits behind the point of the weights, at most 31.
    pub spectral_subtraction_bits: u32,
    /// The estimate is limited to the signal.
    pub clamping: bool,
}

impl SignalFilterBankSpectralSubtraction {
    fn params(&self) -> Result<SignalFilterBankSpectralSubtractionU32, OpError> {
        const LARGEST: u32 = i32::MAX.cast_unsigned();
        let weight = |name, value| limited(name, value, LARGEST);
        Ok(SignalFilterBankSpectralSubtractionU32 {
            smoothing: [
                weight("smoothing", self.smoothing)?,
                weight("alternate_smoothing", self.alternate_smoothing)?,
            ],
            one_minus_smoothing: [
                weight("one_minus_smoothing", self.one_minus_smoothing)?,
                weight("alternate_one_minus_smoothing", self.alternate_one_minus_smoothing)?,
            ],
            min_signal_remaining: weight("min_signal_remaining", self.min_signal_remaining)?,
            smoothing_bits: limited("smoothing_bits", self.smoothing_bits, 31)?,
            weight_bits: limited("spectral_subtraction_bits", self.spectral_subtraction_bits, 31)?,
            clamping: self.clamping,
        })
    }
}

impl Operator for SignalFilterBankSpectralSubtraction {
    const NAME: &'static str = "signal_filter_bank_spectral_subtraction";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(2..=2)?;
        self.params()?;
        let x = vector(operands, 0, DType::U32)?;
        vector_of(operands, 1, DType::U32, x.ty.shape.elements())?;
        Ok(vec![TensorType::new(DType::U32, x.ty.shape.clone()); 2])
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let channels = node.input(0)?.ty.shape.elements();
        let kernel = Kernel::SignalFilterBankSpectralSubtractionU32(self.params()?);
        let operands = vec![node.read(0)?, node.write(0), node.update(1, 1)?];
        node.step(kernel, operands, 0, format!("{channels} channels"));
        Ok(())
    }
}
