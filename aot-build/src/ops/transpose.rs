//! `transpose`: axes in another order.
//!
//! Operand: `x`. Result: axis `i` is axis `permutation[i]` of `x`.
//! Sources: TFLite TRANSPOSE; ONNX Transpose.
//! It takes no step where only axes with one element change places: the result is a view.

use serde::{Deserialize, Serialize};

use super::strided::Strided;
use super::{Operands, Operator, View, one, quantized};
use crate::error::OpError;
use crate::graph::{Shape, TensorType};
use crate::program::NodeLowering;

/// Attributes of `transpose`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Transpose {
    /// For each axis of the result, that of `x`.
    pub permutation: Vec<usize>,
}

impl Transpose {
    fn elements(&self, x: &Shape) -> Strided {
        let axes = x.strides();
        let strides: Vec<_> = self.permutation.iter().map(|axis| axes[*axis] as i64).collect();
        Strided::gather(0, &strides, &self.extents(x))
    }

    fn extents(&self, x: &Shape) -> Vec<usize> {
        self.permutation.iter().map(|axis| x[*axis]).collect()
    }
}

impl Operator for Transpose {
    const NAME: &'static str = "transpose";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = &operands.get(0)?.ty;
        let mut sorted = self.permutation.clone();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..x.shape.len()) {
            return Err(format!("{:?} is no permutation of the axes of {x}", self.permutation).into());
        }
        one(x.dtype, self.extents(&x.shape))
    }

    fn view(&self, _: usize, operands: &Operands<'_>) -> Option<View> {
        let first = self.elements(&operands.get(0).ok()?.ty.shape).contiguous()?;
        Some(View { operand: 0, first })
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, y) = (node.input(0)?, node.output(0));
        quantized::unchanged(x, y)?;
        self.elements(&x.ty.shape).result(node, 0, 0)
    }
}
