//! `unpack`: a tensor for each index of an axis.
//!
//! Operand: `x`. Results: as many as the axis has indices, without it.
//! Source: TFLite UNPACK.
//! It takes no step along the outermost axis with more than one element: the results are
//! views.

use serde::{Deserialize, Serialize};

use super::strided::{Movement, Strided};
use super::{Operands, Operator, View, axis};
use crate::error::OpError;
use crate::graph::{Shape, TensorType, check_count};
use crate::program::NodeLowering;

/// Attributes of `unpack`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Unpack {
    /// The axis.
    pub axis: usize,
}

impl Movement for Unpack {
    fn piece(&self, x: &Shape, i: usize) -> Option<Strided> {
        let mut axes: Vec<_> = x.strides().iter().map(|stride| *stride as i64).collect();
        let mut extents = x.to_vec();
        let (stride, _) = (axes.remove(self.axis), extents.remove(self.axis));
        Some(Strided::gather(i * stride as usize, &axes, &extents))
    }
}

impl Operator for Unpack {
    const NAME: &'static str = "unpack";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = &operands.get(0)?.ty;
        axis::extent(x, self.axis)?;
        let mut extents = x.shape.to_vec();
        let results = extents.remove(self.axis);
        check_count(results, "results")?;
        Ok(vec![TensorType::new(x.dtype, Shape::new(extents)?); results])
    }

    fn view(&self, result: usize, operands: &Operands<'_>) -> Option<View> {
        self.view_of_piece(result, operands)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        self.lower_pieces(node)
    }
}
