//! `depthwise_conv2d`: a convolution of each channel by itself, NHWC.
//!
//! Operands: `x` `[batch, height, width, in]`, weights
//! `[1, kernel height, kernel width, out]`, bias `[out]` (optional); `out` is a
//! multiple of `in`, and result channel `c` reads channel `c / (out / in)`.
//! Result: `[batch, out height, out width, out]`.
//! Sources: TFLite DEPTHWISE_CONV_2D; ONNX Conv with as many groups as channels.
//! int8: as `conv2d`, with scales along axis 3. Dynamic range (float `x`, int8 weights): a
//! scale for each channel; the image is quantized with a zero point when it is there.

use aot_rt::kernels::{
    DepthwiseConv2dAsymmetricI8, DepthwiseConv2dDynamicI8, DepthwiseConv2dF32, DepthwiseConv2dI8,
    DepthwiseConv2dI16, Kernel, Window2d,
};
use serde::{Deserialize, Serialize};

use super::weighted::{self, Arithmetic};
use super::window::{describe, window};
use super::{Activation, Operands, Operator, Padding2d, one, quantized};
use crate::error::OpError;
use crate::graph::{Shape, Tensor, TensorType};
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
    fn window(&self, x: &Shape, weights: &Shape) -> Result<Window2d, OpError> {
        let [_, height, width, _] = weights.array()?;
        window(x, [height, width], self.stride, self.dilation, self.padding)
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
        let [height, width] = self.window(&x.ty.shape, &weights.ty.shape)?.output;
        one(x.ty.dtype, [batch, height, width, out])
    }

    fn activation_mut(&mut self) -> Option<&mut Activation> {
        Some(&mut self.activation)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, weights, y) = (node.input(0)?, node.input(1)?, node.output(0));
        let window = self.window(&x.ty.shape, &weights.ty.shape)?;
        let ([_, _, _, in_channels], [_, height, width, out_channels]) =
            (x.ty.shape.array()?, weights.ty.shape.array()?);
        let depth_multiplier = out_channels / in_channels;
        let (kernel, operands) = match Arithmetic::of(x, weights, y)? {
            Arithmetic::F32 => {
                let range = self.activation.range_f32();
                let params = DepthwiseConv2dF32 { window, in_channels, depth_multiplier, range };
                (Kernel::DepthwiseConv2dF32(params), weighted::operands_f32(node, out_channels)?)
            }
            Arithmetic::F16 => {
                let range = self.activation.range_f32();
                let params = DepthwiseConv2dF32 { window, in_channels, depth_multiplier, range };
                (Kernel::DepthwiseConv2dF16(params), weighted::operands_f32(node, out_channels)?)
            }
            Arithmetic::Dynamic => {
                weighted::check_single_image(x)?;
                check_scales(weights, out_channels)?;
                let range = self.activation.range_f32();
                let params = DepthwiseConv2dDynamicI8 { window, in_channels, depth_multiplier, range };
                (Kernel::DepthwiseConv2dDynamicI8(params), weighted::dynamic_operands(node, 3, 1, true)?)
            }
            Arithmetic::I16 => {
                let (factors, _) = weighted::factors(node, 3)?;
                let range = self.activation.range_i16(quantized::tensor_wide(y)?);
                let params = DepthwiseConv2dI16 { window, in_channels, depth_multiplier, range };
                (Kernel::DepthwiseConv2dI16(params), weighted::operands_i16(node, 3, &factors)?)
            }
            Arithmetic::I8 => {
                let (factors, weights_zero_point) = weighted::factors(node, 3)?;
                let input_zero_point = quantized::tensor_wide(x)?.zero_point;
                let output = self.activation.output_i8(quantized::tensor_wide(y)?, node.single_rounding());
                let kernel = if weights_zero_point == 0 {
                    Kernel::DepthwiseConv2dI8(DepthwiseConv2dI8 {
                        window,
                        in_channels,
                        depth_multiplier,
                        input_zero_point,
                        output,
                    })
                } else {
                    Kernel::DepthwiseConv2dAsymmetricI8(DepthwiseConv2dAsymmetricI8 {
                        window,
                        in_channels,
                        depth_multiplier,
                        input_zero_point,
                        weights_zero_point,
                        output,
                    })
                };
                (kernel, weighted::operands_i8(node, 3, &factors)?)
            }
        };
        let macs = y.ty.shape.elements() as u64 * (height * width) as u64;
        let (window, activation) = (describe(&window), self.activation);
        let channels = match depth_multiplier {
            1 => format!("{in_channels} channels"),
            _ => format!("{in_channels} → {out_channels}"),
        };
        node.step(kernel, operands, macs, format!("{window}, {channels}{activation}"));
        Ok(())
    }
}

/// With float `x` the reference reads a scale for each channel, whether or not it is there.
fn check_scales(weights: &Tensor, channels: usize) -> Result<(), OpError> {
    let scales = quantized::weight_scales(weights, 3)?.len();
    if scales == channels {
        return Ok(());
    }
    let message = format!("weights `{}` have {scales} scale for {channels} channels", weights.name);
    Err(OpError::from(message).help("dynamic-range quantization takes a scale for each channel here"))
}
