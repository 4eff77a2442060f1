//! `signal_energy`: squares of the magnitudes of a spectrum.
//!
//! Operand: `x`, int16, one axis, real and imaginary parts in turn. Result: uint32, an
//! element for each bin. Bins that are not asked for are 0; the reference leaves them
//! unwritten.

use aot_rt::DType;
use aot_rt::kernels::{Kernel, SignalEnergyI16};
use serde::{Deserialize, Serialize};

use super::vector;
use crate::error::OpError;
use crate::graph::TensorType;
use crate::ops::{Operands, Operator, one};
use crate::program::NodeLowering;

/// Attributes of `signal_energy`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SignalEnergy {
    /// The first bin that is computed.
    pub start_index: usize,
    /// The bin after the last that is computed.
    pub end_index: usize,
}

impl Operator for SignalEnergy {
    const NAME: &'static str = "signal_energy";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = vector(operands, 0, DType::I16)?;
        let parts = x.ty.shape.elements();
        if !parts.is_multiple_of(2) {
            return Err(format!("operand 0 is {}, expected pairs", x.ty).into());
        }
        let (bins, Self { start_index, end_index }) = (parts / 2, self);
        if start_index > end_index || *end_index > bins {
            return Err(format!("bins {start_index} to {end_index} are no part of {bins}").into());
        }
        one(DType::U32, [bins])
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let &Self { start_index: start, end_index: end } = self;
        let kernel = Kernel::SignalEnergyI16(SignalEnergyI16 { start, end });
        let operands = vec![node.read(0)?, node.write(0)];
        node.step(kernel, operands, 0, format!("bins {start} to {end}"));
        Ok(())
    }
}
