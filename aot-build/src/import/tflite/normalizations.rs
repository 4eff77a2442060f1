//! Operators that set elements against those around them, and the pool of squares.

use super::layers::pool_2d;
use super::node::{Node, kind};
use super::operators::{Known, known};
use super::types::{ONE_F, ONE_F_I, ONE_F_I_U};
use crate::error::OpError;
use crate::ops::{Activation, L2Normalization, L2Pool2d, LocalResponseNormalization, LogSoftmax, Op};

pub(super) const OPERATORS: &[Known] = &[
    known("L2_NORMALIZATION", 2, [1, 1], ONE_F_I_U, l2_normalization),
    known("L2_POOL_2D", 1, [1, 1], ONE_F, l2_pool_2d),
    known("LOCAL_RESPONSE_NORMALIZATION", 1, [1, 1], ONE_F, local_response_normalization),
    known("LOG_SOFTMAX", 2, [1, 1], ONE_F_I, log_softmax),
];

fn l2_normalization(node: &Node<'_>) -> Result<Op, OpError> {
    const ACTIVATION: usize = 0;
    let activation = node.optional_options(kind(12, "L2NormOptions", 1))?.activation(ACTIVATION)?;
    if activation != Activation::None {
        return Err(format!("fused activation{activation} is not supported, only NONE").into());
    }
    Ok(L2Normalization {}.into())
}

fn l2_pool_2d(node: &Node<'_>) -> Result<Op, OpError> {
    let (window, stride, padding, activation) = pool_2d(node)?;
    Ok(L2Pool2d { window, stride, padding, activation }.into())
}

fn local_response_normalization(node: &Node<'_>) -> Result<Op, OpError> {
    const RADIUS: usize = 0;
    const BIAS: usize = 1;
    const ALPHA: usize = 2;
    const BETA: usize = 3;
    let options = node.options(kind(13, "LocalResponseNormalizationOptions", 4))?;
    let radius = options.i32(RADIUS)?;
    let radius = usize::try_from(radius).map_err(|_| format!("radius is {radius}, expected at least 0"))?;
    let [bias, alpha, beta] = [options.f32(BIAS)?, options.f32(ALPHA)?, options.f32(BETA)?];
    Ok(LocalResponseNormalization { radius, bias, alpha, beta }.into())
}

fn log_softmax(node: &Node<'_>) -> Result<Op, OpError> {
    node.optional_options(kind(36, "LogSoftmaxOptions", 0))?;
    Ok(LogSoftmax {}.into())
}
