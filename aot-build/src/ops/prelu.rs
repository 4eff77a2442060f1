//! `prelu`: `x`, and `alpha * x` where it is negative, with a factor for each channel or
//! element; its extents of 1 are repeated.
//!
//! Operands: `x`, `alpha`. Result: the shape of `x`.
//! Sources: TFLite PRELU; ONNX PRelu.
//! int8, int16: a factor for either sign (tflite numerics, section 3).

use aot_rt::DType;
use aot_rt::kernels::{BinaryF32, Broadcast, Kernel, PreluI8};
use serde::{Deserialize, Serialize};

use super::{Activation, Operands, Operator, broadcast, no_kernel, one, quantized};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `prelu`: none.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Prelu {}

impl Prelu {
    /// How int8 or int16 are scaled.
    fn quantized(node: &NodeLowering<'_, '_>, broadcast: Broadcast) -> Result<PreluI8, OpError> {
        let tensors = [node.input(0)?, node.input(1)?, node.output(0)];
        let wide = tensors[2].ty.dtype == DType::I16;
        let quantization = if wide { quantized::symmetric } else { quantized::tensor_wide };
        let [x, alpha, y] = [quantization(tensors[0])?, quantization(tensors[1])?, quantization(tensors[2])?];
        let largest = if wide { 1 << 15 } else { 255 };
        let [x_scale, alpha_scale, y_scale] = [x.scale, alpha.scale, y.scale].map(f64::from);
        let positive = quantized::multiplier(x_scale / y_scale)?;
        let negative = quantized::multiplier(x_scale * alpha_scale / y_scale)?;
        quantized::check_sum(1, largest, positive.shift)?;
        quantized::check_sum(1, largest * largest, negative.shift)?;
        Ok(PreluI8 {
            broadcast,
            zero_point: x.zero_point,
            alpha_zero_point: alpha.zero_point,
            multiplier: positive.multiplier,
            shift: positive.shift,
            alpha_multiplier: negative.multiplier,
            alpha_shift: negative.shift,
            output: quantized::output(node, Activation::None)?,
        })
    }
}

impl Operator for Prelu {
    const NAME: &'static str = "prelu";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(2..=2)?;
        let (x, alpha) = (operands.get(0)?, operands.get(1)?);
        if broadcast::shape(&x.ty.shape, &alpha.ty.shape)? != *x.ty.shape {
            return Err(format!("alpha {} is larger than {}", alpha.ty.shape, x.ty.shape).into());
        }
        one(x.ty.dtype, x.ty.shape.clone())
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, alpha, y) = (node.input(0)?, node.input(1)?, node.output(0));
        let broadcast = broadcast::loops(&x.ty.shape, &alpha.ty.shape)?;
        let kernel = match (x.ty.dtype, alpha.ty.dtype, y.ty.dtype) {
            (DType::F32, DType::F32, DType::F32) => {
                Kernel::PreluF32(BinaryF32 { broadcast, range: Activation::None.range_f32() })
            }
            (DType::I8, DType::I8, DType::I8) => Kernel::PreluI8(Self::quantized(node, broadcast)?),
            (DType::I16, DType::I16, DType::I16) => Kernel::PreluI16(Self::quantized(node, broadcast)?),
            (x, alpha, y) => return Err(no_kernel(&[x, alpha, y])),
        };
        let operands = vec![node.read(0)?, node.write(0), node.read(1)?];
        node.step(kernel, operands, 0, broadcast::description(&x.ty.shape, "by", &alpha.ty.shape));
        Ok(())
    }
}
