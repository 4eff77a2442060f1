//! `pad`: zeros around a tensor.
//!
//! Operand: `x`. Result: `x` with `padding` more elements on each axis.
//! Sources: TFLite PAD; ONNX Pad (constant 0).
//! int8: the zero point is added, which stands for 0.

use serde::{Deserialize, Serialize};

use super::{Operands, Operator, one};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `pad`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Pad {
    /// For each axis, elements before and after.
    pub padding: Vec<[usize; 2]>,
}

impl Operator for Pad {
    const NAME: &'static str = "pad";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = operands.get(0)?;
        if self.padding.len() != x.ty.shape.len() {
            return Err(format!("padding for {} axes, {} has another rank", self.padding.len(), x.ty).into());
        }
        let sum = |(extent, [before, after]): (&usize, &[usize; 2])| {
            extent.checked_add(*before).and_then(|sum| sum.checked_add(*after))
        };
        let extents = x.ty.shape.iter().zip(&self.padding).map(sum).collect::<Option<Vec<_>>>();
        one(x.ty.dtype, extents.ok_or_else(|| OpError::from("padding is too large"))?)
    }

    fn lower(&self, _node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        Err("is not lowered yet".into())
    }
}
