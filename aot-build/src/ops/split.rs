//! `split`: a tensor cut into pieces along an axis.
//!
//! Operand: `x`. Results: as many as `sizes`, which add up to the extent of the axis.
//! Sources: TFLite SPLIT, SPLIT_V; ONNX Split. Importers resolve a size of -1.
//! It takes no step along the outermost axis with more than one element: the results are
//! views.

use serde::{Deserialize, Serialize};

use super::strided::{Movement, Strided};
use super::{Operands, Operator, View, axis};
use crate::error::OpError;
use crate::graph::{Shape, TensorType};
use crate::program::NodeLowering;

/// Attributes of `split`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// The axis that is cut.
    pub axis: usize,
    /// For each result, its extent along the axis.
    pub sizes: Vec<usize>,
}

impl Movement for Split {
    fn piece(&self, x: &Shape, i: usize) -> Option<Strided> {
        let axes = x.strides();
        let first = self.sizes.get(..i)?.iter().sum::<usize>() * axes.get(self.axis)?;
        let mut extents = x.to_vec();
        extents[self.axis] = *self.sizes.get(i)?;
        let strides: Vec<_> = axes.iter().map(|stride| *stride as i64).collect();
        Some(Strided::gather(first, &strides, &extents))
    }
}

impl Operator for Split {
    const NAME: &'static str = "split";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = &operands.get(0)?.ty;
        let extent = axis::extent(x, self.axis)?;
        let sum = self.sizes.iter().try_fold(0_usize, |sum, size| sum.checked_add(*size));
        if sum != Some(extent) {
            let (axis, sizes) = (self.axis, &self.sizes);
            return Err(format!("sizes {sizes:?} do not add up to axis {axis} of {x}").into());
        }
        let piece = |size: &usize| {
            let mut extents = x.shape.to_vec();
            extents[self.axis] = *size;
            Ok(TensorType::new(x.dtype, Shape::new(extents)?))
        };
        self.sizes.iter().map(piece).collect()
    }

    fn view(&self, result: usize, operands: &Operands<'_>) -> Option<View> {
        self.view_of_piece(result, operands)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        self.lower_pieces(node)
    }
}
