//! Operators that reduce axes, or search along one.

use aot_rt::DType;

use super::movement::one;
use super::names;
use super::node::{Node, kind};
use super::operators::{Known, checked_axis, known};
use super::types::{ARG, ONE_B, ONE_F_I_I32, ONE_F_I_U_I32, ONE_F_I_W, ONE_F_I_W_I32, TOP_K};
use crate::error::OpError;
use crate::ops::{Arg, ArgFunction, CumulativeSum, Mean, Op, Reduce, ReduceFunction, TopK};

pub(super) const OPERATORS: &[Known] = &[
    known("ARG_MAX", 2, [2, 2], ARG, |node| arg(node, ArgFunction::Max, kind(40, "ArgMaxOptions", 1))),
    known("ARG_MIN", 2, [2, 2], ARG, |node| arg(node, ArgFunction::Min, kind(57, "ArgMinOptions", 1))),
    known("CUMSUM", 1, [2, 2], ONE_F_I_I32, cumulative_sum),
    known("MEAN", 3, [2, 2], ONE_F_I_W, mean),
    known("REDUCE_ALL", 1, [2, 2], ONE_B, |node| reduce(node, ReduceFunction::All)),
    known("REDUCE_ANY", 2, [2, 2], ONE_B, |node| reduce(node, ReduceFunction::Any)),
    known("REDUCE_MAX", 3, [2, 2], ONE_F_I_U_I32, |node| reduce(node, ReduceFunction::Maximum)),
    known("REDUCE_MIN", 3, [2, 2], ONE_F_I_U_I32, |node| reduce(node, ReduceFunction::Minimum)),
    known("REDUCE_PROD", 2, [2, 2], ONE_F_I_I32, |node| reduce(node, ReduceFunction::Product)),
    known("SUM", 2, [2, 2], ONE_F_I_W_I32, |node| reduce(node, ReduceFunction::Sum)),
    known("TOPK_V2", 3, [2, 2], TOP_K, top_k).with_results(),
];

fn mean(node: &Node<'_>) -> Result<Op, OpError> {
    let (axes, keep_dimensions) = reduced(node)?;
    Ok(Mean { axes, keep_dimensions }.into())
}

fn reduce(node: &Node<'_>, function: ReduceFunction) -> Result<Op, OpError> {
    let (axes, keep_dimensions) = reduced(node)?;
    Ok(Reduce { function, axes, keep_dimensions }.into())
}

/// The axes that are reduced, and whether they are kept with extents of 1.
fn reduced(node: &Node<'_>) -> Result<(Vec<usize>, bool), OpError> {
    const KEEP_DIMS: usize = 0;
    let options = node.options(kind(27, "ReducerOptions", 1))?;
    let axes = node.integers(1)?.ok_or("the axes are left out")?;
    let rank = node.shape(0)?.len();
    // The format lets an axis stand twice; it is reduced once.
    let axes: std::collections::BTreeSet<_> =
        axes.values.iter().map(|axis| checked_axis(*axis, rank)).collect::<Result<_, _>>()?;
    Ok((axes.into_iter().collect(), options.flag(KEEP_DIMS)?))
}

fn arg(node: &Node<'_>, function: ArgFunction, options: super::node::Kind) -> Result<Op, OpError> {
    const OUTPUT_TYPE: usize = 0;
    let dtype = node.result.dtype;
    let code = if dtype == DType::I64 { names::INT64 } else { names::INT32 };
    node.options(options)?.only(OUTPUT_TYPE, &[code], "output_type")?;
    let axis = checked_axis(one(node, 1, "axis")?, node.shape(0)?.len())?;
    Ok(Arg { function, axis, dtype }.into())
}

fn cumulative_sum(node: &Node<'_>) -> Result<Op, OpError> {
    const EXCLUSIVE: usize = 0;
    const REVERSE: usize = 1;
    let options = node.optional_options(kind(102, "CumsumOptions", 2))?;
    let axis = checked_axis(one(node, 1, "axis")?, node.shape(0)?.len())?;
    let (exclusive, reverse) = (options.flag(EXCLUSIVE)?, options.flag(REVERSE)?);
    Ok(CumulativeSum { axis, exclusive, reverse }.into())
}

fn top_k(node: &Node<'_>) -> Result<Op, OpError> {
    node.optional_options(kind(34, "TopKV2Options", 0))?;
    let k = one(node, 1, "number k")?;
    let k = usize::try_from(k).map_err(|_| format!("k is {k}, expected at least 1"))?;
    Ok(TopK { k }.into())
}
