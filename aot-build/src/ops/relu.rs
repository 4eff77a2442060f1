//! `relu`: limits every element to the range of an activation.
//!
//! Operand: `x`. Result: the same shape.
//! Sources: TFLite RELU, RELU6, RELU_N1_TO_1; ONNX Relu, Clip.
//! int8: a table of 256 results, rescaled where the scales differ.

use serde::{Deserialize, Serialize};

use super::{Activation, Operands, Operator, one};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `relu`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Relu {
    /// The range.
    pub activation: Activation,
}

impl Default for Relu {
    fn default() -> Self {
        Self { activation: Activation::Relu }
    }
}

impl Operator for Relu {
    const NAME: &'static str = "relu";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = operands.get(0)?;
        one(x.ty.dtype, x.ty.shape.clone())
    }

    fn lower(&self, _node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        Err("is not lowered yet".into())
    }
}
