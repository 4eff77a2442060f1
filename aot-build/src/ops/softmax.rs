//! `softmax`: `exp(beta * x)`, divided by its sum, over the last axis.
//!
//! Operand: `x`. Result: the same shape.
//! Sources: TFLite SOFTMAX; ONNX Softmax over the last axis.
//! int8: fixed-point exponential and reciprocal; the result has scale 1/256 and zero
//! point -128 (tflite numerics, section 4), or 1/65536 and -32768.

use aot_rt::DType;
use aot_rt::kernels::{Kernel, SoftmaxF32, SoftmaxI8};
use serde::{Deserialize, Serialize};

use super::{Operands, Operator, no_kernel, one, quantized};
use crate::error::OpError;
use crate::graph::{Tensor, TensorType};
use crate::program::NodeLowering;

/// Most elements of an int8 row: the sum of their exponentials, each at most 1, has 12
/// integer bits.
const MAX_COLUMNS_I8: usize = (1 << 12) - 1;

/// Attributes of `softmax`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Softmax {
    /// Factor of the exponent; positive.
    pub beta: f32,
    /// The result of int8 is int16.
    pub wide: bool,
}

impl Default for Softmax {
    fn default() -> Self {
        Self { beta: 1.0, wide: false }
    }
}

impl Operator for Softmax {
    const NAME: &'static str = "softmax";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = operands.get(0)?;
        if !(self.beta.is_normal() && self.beta > 0.0) {
            return Err(format!("beta {} is not a positive normal number", self.beta).into());
        }
        if x.ty.shape.is_empty() {
            return Err(format!("`{}` has no axis to sum over", x.name).into());
        }
        match (x.ty.dtype, self.wide) {
            (dtype, false) => one(dtype, x.ty.shape.clone()),
            (DType::I8, true) => one(DType::I16, x.ty.shape.clone()),
            (dtype, true) => Err(format!("a wide result is for i8, `{}` is {}", x.name, dtype.name()).into()),
        }
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, y) = (node.input(0)?, node.output(0));
        let columns = x.ty.shape.last().copied().unwrap_or(1);
        let rows = x.ty.shape.elements() / columns;
        let kernel = match (x.ty.dtype, y.ty.dtype) {
            (DType::F32, DType::F32) => Kernel::SoftmaxF32(SoftmaxF32 { rows, columns, beta: self.beta }),
            (DType::I8, DType::I8 | DType::I16) => {
                check_result(y)?;
                if columns > MAX_COLUMNS_I8 {
                    let message =
                        format!("rows of {columns} are too long for int8, the limit is {MAX_COLUMNS_I8}");
                    return Err(message.into());
                }
                let scale = quantized::tensor_wide(x)?.scale;
                let params = SoftmaxI8::new(rows, columns, self.beta, scale)
                    .ok_or_else(|| format!("beta {} times scale {scale} is outside 2^-26..16", self.beta))?;
                if self.wide { Kernel::SoftmaxI8I16(params) } else { Kernel::SoftmaxI8(params) }
            }
            (x, y) => return Err(no_kernel(&[x, y])),
        };
        let operands = vec![node.read(0)?, node.write(0)];
        node.step(kernel, operands, 0, format!("{rows}×{columns}"));
        Ok(())
    }
}

/// Refuses a result whose scale and zero point are not the ones that the arithmetic gives;
/// int16 may, as in the reference, take 1 for 65535.
fn check_result(y: &Tensor) -> Result<(), OpError> {
    let found = quantized::tensor_wide(y)?;
    match y.ty.dtype {
        DType::I16 if found.zero_point == -32_768 && (found.scale * 65_536.0 - 1.0).abs() <= 0.001 => Ok(()),
        DType::I16 => quantized::check_fixed(y, 1.0 / 65_536.0, -32_768),
        _ => quantized::check_fixed(y, 1.0 / 256.0, -128),
    }
}
