//! `quantize`: the integers that stand for real numbers, or for integers of another scale.
//!
//! Operand: `x`. Result: the same shape.
//! Sources: TFLite QUANTIZE; ONNX QuantizeLinear.
//! int8: nearest, ties away from zero; integers are rescaled (tflite numerics, section 3).

use aot_rt::DType;
use serde::{Deserialize, Serialize};

use super::{Operands, Operator, one};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `quantize`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Quantize {
    /// Integer type of the result.
    #[serde(with = "super::dtype_name")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::export::schema::DTypeName"))]
    pub dtype: DType,
}

impl Operator for Quantize {
    const NAME: &'static str = "quantize";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = operands.get(0)?;
        one(self.dtype, x.ty.shape.clone())
    }

    fn lower(&self, _node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        Err("is not lowered yet".into())
    }
}
