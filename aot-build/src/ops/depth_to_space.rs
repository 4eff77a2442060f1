//! `depth_to_space`: channels of an image become squares of pixels.
//!
//! Operand: `x` `[batch, height, width, channels]`. Result: `[batch, block height, block
//! width, channels / block²]`; the channels of a square stand row by row.
//! Sources: TFLite DEPTH_TO_SPACE; ONNX DepthToSpace in mode DCR (after the transposes).

use serde::{Deserialize, Serialize};

use super::strided::{Movement, Strided};
use super::{Operands, Operator, View, one};
use crate::error::OpError;
use crate::graph::{Shape, TensorType};
use crate::program::NodeLowering;

/// Attributes of `depth_to_space`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DepthToSpace {
    /// Height and width of a square.
    pub block: usize,
}

impl Movement for DepthToSpace {
    fn piece(&self, x: &Shape, _: usize) -> Option<Strided> {
        let [batch, height, width, channels] = x.array().ok()?;
        let (block, row) = (self.block, width * channels);
        let depth = channels / (block * block);
        let extents = [batch, height, block, width, block, depth];
        let strides = [height * row, row, block * depth, channels, depth, 1];
        Some(Strided::gather(0, &strides.map(|stride| stride as i64), &extents))
    }
}

impl Operator for DepthToSpace {
    const NAME: &'static str = "depth_to_space";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = &operands.get(0)?.ty;
        let [batch, height, width, channels] = x.shape.array()?;
        let block = self.block;
        let pixels =
            block.checked_mul(block).filter(|pixels| *pixels > 0 && channels.is_multiple_of(*pixels));
        let Some(pixels) = pixels else {
            return Err(format!("the channels of {x} make no squares of {block}×{block} pixels").into());
        };
        one(x.dtype, [batch, height * block, width * block, channels / pixels])
    }

    fn view(&self, result: usize, operands: &Operands<'_>) -> Option<View> {
        self.view_of_piece(result, operands)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        self.lower_pieces(node)
    }
}
