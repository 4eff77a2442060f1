//! `conv2d`: two-dimensional convolution (cross-correlation), NHWC.
//!
//! Operands: `x` `[batch, height, width, in]`, weights
//! `[out, kernel height, kernel width, in / groups]`, bias `[out]` (optional).
//! Result: `[batch, out height, out width, out]`.
//! Groups are implied: `in` divided by the weights' last extent.
//! Sources: TFLite CONV_2D; ONNX Conv.
//! int8: weights per tensor or per output channel, zero point 0; padding counts as
//! the zero point of `x` (tflite numerics, section 3).

use serde::{Deserialize, Serialize};

use super::window::{Placement2d, place};
use super::{Activation, Operands, Operator, Padding2d, one};
use crate::error::OpError;
use crate::graph::{Shape, TensorType};
use crate::program::NodeLowering;

/// Attributes of `conv2d`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Conv2d {
    /// Cells from one window to the next: down, right.
    pub stride: [usize; 2],
    /// Cells from one element of the kernel to the next: down, right.
    pub dilation: [usize; 2],
    /// Cells added around the image.
    pub padding: Padding2d,
    /// Fused activation.
    pub activation: Activation,
}

impl Default for Conv2d {
    fn default() -> Self {
        Self { stride: [1; 2], dilation: [1; 2], padding: Padding2d::Valid, activation: Activation::None }
    }
}

impl Conv2d {
    fn place(&self, x: &Shape, weights: &Shape) -> Result<Placement2d, OpError> {
        let ([_, height, width, _], [_, kernel_height, kernel_width, _]) = (x.array()?, weights.array()?);
        place([height, width], [kernel_height, kernel_width], self.stride, self.dilation, self.padding)
    }
}

impl Operator for Conv2d {
    const NAME: &'static str = "conv2d";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(2..=3)?;
        let (x, weights) = (operands.get(0)?, operands.get(1)?);
        let ([batch, _, _, channels], [out, _, _, group]) = (x.ty.shape.array()?, weights.ty.shape.array()?);
        if !channels.is_multiple_of(group) || !out.is_multiple_of(channels / group) {
            return Err(format!("{channels} channels and weights {} make no equal groups", weights.ty).into());
        }
        let [height, width] = self.place(&x.ty.shape, &weights.ty.shape)?.output;
        one(x.ty.dtype, [batch, height, width, out])
    }

    fn lower(&self, _node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        Err("is not lowered yet".into())
    }
}
