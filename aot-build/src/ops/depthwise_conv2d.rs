//! `depthwise_conv2d`: a convolution of each channel by itself, NHWC.
//!
//! Operands: `x` `[batch, height, width, in]`, weights
//! `[1, kernel height, kernel width, out]`, bias `[out]` (optional); `out` is a
//! multiple of `in`, and result channel `c` reads channel `c / (out / in)`.
//! Result: `[batch, out height, out width, out]`.
//! Sources: TFLite DEPTHWISE_CONV_2D; ONNX Conv with as many groups as channels.
//! int8: as `conv2d`, with scales along axis 3.

use serde::{Deserialize, Serialize};

use super::window::{Placement2d, place};
use super::{Activation, Operands, Operator, Padding2d, one};
use crate::error::OpError;
use crate::graph::{Shape, TensorType};
use crate::program::NodeLowering;

/// Attributes of `depthwise_conv2d`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct DepthwiseConv2d {
    /// Cells from one window to the next: down, right.
    pub stride: [usize; 2],
    /// Cells from one element of the kernel to the next: down, right.
    pub dilation: [usize; 2],
    /// Cells added around the image.
    pub padding: Padding2d,
    /// Fused activation.
    pub activation: Activation,
}

impl Default for DepthwiseConv2d {
    fn default() -> Self {
        Self { stride: [1; 2], dilation: [1; 2], padding: Padding2d::Valid, activation: Activation::None }
    }
}

impl DepthwiseConv2d {
    fn place(&self, x: &Shape, weights: &Shape) -> Result<Placement2d, OpError> {
        let ([_, height, width, _], [_, kernel_height, kernel_width, _]) = (x.array()?, weights.array()?);
        place([height, width], [kernel_height, kernel_width], self.stride, self.dilation, self.padding)
    }
}

impl Operator for DepthwiseConv2d {
    const NAME: &'static str = "depthwise_conv2d";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(2..=3)?;
        let (x, weights) = (operands.get(0)?, operands.get(1)?);
        let ([batch, _, _, channels], [first, _, _, out]) = (x.ty.shape.array()?, weights.ty.shape.array()?);
        if first != 1 || !out.is_multiple_of(channels) {
            let expected = format!("[1, height, width, multiple of {channels}]");
            return Err(format!("weights `{}` are {}, expected {expected}", weights.name, weights.ty).into());
        }
        let [height, width] = self.place(&x.ty.shape, &weights.ty.shape)?.output;
        one(x.ty.dtype, [batch, height, width, out])
    }

    fn lower(&self, _node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        Err("is not lowered yet".into())
    }
}
