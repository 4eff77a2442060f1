//! `transpose_conv2d`: the transpose of a convolution, NHWC: every cell of `x` times a window
//! of weights, summed where the windows overlap.
//!
//! Operands: `x` `[batch, height, width, in]`, weights
//! `[out, kernel height, kernel width, in]`, bias `[out]` (optional).
//! Result: `[batch, out height, out width, out]`, which a convolution of this stride and
//! padding takes to the extents of `x`; there may be several such extents, so they are stated.
//! Sources: TFLite TRANSPOSE_CONV; ONNX ConvTranspose.
//! int8: weights per tensor or per output channel, zero point 0; summed in 32 bits, with
//! int16 activations in 64 (tflite numerics, section 3).

use aot_rt::kernels::{
    Kernel, TransposeConv2dF32, TransposeConv2dI8, TransposeConv2dI16, Window2d, packed_filters,
    transposed_filters,
};
use serde::{Deserialize, Serialize};

use super::weighted::{self, Arithmetic};
use super::window::{describe, window};
use super::{Activation, Operands, Operator, Padding2d, no_kernel, one, quantized};
use crate::error::OpError;
use crate::graph::{Shape, TensorType};
use crate::program::{NodeLowering, Operand};

/// Attributes of `transpose_conv2d`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TransposeConv2d {
    /// Height and width of the result.
    pub output: [usize; 2],
    /// Cells of the result from one window to the next: down, right.
    #[serde(default = "super::window::one_cell")]
    pub stride: [usize; 2],
    /// Cells around the result that windows reach into and that are cut off.
    #[serde(default)]
    pub padding: Padding2d,
    /// Fused activation.
    #[serde(default)]
    pub activation: Activation,
}

impl TransposeConv2d {
    /// The window of the convolution from `y` to `x`.
    fn window(&self, x: &Shape, weights: &Shape) -> Result<Window2d, OpError> {
        let ([batch, height, width, _], [out, kernel_h, kernel_w, _]) = (x.array()?, weights.array()?);
        let y = Shape::new([batch, self.output[0], self.output[1], out])?;
        let window = window(&y, [kernel_h, kernel_w], self.stride, [1; 2], self.padding)?;
        if window.output != [height, width] {
            let ([rows, columns], [found_rows, found_columns]) = (self.output, window.output);
            return Err(format!(
                "a result of {rows}×{columns} comes from {found_rows}×{found_columns} cells, `x` is {x}"
            )
            .into());
        }
        Ok(window)
    }
}

impl Operator for TransposeConv2d {
    const NAME: &'static str = "transpose_conv2d";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(2..=3)?;
        let (x, weights) = (operands.get(0)?, operands.get(1)?);
        let ([batch, _, _, channels], [out, _, _, depth]) = (x.ty.shape.array()?, weights.ty.shape.array()?);
        if channels != depth {
            return Err(format!("`{}` has {channels} channels, weights are {}", x.name, weights.ty).into());
        }
        let [height, width] = self.window(&x.ty.shape, &weights.ty.shape)?.input;
        one(x.ty.dtype, [batch, height, width, out])
    }

    fn activation_mut(&mut self) -> Option<&mut Activation> {
        Some(&mut self.activation)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, weights, y) = (node.input(0)?, node.input(1)?, node.output(0));
        let window = self.window(&x.ty.shape, &weights.ty.shape)?;
        let [out_channels, height, width, in_channels] = weights.ty.shape.array()?;
        let (kernel, operands) = match Arithmetic::of(x, weights, y)? {
            Arithmetic::F32 => {
                let range = self.activation.range_f32();
                let params = TransposeConv2dF32 { window, in_channels, out_channels, range };
                let weights = arranged::<4>(node, &window, true)?;
                (
                    Kernel::TransposeConv2dF32(params),
                    weighted::operands_f32_with(node, out_channels, weights)?,
                )
            }
            Arithmetic::I16 => {
                let (factors, _) = weighted::factors(node, 0)?;
                let range = self.activation.range_i16(quantized::tensor_wide(y)?);
                let params = TransposeConv2dI16 { window, in_channels, out_channels, range };
                let weights = arranged::<1>(node, &window, false)?;
                (Kernel::TransposeConv2dI16(params), weighted::operands_i16_with(node, 0, &factors, weights)?)
            }
            Arithmetic::I8 if !quantized::legacy(x) => {
                let (factors, _) = weighted::factors(node, 0)?;
                let params = TransposeConv2dI8 {
                    window,
                    in_channels,
                    out_channels,
                    input_zero_point: quantized::tensor_wide(x)?.zero_point,
                    output: self.activation.output_i8(quantized::tensor_wide(y)?, node.single_rounding()),
                };
                let weights = arranged::<1>(node, &window, false)?;
                (Kernel::TransposeConv2dI8(params), weighted::operands_i8_with(node, 0, &factors, weights)?)
            }
            Arithmetic::F16 | Arithmetic::Dynamic | Arithmetic::I8 => {
                return Err(no_kernel(&[x.ty.dtype, weights.ty.dtype, y.ty.dtype]));
            }
        };
        let macs = x.ty.shape.elements() as u64 * (height * width * out_channels) as u64;
        let description = format!("{}, {in_channels} → {out_channels}{}", describe(&window), self.activation);
        node.step(kernel, operands, macs, description);
        Ok(())
    }
}

/// The weights in the kernels' order.
fn arranged<const SIZE: usize>(
    node: &mut NodeLowering<'_, '_>,
    window: &Window2d,
    packed: bool,
) -> Result<Operand, OpError> {
    let weights = node.input(1)?;
    let [out, _, _, depth] = weights.ty.shape.array()?;
    let Some(data) = &weights.data else {
        return Err(format!("weights `{}` are not constant", weights.name).into());
    };
    let elements = data.bytes().as_chunks::<SIZE>().0;
    let mut order = Vec::with_capacity(elements.len());
    for phase in transposed_filters(window.kernel, window.stride, [depth, out]) {
        let phase: Vec<_> = phase.collect();
        if packed {
            order.extend(packed_filters(out, phase.len() / out).map(|i| phase[i]));
        } else {
            order.extend(phase);
        }
    }
    let bytes = order.into_iter().map(|i| elements[i]).collect::<Vec<_>>().into_flattened();
    Ok(node.packed(weights.ty.dtype, data.bytes(), bytes))
}
