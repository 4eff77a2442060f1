//! `dequantize`: real numbers in single precision, from integers or from half precision.
//!
//! Operand: `x`. Result: the same shape.
//! Sources: TFLite DEQUANTIZE; ONNX DequantizeLinear.
//! int8: `scale * (q - zero_point)`. Half precision becomes single precision.

use aot_rt::kernels::{Cast, DequantizeF16F32, DequantizeI8F32, DequantizeI16F32, Kernel};
use aot_rt::{DType, Quantization};
use serde::{Deserialize, Serialize};

use super::{Operands, Operator, no_kernel, one, quantized};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `dequantize`: none.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Dequantize {}

impl Operator for Dequantize {
    const NAME: &'static str = "dequantize";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = operands.get(0)?;
        one(DType::F32, x.ty.shape.clone())
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, y) = (node.input(0)?, node.output(0));
        let len = x.ty.shape.elements();
        match (x.ty.dtype, y.ty.dtype) {
            (DType::I4 | DType::I8, DType::F32) => {
                let Quantization { scale, zero_point } = quantized::tensor_wide(x)?;
                let mut operands = vec![node.read(0)?, node.write(0)];
                if x.ty.dtype == DType::I4 {
                    let bytes = node.scratch("bytes", DType::I8, len);
                    let operands = vec![std::mem::replace(&mut operands[0], bytes), bytes];
                    node.step(Kernel::CastI4I8(Cast { len }), operands, 0, format!("{len} elements"));
                }
                let kernel = Kernel::DequantizeI8F32(DequantizeI8F32 { len, scale, zero_point });
                node.step(kernel, operands, 0, format!("{len} elements"));
                Ok(())
            }
            (DType::I16, DType::F32) => {
                let Quantization { scale, zero_point } = quantized::tensor_wide(x)?;
                let operands = vec![node.read(0)?, node.write(0)];
                let kernel = Kernel::DequantizeI16F32(DequantizeI16F32 { len, scale, zero_point });
                node.step(kernel, operands, 0, format!("{len} elements"));
                Ok(())
            }
            (DType::F16, DType::F32) => {
                let operands = vec![node.read(0)?, node.write(0)];
                let kernel = Kernel::DequantizeF16F32(DequantizeF16F32 { len });
                node.step(kernel, operands, 0, format!("{len} elements"));
                Ok(())
            }
            (x, y) => Err(no_kernel(&[x, y])),
        }
    }
}
