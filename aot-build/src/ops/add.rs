//! `add`: sum, element by element; extents of 1 are repeated.
//!
//! Operands: `a`, `b`. Result: the broadcast shape.
//! Sources: TFLite ADD; ONNX Add.
//! int8: both operands are brought to twice the larger scale with 20 more bits, added,
//! and brought to the result's scale (tflite numerics, section 3).

use serde::{Deserialize, Serialize};

use super::{Activation, Operands, Operator, broadcast, one};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `add`.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Add {
    /// Fused activation.
    pub activation: Activation,
}

impl Operator for Add {
    const NAME: &'static str = "add";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(2..=2)?;
        let (a, b) = (operands.get(0)?, operands.get(1)?);
        one(a.ty.dtype, broadcast::shape(&a.ty.shape, &b.ty.shape)?)
    }

    fn lower(&self, _node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        Err("is not lowered yet".into())
    }
}
