//! `reverse`: axes from their last element to their first.
//!
//! Operand: `x`. Result: the same shape.
//! Sources: TFLite REVERSE_V2; ONNX Slice with steps of -1.

use serde::{Deserialize, Serialize};

use super::strided::{Movement, Strided};
use super::{Operands, Operator, View, one};
use crate::error::OpError;
use crate::graph::{Shape, TensorType};
use crate::program::NodeLowering;

/// Attributes of `reverse`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Reverse {
    /// The axes, each once, ascending.
    pub axes: Vec<usize>,
}

impl Movement for Reverse {
    fn piece(&self, x: &Shape, _: usize) -> Option<Strided> {
        let mut strides: Vec<_> = x.strides().iter().map(|stride| *stride as i64).collect();
        let mut first = 0;
        for &axis in self.axes.iter().filter(|axis| x[**axis] > 1) {
            first += (x[axis] - 1) * strides[axis] as usize;
            strides[axis] = -strides[axis];
        }
        Some(Strided::gather(first, &strides, x))
    }
}

impl Operator for Reverse {
    const NAME: &'static str = "reverse";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = &operands.get(0)?.ty;
        let ascending = self.axes.is_sorted_by(|a, b| a < b);
        if !ascending || self.axes.last().is_some_and(|axis| *axis >= x.shape.len()) {
            return Err(format!("axes {:?} are not ascending axes of {x}", self.axes).into());
        }
        one(x.dtype, x.shape.clone())
    }

    fn view(&self, result: usize, operands: &Operands<'_>) -> Option<View> {
        self.view_of_piece(result, operands)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        self.lower_pieces(node)
    }
}
