//! `logistic`: `1 / (1 + exp(-x))`, element by element.
//!
//! Operand: `x`. Result: the same shape.
//! Sources: TFLite LOGISTIC; ONNX Sigmoid.
//! int8: a table of 256 results; the result has scale 1/256 and zero point -128.

use serde::{Deserialize, Serialize};

use super::{Operands, Operator, one};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `logistic`: none.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Logistic {}

impl Operator for Logistic {
    const NAME: &'static str = "logistic";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = operands.get(0)?;
        one(x.ty.dtype, x.ty.shape.clone())
    }

    fn lower(&self, _node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        Err("is not lowered yet".into())
    }
}
