//! `conv2d`: two-dimensional convolution (cross-correlation), NHWC.
//!
//! Operands: `x` `[batch, height, width, in]`, weights
//! `[out, kernel height, kernel width, in / groups]`, bias `[out]` (optional).
//! Result: `[batch, out height, out width, out]`.
//! Groups are implied: `in` divided by the weights' last extent.
//! Sources: TFLite CONV_2D; ONNX Conv.
//! int8: weights per tensor or per output channel, zero point 0; padding counts as
//! the zero point of `x` (tflite numerics, section 3). uint8: weights per tensor, with a
//! zero point. Dynamic range (float `x`, int8 weights): the image is quantized when it is
//! there, with a zero point where the weights have different scales.

use aot_rt::kernels::{Conv2dDynamicI8, Conv2dF32, Conv2dI8, Conv2dI16, Kernel, Window2d};
use serde::{Deserialize, Serialize};

use super::weighted::{self, Arithmetic};
use super::window::{describe, window};
use super::{Activation, Operands, Operator, Padding2d, one, quantized};
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
    fn window(&self, x: &Shape, weights: &Shape) -> Result<Window2d, OpError> {
        let [_, height, width, _] = weights.array()?;
        window(x, [height, width], self.stride, self.dilation, self.padding)
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
        let [height, width] = self.window(&x.ty.shape, &weights.ty.shape)?.output;
        one(x.ty.dtype, [batch, height, width, out])
    }

    fn activation_mut(&mut self) -> Option<&mut Activation> {
        Some(&mut self.activation)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, weights, y) = (node.input(0)?, node.input(1)?, node.output(0));
        let window = self.window(&x.ty.shape, &weights.ty.shape)?;
        let ([_, _, _, in_channels], [out_channels, height, width, in_group]) =
            (x.ty.shape.array()?, weights.ty.shape.array()?);
        let groups = in_channels / in_group;
        let (kernel, operands) = match Arithmetic::of(x, weights, y)? {
            Arithmetic::F32 => {
                let range = self.activation.range_f32();
                let params = Conv2dF32 { window, in_channels, out_channels, groups, range };
                (Kernel::Conv2dF32(params), weighted::packed_operands_f32(node, out_channels, groups)?)
            }
            Arithmetic::F16 => {
                let range = self.activation.range_f32();
                let params = Conv2dF32 { window, in_channels, out_channels, groups, range };
                (Kernel::Conv2dF16(params), weighted::packed_operands_f32(node, out_channels, groups)?)
            }
            Arithmetic::Dynamic => {
                weighted::check_single_image(x)?;
                // As the reference does: a zero point only where scales differ.
                let scales = quantized::weight_scales(weights, 0)?;
                let asymmetric = scales.windows(2).any(|pair| pair[0] != pair[1]);
                let range = self.activation.range_f32();
                let params = Conv2dDynamicI8 { window, in_channels, out_channels, groups, range };
                (Kernel::Conv2dDynamicI8(params), weighted::dynamic_operands(node, 0, 1, asymmetric)?)
            }
            Arithmetic::I16 => {
                let (factors, _) = weighted::factors(node, 0)?;
                let range = self.activation.range_i16(quantized::tensor_wide(y)?);
                let params = Conv2dI16 { window, in_channels, out_channels, groups, range };
                (Kernel::Conv2dI16(params), weighted::operands_i16(node, 0, &factors)?)
            }
            Arithmetic::I8 => {
                let (factors, weights_zero_point) = weighted::factors(node, 0)?;
                let params = Conv2dI8 {
                    window,
                    in_channels,
                    out_channels,
                    groups,
                    input_zero_point: quantized::tensor_wide(x)?.zero_point,
                    weights_zero_point,
                    output: self.activation.output_i8(quantized::tensor_wide(y)?, node.single_rounding()),
                };
                match weighted::four_bits(node)? {
                    Some(weights) => {
                        let operands = weighted::operands_i8_with(node, 0, &factors, weights)?;
                        (Kernel::Conv2dI4(params), operands)
                    }
                    None => (Kernel::Conv2dI8(params), weighted::operands_i8(node, 0, &factors)?),
                }
            }
        };
        let macs = y.ty.shape.elements() as u64 * (height * width * in_group) as u64;
        let (window, activation) = (describe(&window), self.activation);
        let groups = if groups == 1 { String::new() } else { format!(" in {groups} groups") };
        let description = format!("{window}, {in_channels} → {out_channels}{groups}{activation}");
        node.step(kernel, operands, macs, description);
        Ok(())
    }
}
