//! `softmax`: `exp(beta * x)`, divided by its sum, over the last axis.
//!
//! Operand: `x`. Result: the same shape.
//! Sources: TFLite SOFTMAX; ONNX Softmax over the last axis.
//! int8: fixed-point exponential and reciprocal; the result has scale 1/256 and zero
//! point -128 (tflite numerics, section 4).

use serde::{Deserialize, Serialize};

use super::{Operands, Operator, one};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `softmax`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Softmax {
    /// Factor of the exponent; positive.
    pub beta: f32,
}

impl Default for Softmax {
    fn default() -> Self {
        Self { beta: 1.0 }
    }
}

impl Operator for Softmax {
    const NAME: &'static str = "softmax";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = operands.get(0)?;
        if !(self.beta.is_normal() && self.beta > 0.0) {
            return Err(format!("beta {} is not a positive normal number", self.beta).into());
        }
        if x.ty.shape.is_empty() {
            return Err(format!("`{}` has no axis to sum over", x.name).into());
        }
        one(x.ty.dtype, x.ty.shape.clone())
    }

    fn lower(&self, _node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        Err("is not lowered yet".into())
    }
}
