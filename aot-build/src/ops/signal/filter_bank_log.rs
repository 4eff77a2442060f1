//! `signal_filter_bank_log`: logarithms of channels.
//!
//! Operand: `x`, uint32. Result: int16, the natural logarithm of `x` times a power of two,
//! times a scale, saturated; 0 where that is no more than 1.

use aot_rt::DType;
use aot_rt::kernels::{Kernel, SignalFilterBankLogU32};
use serde::{Deserialize, Serialize};

use super::{limited, typed};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::ops::{Operands, Operator, one};
use crate::program::NodeLowering;

/// Attributes of `signal_filter_bank_log`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SignalFilterBankLog {
    /// What logarithms are multiplied by.
    pub output_scale: i32,
    /// Bits that `x` is shifted to the left by, at most 31.
    pub input_correction_bits: u32,
}

/// How far the logarithm to base 2 is above the line between its values at 1 and 2, at 129
/// places, with 16 bits behind the point.
fn table() -> Vec<u8> {
    let entry = |i: u16| {
        let x = f64::from(i) / 128.0;
        ((65_536.0 * ((1.0 + x).log2() - x)).round() as i16).to_le_bytes()
    };
    (0..=128).flat_map(entry).collect()
}

impl Operator for SignalFilterBankLog {
    const NAME: &'static str = "signal_filter_bank_log";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        limited("input_correction_bits", self.input_correction_bits, 31)?;
        one(DType::I16, typed(operands, 0, DType::U32)?.ty.shape.clone())
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let len = node.input(0)?.ty.shape.elements();
        let kernel = Kernel::SignalFilterBankLogU32(SignalFilterBankLogU32 {
            len,
            output_scale: self.output_scale,
            input_correction_bits: limited("input_correction_bits", self.input_correction_bits, 31)?,
        });
        let operands = vec![node.read(0)?, node.write(0), node.constant(DType::I16, &table())];
        node.step(kernel, operands, 0, format!("{len} elements, scale {}", self.output_scale));
        Ok(())
    }
}
