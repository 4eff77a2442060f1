//! `dequantize`: the real numbers that integers stand for.
//!
//! Operand: `x`. Result: the same shape.
//! Sources: TFLite DEQUANTIZE; ONNX DequantizeLinear.
//! int8: `scale * (q - zero_point)`.

use aot_rt::DType;
use serde::{Deserialize, Serialize};

use super::{Operands, Operator, one};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `dequantize`: none.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Dequantize {}

impl Operator for Dequantize {
    const NAME: &'static str = "dequantize";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = operands.get(0)?;
        one(DType::F32, x.ty.shape.clone())
    }

    fn lower(&self, _node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        Err("is not lowered yet".into())
    }
}
