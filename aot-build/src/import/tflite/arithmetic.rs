//! Functions of elements.

use super::node::{Kind, Node, kind};
use crate::error::OpError;
use crate::ops::{
    Activation, Binary, BinaryFunction, Cast, Compare, Find, LeakyRelu, Op, Relation, Select, Unary,
    UnaryFunction,
};

/// The options of operators for which the format has none.
pub(super) const NO_OPTIONS: Kind = kind(0, "no options", 0);

/// A function of two elements whose options hold a fused activation.
pub(super) fn with_activation(
    node: &Node<'_>,
    function: BinaryFunction,
    options: Kind,
) -> Result<Op, OpError> {
    const ACTIVATION: usize = 0;
    let activation = node.options(options)?.activation(ACTIVATION)?;
    Ok(Binary { function, activation }.into())
}

/// A function of two elements without attributes.
pub(super) fn binary(node: &Node<'_>, function: BinaryFunction, options: Kind) -> Result<Op, OpError> {
    node.optional_options(options)?;
    Ok(Binary { function, activation: Activation::None }.into())
}

/// A function of one element without attributes.
pub(super) fn unary(node: &Node<'_>, function: UnaryFunction, options: Kind) -> Result<Op, OpError> {
    node.optional_options(options)?;
    Ok(Unary { function }.into())
}

pub(super) fn gelu(node: &Node<'_>) -> Result<Op, OpError> {
    const APPROXIMATE: usize = 0;
    let options = node.optional_options(kind(116, "GeluOptions", 1))?;
    let approximate = options.flag(APPROXIMATE)?;
    Ok(Unary { function: if approximate { UnaryFunction::GeluTanh } else { UnaryFunction::Gelu } }.into())
}

pub(super) fn leaky_relu(node: &Node<'_>) -> Result<Op, OpError> {
    const ALPHA: usize = 0;
    let options = node.options(kind(75, "LeakyReluOptions", 1))?;
    Ok(LeakyRelu { alpha: options.f32(ALPHA)? }.into())
}

/// A comparison.
pub(super) fn compare(node: &Node<'_>, relation: Relation, options: Kind) -> Result<Op, OpError> {
    node.optional_options(options)?;
    Ok(Compare { relation }.into())
}

pub(super) fn select(node: &Node<'_>) -> Result<Op, OpError> {
    node.optional_options(kind(47, "SelectOptions", 0))?;
    let (condition, a) = (node.shape(0)?, node.shape(1)?);
    // Nothing is broadcast but a scalar, or a vector along the first axis.
    if !condition.is_empty() && condition != a && condition.len() != 1 {
        return Err(format!("the condition {condition} is neither a vector nor {a}").into());
    }
    if node.shape(2)? != a {
        return Err(format!("{a} and {} are not equal", node.shape(2)?).into());
    }
    Ok(Select { first_axis: condition.len() == 1 && a.len() > 1 }.into())
}

pub(super) fn select_v2(node: &Node<'_>) -> Result<Op, OpError> {
    node.optional_options(kind(98, "SelectV2Options", 0))?;
    Ok(Select::default().into())
}

pub(super) fn find(node: &Node<'_>) -> Result<Op, OpError> {
    node.optional_options(kind(85, "WhereOptions", 0))?;
    Ok(Find {}.into())
}

pub(super) fn cast(node: &Node<'_>) -> Result<Op, OpError> {
    // The tensors say from what to what.
    node.optional_options(kind(37, "CastOptions", 2))?;
    Ok(Cast { dtype: node.result.dtype }.into())
}
