//! `space_to_depth`: squares of an image become its pixels' channels.
//!
//! Operand: `x` `[batch, height, width, channels]`. Result: `[batch, height / block,
//! width / block, block² channels]`; the channels of a square stand row by row.
//! Sources: TFLite SPACE_TO_DEPTH; ONNX SpaceToDepth (after the transposes).

use serde::{Deserialize, Serialize};

use super::strided::{Movement, Strided};
use super::{Operands, Operator, View, one};
use crate::error::OpError;
use crate::graph::{Shape, TensorType};
use crate::program::NodeLowering;

/// Attributes of `space_to_depth`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SpaceToDepth {
    /// Height and width of a square.
    pub block: usize,
}

impl Movement for SpaceToDepth {
    fn piece(&self, x: &Shape, _: usize) -> Option<Strided> {
        let [batch, height, width, channels] = x.array().ok()?;
        let (block, row) = (self.block, width * channels);
        let extents = [batch, height / block, width / block, block, block, channels];
        let strides = [height * row, block * row, block * channels, row, channels, 1];
        Some(Strided::gather(0, &strides.map(|stride| stride as i64), &extents))
    }
}

impl Operator for SpaceToDepth {
    const NAME: &'static str = "space_to_depth";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = &operands.get(0)?.ty;
        let [batch, height, width, channels] = x.shape.array()?;
        let block = self.block;
        if block == 0 || !height.is_multiple_of(block) || !width.is_multiple_of(block) {
            return Err(format!("{x} is not made of squares of {block}×{block} pixels").into());
        }
        let channels = channels.checked_mul(block * block).ok_or("the result is too large")?;
        one(x.dtype, [batch, height / block, width / block, channels])
    }

    fn view(&self, result: usize, operands: &Operands<'_>) -> Option<View> {
        self.view_of_piece(result, operands)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        self.lower_pieces(node)
    }
}
