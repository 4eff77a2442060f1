//! Operators that reduce axes.

use super::node::{Node, kind};
use super::operators::{Known, checked_axis, known};
use super::types::UNARY;
use crate::error::OpError;
use crate::ops::{Mean, Op};

pub(super) const OPERATORS: &[Known] = &[known("MEAN", 3, [2, 2], UNARY, mean)];

fn mean(node: &Node<'_>) -> Result<Op, OpError> {
    const KEEP_DIMS: usize = 0;
    let options = node.options(kind(27, "ReducerOptions", 1))?;
    let axes = node.integers(1)?.ok_or("the axes are left out")?;
    let rank = node.shape(0)?.len();
    // The format lets an axis stand twice; it is reduced once.
    let axes: std::collections::BTreeSet<_> =
        axes.values.iter().map(|axis| checked_axis(*axis, rank)).collect::<Result<_, _>>()?;
    Ok(Mean { axes: axes.into_iter().collect(), keep_dimensions: options.flag(KEEP_DIMS)? }.into())
}
