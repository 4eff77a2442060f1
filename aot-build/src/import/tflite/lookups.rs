//! Operators that look up by indices, which may be known only when the model runs.

use super::arithmetic::NO_OPTIONS;
use super::movement::one;
use super::node::{Node, kind};
use super::operators::{Known, checked_axis, known};
use super::types::{EMBEDDING_LOOKUP, GATHER_ND, ONE_HOT};
use crate::error::OpError;
use crate::ops::{EmbeddingLookup, GatherNd, OneHot, Op};

pub(super) const OPERATORS: &[Known] = &[
    known("EMBEDDING_LOOKUP", 4, [2, 2], EMBEDDING_LOOKUP, embedding_lookup),
    known("GATHER_ND", 5, [2, 2], GATHER_ND, gather_nd),
    known("ONE_HOT", 1, [4, 4], ONE_HOT, one_hot).but_operand(1),
];

fn embedding_lookup(node: &Node<'_>) -> Result<Op, OpError> {
    node.optional_options(NO_OPTIONS)?;
    Ok(EmbeddingLookup { dtype: node.result.dtype }.into())
}

fn gather_nd(node: &Node<'_>) -> Result<Op, OpError> {
    node.optional_options(kind(83, "GatherNdOptions", 0))?;
    Ok(GatherNd {}.into())
}

fn one_hot(node: &Node<'_>) -> Result<Op, OpError> {
    const AXIS: usize = 0;
    let options = node.optional_options(kind(61, "OneHotOptions", 1))?;
    // The new axis counts as well.
    let axis = checked_axis(options.i32(AXIS)?.into(), node.shape(0)?.len() + 1)?;
    let depth = one(node, 1, "depth")?;
    let depth = usize::try_from(depth).map_err(|_| format!("the depth is {depth}, expected at least 1"))?;
    Ok(OneHot { axis, depth }.into())
}
