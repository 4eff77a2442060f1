//! `broadcast_to`: a tensor repeated along axes that it has one element of, or not at all.
//!
//! Operand: `x`. Result: `shape`, whose last axes are those of `x`.
//! Sources: TFLite BROADCAST_TO, FILL; ONNX Expand, ConstantOfShape.

use serde::{Deserialize, Serialize};

use super::strided::{Movement, Strided};
use super::{Operands, Operator, View, broadcast, one};
use crate::error::OpError;
use crate::graph::{Shape, TensorType};
use crate::program::NodeLowering;

/// Attributes of `broadcast_to`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BroadcastTo {
    /// Extents of the result.
    pub shape: Shape,
}

impl Movement for BroadcastTo {
    fn piece(&self, x: &Shape, _: usize) -> Option<Strided> {
        // Axes that `x` does not have come first.
        let mut strides = vec![0; self.shape.len().saturating_sub(x.len())];
        let own = x.iter().zip(x.strides());
        strides.extend(own.map(|(extent, stride)| if *extent == 1 { 0 } else { stride as i64 }));
        Some(Strided::gather(0, &strides, &self.shape))
    }
}

impl Operator for BroadcastTo {
    const NAME: &'static str = "broadcast_to";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = &operands.get(0)?.ty;
        match broadcast::shape(&x.shape, &self.shape) {
            Ok(extents) if extents == *self.shape => one(x.dtype, self.shape.clone()),
            _ => Err(format!("{x} cannot be repeated to {}", self.shape).into()),
        }
    }

    fn view(&self, result: usize, operands: &Operands<'_>) -> Option<View> {
        self.view_of_piece(result, operands)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        self.lower_pieces(node)
    }
}
