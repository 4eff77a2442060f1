//! `mean`: mean over axes.
//!
//! Operand: `x`. Result: `x` without the axes, or with extents of 1.
//! Sources: TFLite MEAN; ONNX ReduceMean, GlobalAveragePool.
//! int8: the sum is rescaled with the number of elements folded into the multiplier
//! (tflite numerics, section 3).

use serde::{Deserialize, Serialize};

use super::{Operands, Operator, one};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `mean`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Mean {
    /// Axes that are reduced, each once, ascending.
    pub axes: Vec<usize>,
    /// Keep the reduced axes with an extent of 1.
    #[serde(default)]
    pub keep_dimensions: bool,
}

impl Operator for Mean {
    const NAME: &'static str = "mean";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = operands.get(0)?;
        let rank = x.ty.shape.len();
        if !self.axes.is_sorted_by(|a, b| a < b) || self.axes.last().is_some_and(|axis| *axis >= rank) {
            return Err(format!("axes {:?} are not ascending axes of {}", self.axes, x.ty).into());
        }
        let extents = x.ty.shape.iter().enumerate().filter_map(|(axis, &extent)| {
            match (self.axes.contains(&axis), self.keep_dimensions) {
                (false, _) => Some(extent),
                (true, true) => Some(1),
                (true, false) => None,
            }
        });
        one(x.ty.dtype, extents.collect::<Vec<_>>())
    }

    fn lower(&self, _node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        Err("is not lowered yet".into())
    }
}
