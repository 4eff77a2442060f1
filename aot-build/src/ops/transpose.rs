//! `transpose`: axes in another order.
//!
//! Operand: `x`. Result: axis `i` is axis `permutation[i]` of `x`.
//! Sources: TFLite TRANSPOSE; ONNX Transpose.
//! It takes no step where only axes with one element change places: the result is a view.

use serde::{Deserialize, Serialize};

use super::strided::{Movement, Strided};
use super::{Operands, Operator, View, one};
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
    fn extents(&self, x: &Shape) -> Vec<usize> {
        self.permutation.iter().map(|axis| x[*axis]).collect()
    }
}

impl Movement for Transpose {
    fn piece(&self, x: &Shape, _: usize) -> Option<Strided> {
        let axes = x.strides();
        let strides: Vec<_> = self.permutation.iter().map(|axis| axes[*axis] as i64).collect();
        Some(Strided::gather(0, &strides, &self.extents(x)))
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

    fn view(&self, result: usize, operands: &Operands<'_>) -> Option<View> {
        self.view_of_piece(result, operands)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        self.lower_pieces(node)
    }
}
