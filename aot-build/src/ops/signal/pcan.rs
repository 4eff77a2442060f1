//! `signal_pcan`: per-channel amplitude normalisation, an automatic gain.
//!
//! Operands: `x`, uint32, one axis, an element for each channel; the noise of each channel,
//! likewise; a table of 125 int16, the gain as a function of the noise: its values at 0, 1
//! and 2, then for each power of two from 2 on four elements, of which the first are value, slope and
//! curvature up to the next. Result: uint32, the product, compressed.

use aot_rt::DType;
use aot_rt::kernels::{Kernel, SignalPcanU32};
use serde::{Deserialize, Serialize};

use super::{limited, vector, vector_of};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::ops::{Operands, Operator, one};
use crate::program::NodeLowering;

/// Elements of the table: two values, and 32 powers of two less the last one's fourth.
const GAINS: usize = 125;

/// Attributes of `signal_pcan`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SignalPcan {
    /// Bits that the product has too many, at most 63.
    pub snr_shift: u32,
}

impl Operator for SignalPcan {
    const NAME: &'static str = "signal_pcan";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(3..=3)?;
        limited("snr_shift", self.snr_shift, 63)?;
        let x = vector(operands, 0, DType::U32)?;
        vector_of(operands, 1, DType::U32, x.ty.shape.elements())?;
        vector_of(operands, 2, DType::I16, GAINS)?;
        one(DType::U32, x.ty.shape.clone())
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let channels = node.input(0)?.ty.shape.elements();
        let kernel =
            Kernel::SignalPcanU32(SignalPcanU32 { snr_shift: limited("snr_shift", self.snr_shift, 63)? });
        let operands = vec![node.read(0)?, node.write(0), node.read(1)?, node.read(2)?];
        node.step(kernel, operands, 0, format!("{channels} channels"));
        Ok(())
    }
}
