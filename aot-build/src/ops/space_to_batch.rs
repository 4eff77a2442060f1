//! `space_to_batch`: the cells of blocks become images of their own.
//!
//! Operand: `x` `[batch, extents of space…, others…]`. Result: a batch for each cell of a
//! block, `[cells × batch, blocks…, others…]`.
//! Sources: TFLite SPACE_TO_BATCH_ND, which dilated convolutions are made of.
//! int8: padding is the zero point. TensorFlow Lite Micro pads with 0, which is a fault
//! (`fault_l2_*`).

use serde::{Deserialize, Serialize};

use super::blocks::{self, Blocks};
use super::{Operands, Operator, one, pad, quantized};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `space_to_batch`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SpaceToBatch {
    /// For each extent of space, cells of a block.
    pub block: Vec<usize>,
    /// For each extent of space, zeros before and after.
    pub padding: Vec<[usize; 2]>,
}

impl Operator for SpaceToBatch {
    const NAME: &'static str = "space_to_batch";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = &operands.get(0)?.ty;
        let padded = |i: usize| {
            let [before, after] = self.padding[i];
            x.shape[i + 1].checked_add(before)?.checked_add(after)
        };
        let blocks = blocks::count(padded, &self.block, &self.padding, x.shape.len())?;
        let mut extents = x.shape.to_vec();
        extents[0] = extents[0].saturating_mul(self.block.iter().product());
        extents[1..=blocks.len()].copy_from_slice(&blocks);
        one(x.dtype, extents)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, y) = (node.input(0)?, node.output(0));
        quantized::unchanged(x, y)?;
        let blocks =
            Blocks { space: &x.ty.shape, batch: &y.ty.shape, block: &self.block, margin: &self.padding };
        let description = format!("{} → {}", x.ty.shape, y.ty.shape);
        if self.padding.iter().any(|cells| *cells != [0, 0]) {
            pad::fill(node, pad::zero(x)?)?;
        }
        let (x, result) = (node.read(0)?, node.write(0));
        blocks.copies(false).iter().try_for_each(|copy| copy.steps(node, x, result, &description))
    }
}
