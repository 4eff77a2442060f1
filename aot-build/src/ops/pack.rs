//! `pack`: tensors one behind the other along a new axis.
//!
//! Operands: at least one, of equal shapes. Result: their shape with one more axis, whose
//! extent is their number.
//! Sources: TFLite PACK; ONNX ConcatFromSequence with a new axis.
//! Along the outermost axis with more than one element, operands are made inside the
//! result, as those of `concatenation` are.

use serde::{Deserialize, Serialize};

use super::concatenation::put;
use super::{Operands, Operator, View, one, quantized};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `pack`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Pack {
    /// Position of the new axis among those of the result.
    pub axis: usize,
}

impl Operator for Pack {
    const NAME: &'static str = "pack";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        let first = &operands.get(0)?.ty;
        for i in 1..operands.len() {
            let ty = &operands.get(i)?.ty;
            if (ty.dtype, &ty.shape) != (first.dtype, &first.shape) {
                return Err(format!("{ty} cannot be packed with {first}").into());
            }
        }
        let mut extents = first.shape.to_vec();
        if self.axis > extents.len() {
            return Err(format!("{first} can have no axis {}", self.axis).into());
        }
        extents.insert(self.axis, operands.len());
        one(first.dtype, extents)
    }

    fn view(&self, _: usize, operands: &Operands<'_>) -> Option<View> {
        (operands.len() == 1).then_some(View { operand: 0, first: 0 })
    }

    fn part(&self, operand: usize, operands: &Operands<'_>) -> Option<usize> {
        let shape = &operands.get(operand).ok()?.ty.shape;
        let outer = shape.get(..self.axis)?;
        let first = operand * shape.elements();
        (operands.len() > 1 && outer.iter().all(|extent| *extent == 1)).then_some(first)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (y, count) = (node.output(0), node.inputs());
        for i in 0..count {
            quantized::unchanged(node.input(i)?, y)?;
        }
        if node.view(0)? {
            return Ok(());
        }
        // The operands with the new axis, of extent 1.
        let mut extents = node.input(0)?.ty.shape.to_vec();
        extents.insert(self.axis, 1);
        let stride = y.ty.shape.strides()[self.axis];
        (0..count).try_for_each(|i| put(node, i, &extents, i * stride))
    }
}
