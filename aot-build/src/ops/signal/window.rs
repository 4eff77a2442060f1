//! `signal_window`: frames of sound, faded in and out.
//!
//! Operands: `x`, int16, frames along the last axis; weights, int16, as many as a frame has
//! samples. Result: the products, rounded down and saturated, of the same shape.

use aot_rt::DType;
use aot_rt::kernels::{Kernel, SignalWindowI16};
use serde::{Deserialize, Serialize};

use super::{limited, typed, vector_of};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::ops::{Operands, Operator, one};
use crate::program::NodeLowering;

/// Attributes of `signal_window`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SignalWindow {
    /// Bits behind the point of the weights, at most 31.
    pub shift: u32,
}

impl Operator for SignalWindow {
    const NAME: &'static str = "signal_window";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(2..=2)?;
        limited("shift", self.shift, 31)?;
        let x = typed(operands, 0, DType::I16)?;
        let frame = x.ty.shape.last().ok_or_else(|| format!("operand 0 is {}, expected frames", x.ty))?;
        vector_of(operands, 1, DType::I16, *frame)?;
        one(DType::I16, x.ty.shape.clone())
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let frame = node.input(1)?.ty.shape.elements();
        let kernel =
            Kernel::SignalWindowI16(SignalWindowI16 { frame, shift: limited("shift", self.shift, 31)? });
        let operands = vec![node.read(0)?, node.write(0), node.read(1)?];
        node.step(kernel, operands, 0, format!("frames of {frame}"));
        Ok(())
    }
}
