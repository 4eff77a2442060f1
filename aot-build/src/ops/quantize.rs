//! `quantize`: the integers that stand for real numbers, or for integers of another scale.
//!
//! Operand: `x`. Result: the same shape.
//! Sources: TFLite QUANTIZE; ONNX QuantizeLinear.
//! int8: nearest, ties away from zero; integers are rescaled (tflite numerics, section 3).

use aot_rt::kernels::{FlipSignBitI8, Kernel, QuantizeF32I8, QuantizeF32I16, Rescale};
use aot_rt::{DType, Quantization};
use serde::{Deserialize, Serialize};

use super::{Activation, Operands, Operator, no_kernel, one, quantized};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `quantize`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Quantize {
    /// Integer type of the result.
    #[serde(with = "super::dtype_name")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::export::schema::DTypeName"))]
    pub dtype: DType,
}

impl Operator for Quantize {
    const NAME: &'static str = "quantize";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = operands.get(0)?;
        one(self.dtype, x.ty.shape.clone())
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, y) = (node.input(0)?, node.output(0));
        let len = x.ty.shape.elements();
        match (x.ty.dtype, y.ty.dtype) {
            (DType::F32, DType::I8) => {
                let Quantization { scale, zero_point } = quantized::tensor_wide(y)?;
                let operands = vec![node.read(0)?, node.write(0)];
                let kernel = Kernel::QuantizeF32I8(QuantizeF32I8 { len, scale, zero_point });
                node.step(kernel, operands, 0, format!("{len} elements"));
                Ok(())
            }
            (DType::F32, DType::I16) => {
                let Quantization { scale, zero_point } = quantized::tensor_wide(y)?;
                let operands = vec![node.read(0)?, node.write(0)];
                let kernel = Kernel::QuantizeF32I16(QuantizeF32I16 { len, scale, zero_point });
                node.step(kernel, operands, 0, format!("{len} elements"));
                Ok(())
            }
            (DType::I16 | DType::I32, DType::I8 | DType::I16)
            | (DType::I16, DType::I32)
            | (DType::I8, DType::I16 | DType::I32) => rescale(node, len),
            (DType::U8, DType::I8) | (DType::I8, DType::U8) => flip_sign_bits(node, len),
            (DType::I8, DType::I8) => quantized::rescale(node, Activation::None.range_f32()),
            (x, y) => Err(no_kernel(&[x, y])),
        }
    }
}

/// From uint8 to int8, or back: a pass sees to it that all else is int8.
fn flip_sign_bits(node: &mut NodeLowering<'_, '_>, len: usize) -> Result<(), OpError> {
    let (x, y) = (node.input(0)?, node.output(0));
    let unsigned = if x.ty.dtype == DType::U8 { 128 } else { -128 };
    let (from, to) = (quantized::tensor_wide(x)?, quantized::tensor_wide(y)?);
    if (from.scale, from.zero_point - unsigned) != (to.scale, to.zero_point) {
        return Err(no_kernel(&[x.ty.dtype, y.ty.dtype]));
    }
    let operands = vec![node.read(0)?.as_bytes(), node.write(0).as_bytes()];
    let description = format!("{len} elements, {} to {}", x.ty.dtype.name(), y.ty.dtype.name());
    node.step(Kernel::FlipSignBitI8(FlipSignBitI8 { len }), operands, 0, description);
    Ok(())
}

/// Between integers of which one type is wider than int8.
fn rescale(node: &mut NodeLowering<'_, '_>, len: usize) -> Result<(), OpError> {
    let (x, y) = (node.input(0)?, node.output(0));
    if y.ty.dtype == DType::I32 {
        quantized::symmetric(y)?;
    }
    let params = scaling(node, Activation::None)?;
    let kernel = match (x.ty.dtype, y.ty.dtype) {
        (DType::I8, DType::I32) => Kernel::RescaleI8I32(params),
        (DType::I8, _) => Kernel::RescaleI8I16(params),
        (DType::I16, DType::I32) => Kernel::RescaleI16I32(params),
        (DType::I16, DType::I8) => Kernel::RescaleI16I8(params),
        (DType::I16, _) => Kernel::RescaleI16I16(params),
        (_, DType::I8) => Kernel::RescaleI32I8(params),
        _ => Kernel::RescaleI32I16(params),
    };
    let description = format!("{len} elements, {} to {}", x.ty.dtype.name(), y.ty.dtype.name());
    let operands = vec![node.read(0)?, node.write(0)];
    node.step(kernel, operands, 0, description);
    Ok(())
}

/// How the integers of `x` are brought to the scale of the result.
///
/// # Errors
///
/// When scales are missing, or too far apart.
pub(super) fn scaling(node: &NodeLowering<'_, '_>, activation: Activation) -> Result<Rescale, OpError> {
    let (x, y) = (node.input(0)?, node.output(0));
    let (from, to) = (quantized::tensor_wide(x)?, quantized::tensor_wide(y)?);
    let factor = quantized::multiplier(f64::from(from.scale) / f64::from(to.scale))?;
    let most = match x.ty.dtype {
        DType::I8 => 255,
        DType::I16 => 65_535,
        _ => i32::MAX as u64,
    };
    quantized::check_sum(1, most, factor.shift)?;
    Ok(Rescale {
        len: x.ty.shape.elements(),
        input_zero_point: from.zero_point,
        multiplier: factor.multiplier,
        shift: factor.shift,
        output: quantized::output(node, activation)?,
    })
}
