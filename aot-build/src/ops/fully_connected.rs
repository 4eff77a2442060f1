//! `fully_connected`: every row of `x` times the transposed weights, plus bias.
//!
//! Operands: `x` `[.., inputs]`, weights `[outputs, inputs]`, bias `[outputs]`
//! (optional). Result: `[rows, outputs]`, or `[.., outputs]` with
//! `keep_dimensions`.
//! Sources: TFLite FULLY_CONNECTED; ONNX Gemm, MatMul.
//! int8: `(x - zero) * (w - zero)` summed in 32 bits; the factor of a single weight
//! scale is rounded to single precision first (tflite numerics, section 1). Dynamic range
//! (float `x`, int8 weights): each row is quantized when it is there.

use aot_rt::kernels::{FullyConnectedF32, FullyConnectedI8, FullyConnectedI16, Kernel};
use serde::{Deserialize, Serialize};

use super::weighted::{self, Arithmetic};
use super::{Activation, Operands, Operator, one, quantized};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `fully_connected`.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct FullyConnected {
    /// Keep the leading extents of `x` instead of merging them into one.
    pub keep_dimensions: bool,
    /// Fused activation.
    pub activation: Activation,
    /// Dynamic range (float `x`, int8 weights): quantize the rows of `x` with zero points.
    /// Has no effect on other types.
    pub asymmetric_quantize_inputs: bool,
}

impl Operator for FullyConnected {
    const NAME: &'static str = "fully_connected";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(2..=3)?;
        let (x, weights) = (operands.get(0)?, operands.get(1)?);
        let [outputs, inputs] = weights.ty.shape.array()?;
        if !x.ty.shape.elements().is_multiple_of(inputs) {
            return Err(format!("`{}` is {}, which has no rows of {inputs}", x.name, x.ty).into());
        }
        let mut shape = if self.keep_dimensions {
            if x.ty.shape.last() != Some(&inputs) {
                return Err(format!("the last extent of `{}`, {}, is not {inputs}", x.name, x.ty).into());
            }
            x.ty.shape[..x.ty.shape.len() - 1].to_vec()
        } else {
            vec![x.ty.shape.elements() / inputs]
        };
        shape.push(outputs);
        one(x.ty.dtype, shape)
    }

    fn activation_mut(&mut self) -> Option<&mut Activation> {
        Some(&mut self.activation)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, weights, y) = (node.input(0)?, node.input(1)?, node.output(0));
        let [outputs, inputs] = weights.ty.shape.array()?;
        let batch = x.ty.shape.elements() / inputs;
        let macs = (batch * inputs) as u64 * outputs as u64;
        let (kernel, operands) = match Arithmetic::of(x, weights, y)? {
            Arithmetic::F32 => {
                let params = FullyConnectedF32 { batch, inputs, outputs, range: self.activation.range_f32() };
                (Kernel::FullyConnectedF32(params), weighted::packed_operands_f32(node, outputs, 1)?)
            }
            Arithmetic::F16 => {
                let params = FullyConnectedF32 { batch, inputs, outputs, range: self.activation.range_f32() };
                (Kernel::FullyConnectedF16(params), weighted::packed_operands_f32(node, outputs, 1)?)
            }
            Arithmetic::Dynamic => {
                let asymmetric = self.asymmetric_quantize_inputs;
                let params = FullyConnectedF32 { batch, inputs, outputs, range: self.activation.range_f32() };
                (
                    Kernel::FullyConnectedDynamicI8(params),
                    weighted::dynamic_operands(node, 0, batch, asymmetric)?,
                )
            }
            Arithmetic::I16 => {
                let output = quantized::tensor_wide(y)?;
                let (factors, weights_zero_point) = factors(node)?;
                if weights_zero_point != 0 {
                    return Err(format!("weights `{}` have a zero point other than 0", weights.name).into());
                }
                let range = self.activation.range_i16(output);
                let params = FullyConnectedI16 { batch, inputs, outputs, range };
                (Kernel::FullyConnectedI16(params), weighted::operands_i16(node, 0, &factors)?)
            }
            Arithmetic::I8 => {
                let (input, output) = (quantized::tensor_wide(x)?, quantized::tensor_wide(y)?);
                let (factors, weights_zero_point) = factors(node)?;
                let params = FullyConnectedI8 {
                    batch,
                    inputs,
                    outputs,
                    input_zero_point: input.zero_point,
                    weights_zero_point,
                    output: self.activation.output_i8(output, node.single_rounding()),
                };
                match weighted::four_bits(node)? {
                    Some(weights) => {
                        let operands = weighted::operands_i8_with(node, 0, &factors, weights)?;
                        (Kernel::FullyConnectedI4(params), operands)
                    }
                    None => (Kernel::FullyConnectedI8(params), weighted::operands_i8(node, 0, &factors)?),
                }
            }
        };
        let description = format!("{inputs} → {outputs}{}", self.activation);
        node.step(kernel, operands, macs, description);
        Ok(())
    }
}

/// The factors of the accumulators, and the zero point of the weights: one scale of the
/// weights is multiplied in single precision.
fn factors(node: &NodeLowering<'_, '_>) -> Result<(Vec<f64>, i32), OpError> {
    let (input, output) = (quantized::tensor_wide(node.input(0)?)?, quantized::tensor_wide(node.output(0))?);
    match quantized::tensor_wide(node.input(1)?) {
        Ok(weights) => {
            let product = f64::from(input.scale * weights.scale);
            Ok((vec![product / f64::from(output.scale)], weights.zero_point))
        }
        Err(_) => weighted::factors(node, 0),
    }
}
