//! `softmax`: `exp(beta * x)`, divided by its sum, over the last axis.
//!
//! Operand: `x`. Result: the same shape.
//! Sources: TFLite SOFTMAX; ONNX Softmax over the last axis.
//! int8: fixed-point exponential and reciprocal; the result has scale 1/256 and zero
//! point -128 (tflite numerics, section 4).

use aot_rt::DType;
use aot_rt::kernels::{Kernel, SoftmaxF32, SoftmaxI8};
use serde::{Deserialize, Serialize};

use super::{Operands, Operator, no_kernel, one, quantized};
use crate::error::OpError;
use crate::graph::TensorType;
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
}

impl Default for Softmax {
    fn default() -> Self {
        Self { beta: 1.0 }
    }
}

/// Refuses int8 rows that are too long.
///
/// # Errors
///
/// When they are.
pub(super) fn check_columns_i8(columns: usize) -> Result<(), OpError> {
    if columns <= MAX_COLUMNS_I8 {
        return Ok(());
    }
    Err(format!("rows of {columns} are too long for int8, the limit is {MAX_COLUMNS_I8}").into())
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
        one(x.ty.dtype, x.ty.shape.clone())
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, y) = (node.input(0)?, node.output(0));
        let columns = x.ty.shape.last().copied().unwrap_or(1);
        let rows = x.ty.shape.elements() / columns;
        let kernel = match (x.ty.dtype, y.ty.dtype) {
            (DType::F32, DType::F32) => Kernel::SoftmaxF32(SoftmaxF32 { rows, columns, beta: self.beta }),
            (DType::I8, DType::I8) => {
                quantized::check_fixed(y, 1.0 / 256.0, -128)?;
                check_columns_i8(columns)?;
                let scale = quantized::tensor_wide(x)?.scale;
                let params = SoftmaxI8::new(rows, columns, self.beta, scale)
                    .ok_or_else(|| format!("beta {} times scale {scale} is outside 2^-26..16", self.beta))?;
                Kernel::SoftmaxI8(params)
            }
            (x, y) => return Err(no_kernel(&[x, y])),
        };
        let operands = vec![node.read(0)?, node.write(0)];
        node.step(kernel, operands, 0, format!("{rows}×{columns}"));
        Ok(())
    }
}
