//! Convolutions, products, pools and softmax.

use super::names;
use super::node::{Node, Options, kind};
use super::operators::{Known, known};
use super::types::{I, ONE_F_I_U_W, SOFTMAX, W, WITH_WEIGHTS};
use crate::error::OpError;
use crate::ops::{
    Activation, AveragePool2d, Conv2d, DepthwiseConv2d, FullyConnected, MaxPool2d, Op, Padding2d, Softmax,
};

pub(super) const OPERATORS: &[Known] = &[
    known("AVERAGE_POOL_2D", 3, [1, 1], ONE_F_I_U_W, average_pool_2d),
    known("CONV_2D", 8, [2, 3], WITH_WEIGHTS, conv_2d),
    known("DEPTHWISE_CONV_2D", 7, [2, 3], WITH_WEIGHTS, depthwise_conv_2d),
    known("FULLY_CONNECTED", 14, [2, 3], WITH_WEIGHTS, fully_connected),
    known("MAX_POOL_2D", 3, [1, 1], ONE_F_I_U_W, max_pool_2d),
    known("SOFTMAX", 3, [1, 1], SOFTMAX, softmax),
];

/// Cells from one window to the next: down, right.
pub(super) fn stride(options: &Options<'_>, [height, width]: [usize; 2]) -> Result<[usize; 2], OpError> {
    Ok([options.count(height, 0, "stride_h")?, options.count(width, 0, "stride_w")?])
}

/// Cells from one weight of a filter to the next: down, right.
fn dilation(options: &Options<'_>, [height, width]: [usize; 2]) -> Result<[usize; 2], OpError> {
    Ok([options.count(height, 1, "dilation_h_factor")?, options.count(width, 1, "dilation_w_factor")?])
}

fn conv_2d(node: &Node<'_>) -> Result<Op, OpError> {
    const PADDING: usize = 0;
    const STRIDE_W: usize = 1;
    const STRIDE_H: usize = 2;
    const ACTIVATION: usize = 3;
    const DILATION_W: usize = 4;
    const DILATION_H: usize = 5;
    const BIAS_TYPE: usize = 6;
    let options = node.options(kind(1, "Conv2DOptions", 7))?;
    bias_type(&options, BIAS_TYPE)?;
    let op = Conv2d {
        stride: stride(&options, [STRIDE_H, STRIDE_W])?,
        dilation: dilation(&options, [DILATION_H, DILATION_W])?,
        padding: options.padding(PADDING)?,
        activation: options.activation(ACTIVATION)?,
    };
    Ok(op.into())
}

fn depthwise_conv_2d(node: &Node<'_>) -> Result<Op, OpError> {
    const PADDING: usize = 0;
    const STRIDE_W: usize = 1;
    const STRIDE_H: usize = 2;
    const DEPTH_MULTIPLIER: usize = 3;
    const ACTIVATION: usize = 4;
    const DILATION_W: usize = 5;
    const DILATION_H: usize = 6;
    let options = node.options(kind(2, "DepthwiseConv2DOptions", 7))?;
    // The shapes say it already; 0 leaves it to them.
    let multiplier = options.i32(DEPTH_MULTIPLIER)?;
    let (x, weights) = (node.shape(0)?, node.shape(1)?);
    let ([.., channels], [.., out]) = (x.array::<4>()?, weights.array::<4>()?);
    if multiplier != 0 && usize::try_from(multiplier).ok().and_then(|m| m.checked_mul(channels)) != Some(out)
    {
        let message = format!("depth_multiplier is {multiplier}, {channels} channels become {out}");
        return Err(message.into());
    }
    let op = DepthwiseConv2d {
        stride: stride(&options, [STRIDE_H, STRIDE_W])?,
        dilation: dilation(&options, [DILATION_H, DILATION_W])?,
        padding: options.padding(PADDING)?,
        activation: options.activation(ACTIVATION)?,
    };
    Ok(op.into())
}

fn fully_connected(node: &Node<'_>) -> Result<Op, OpError> {
    const ACTIVATION: usize = 0;
    const WEIGHTS_FORMAT: usize = 1;
    const KEEP_NUM_DIMS: usize = 2;
    const ASYMMETRIC_QUANTIZE_INPUTS: usize = 3;
    const BIAS_TYPE: usize = 4;
    let options = node.options(kind(8, "FullyConnectedOptions", 5))?;
    options.only(WEIGHTS_FORMAT, &[0], "weights_format")?;
    bias_type(&options, BIAS_TYPE)?;
    let op = FullyConnected {
        keep_dimensions: options.flag(KEEP_NUM_DIMS)?,
        activation: options.activation(ACTIVATION)?,
        asymmetric_quantize_inputs: options.flag(ASYMMETRIC_QUANTIZE_INPUTS)?,
    };
    Ok(op.into())
}

/// The type of the bias; 0 (float32) where the file does not say.
fn bias_type(options: &Options<'_>, slot: usize) -> Result<(), OpError> {
    options.only(slot, &[names::FLOAT32, names::INT32], "quantized_bias_type")
}

mod pool {
    pub(super) const PADDING: usize = 0;
    pub(super) const STRIDE_W: usize = 1;
    pub(super) const STRIDE_H: usize = 2;
    pub(super) const FILTER_W: usize = 3;
    pub(super) const FILTER_H: usize = 4;
    pub(super) const ACTIVATION: usize = 5;
    pub(super) const OPTIONS: super::super::node::Kind = super::kind(5, "Pool2DOptions", 6);
}

/// Window, stride, padding and activation of a pool.
pub(super) fn pool_2d(node: &Node<'_>) -> Result<([usize; 2], [usize; 2], Padding2d, Activation), OpError> {
    let options = node.options(pool::OPTIONS)?;
    let window = [
        options.count(pool::FILTER_H, 0, "filter_height")?,
        options.count(pool::FILTER_W, 0, "filter_width")?,
    ];
    let stride = stride(&options, [pool::STRIDE_H, pool::STRIDE_W])?;
    Ok((window, stride, options.padding(pool::PADDING)?, options.activation(pool::ACTIVATION)?))
}

fn average_pool_2d(node: &Node<'_>) -> Result<Op, OpError> {
    let (window, stride, padding, activation) = pool_2d(node)?;
    Ok(AveragePool2d { window, stride, padding, activation }.into())
}

fn max_pool_2d(node: &Node<'_>) -> Result<Op, OpError> {
    let (window, stride, padding, activation) = pool_2d(node)?;
    Ok(MaxPool2d { window, stride, padding, activation }.into())
}

fn softmax(node: &Node<'_>) -> Result<Op, OpError> {
    const BETA: usize = 0;
    let options = node.options(kind(9, "SoftmaxOptions", 1))?;
    let narrow = node.operands.iter().flatten().all(|x| x.dtype == I);
    let wide = narrow && node.result.dtype == W;
    Ok(Softmax { beta: options.f32(BETA)?, wide }.into())
}
