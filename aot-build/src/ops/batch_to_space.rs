//! `batch_to_space`: images become the cells of blocks.
//!
//! Operand: `x` `[cells × batch, blocks…, others…]`, a batch for each cell of a block.
//! Result: `[batch, extents of space…, others…]`, without `crop` at the ends.
//! Sources: TFLite BATCH_TO_SPACE_ND, which dilated convolutions are made of.

use serde::{Deserialize, Serialize};

use super::blocks::{self, Blocks};
use super::{Operands, Operator, one, quantized};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `batch_to_space`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BatchToSpace {
    /// For each extent of space, cells of a block.
    pub block: Vec<usize>,
    /// For each extent of space, elements that are left out at the beginning and the end.
    pub crop: Vec<[usize; 2]>,
}

impl Operator for BatchToSpace {
    const NAME: &'static str = "batch_to_space";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = &operands.get(0)?.ty;
        let whole = |i: usize| x.shape[i + 1].checked_mul(self.block[i]);
        blocks::count(whole, &self.block, &self.crop, x.shape.len())?;
        let cells: usize = self.block.iter().product();
        if !x.shape[0].is_multiple_of(cells) {
            return Err(format!("the batch of {x} is not one for each of {cells} cells").into());
        }
        let mut extents = x.shape.to_vec();
        extents[0] /= cells;
        for (i, [before, after]) in self.crop.iter().enumerate() {
            let left = whole(i).and_then(|extent| extent.checked_sub(*before)?.checked_sub(*after));
            extents[i + 1] = left.ok_or_else(|| format!("crop {before}, {after} leaves nothing of {x}"))?;
        }
        one(x.dtype, extents)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, y) = (node.input(0)?, node.output(0));
        quantized::unchanged(x, y)?;
        let blocks =
            Blocks { space: &y.ty.shape, batch: &x.ty.shape, block: &self.block, margin: &self.crop };
        let description = format!("{} → {}", x.ty.shape, y.ty.shape);
        let (x, result) = (node.read(0)?, node.write(0));
        blocks.copies(true).iter().try_for_each(|copy| copy.steps(node, x, result, &description))
    }
}
