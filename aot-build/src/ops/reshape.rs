//! `reshape`: the same elements under other extents.
//!
//! Operand: `x`. Result: `x` with extents `shape`.
//! Sources: TFLite RESHAPE, SQUEEZE, EXPAND_DIMS; ONNX Reshape, Flatten. Importers
//! resolve a -1.
//! It takes no step: the result is a view of `x`.

use serde::{Deserialize, Serialize};

use super::{Operands, Operator, View, one, quantized};
use crate::error::OpError;
use crate::graph::{Shape, TensorType};
use crate::program::NodeLowering;

/// Attributes of `reshape`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Reshape {
    /// The new extents.
    pub shape: Shape,
}

impl Operator for Reshape {
    const NAME: &'static str = "reshape";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = operands.get(0)?;
        if self.shape.elements() != x.ty.shape.elements() {
            return Err(format!("{} has another number of elements than {}", x.ty, self.shape).into());
        }
        one(x.ty.dtype, self.shape.clone())
    }

    fn view(&self, _: usize, _: &Operands<'_>) -> Option<View> {
        Some(View { operand: 0, first: 0 })
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        quantized::unchanged(node.input(0)?, node.output(0))?;
        node.view(0)?;
        Ok(())
    }
}
