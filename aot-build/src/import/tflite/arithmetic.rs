//! Functions of elements.

use super::node::{Kind, Node};
use crate::error::OpError;
use crate::ops::{Activation, Binary, BinaryFunction, Op};

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
