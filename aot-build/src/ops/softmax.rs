//! `softmax`: `exp(beta * x)`, divided by its sum, over the last axis.
//!
//! Operand: `x`. Result: the same shape.
//! Sources: TFLite SOFTMAX; ONNX Softmax over the last axis.
//! int8: fixed-point exponential and reciprocal; the result has scale 1/256 and zero
//! point -128, or 1/65536 and -32768 in int16 (tflite numerics, section 4). int16:
//! exponentials and reciprocals are interpolated; the result has scale 1/32768 and zero
//! point 0.

use aot_rt::DType;
use aot_rt::fixed_point::Multiplier;
use aot_rt::kernels::{Kernel, SoftmaxF32, SoftmaxI8, SoftmaxI16};
use serde::{Deserialize, Serialize};

use super::{Operands, Operator, no_kernel, one, quantized, tables_i16};
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
    /// The result of an int8 `x` is int16.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub wide: bool,
}

impl Default for Softmax {
    fn default() -> Self {
        Self { beta: 1.0, wide: false }
    }
}

/// Most elements of an int16 row: the sum of their exponentials, each less than 2^15, has
/// 31 bits.
const MAX_COLUMNS_I16: usize = (1 << 16) - 1;

impl Softmax {
    fn params_i8(&self, x: &Tensor, [rows, columns]: [usize; 2]) -> Result<SoftmaxI8, OpError> {
        check_columns_i8(columns)?;
        let scale = quantized::tensor_wide(x)?.scale;
        SoftmaxI8::new(rows, columns, self.beta, scale)
            .ok_or_else(|| format!("beta {} times scale {scale} is outside 2^-26..16", self.beta).into())
    }

    fn params_i16(
        &self,
        node: &NodeLowering<'_, '_>,
        [rows, columns]: [usize; 2],
    ) -> Result<SoftmaxI16, OpError> {
        check_columns(columns, "int16", MAX_COLUMNS_I16)?;
        let scale = quantized::symmetric(node.input(0)?)?.scale;
        // -10 to 0 are 2^16 steps.
        let factor = f64::from(scale) * f64::from(self.beta) / (10.0 / 65_535.0);
        let Multiplier { multiplier, shift } = quantized::multiplier(factor)?;
        quantized::check_sum(1, 65_535, shift)?;
        Ok(SoftmaxI16 { rows, columns, multiplier, shift, single_rounding: node.single_rounding() })
    }
}

/// Refuses int8 rows that are too long.
///
/// # Errors
///
/// When they are.
pub(super) fn check_columns_i8(columns: usize) -> Result<(), OpError> {
    check_columns(columns, "int8", MAX_COLUMNS_I8)
}

/// Refuses a wide result whose scale and zero point are not the ones that the arithmetic
/// gives; the scale may, as in the reference, take 1 for 65535.
fn check_wide(y: &Tensor) -> Result<(), OpError> {
    let found = quantized::tensor_wide(y)?;
    if found.zero_point == -32_768 && (found.scale * 65_536.0 - 1.0).abs() <= 0.001 {
        return Ok(());
    }
    quantized::check_fixed(y, 1.0 / 65_536.0, -32_768)
}

fn check_columns(columns: usize, dtype: &str, limit: usize) -> Result<(), OpError> {
    if columns <= limit {
        return Ok(());
    }
    Err(format!("rows of {columns} are too long for {dtype}, the limit is {limit}").into())
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
        let dtype = match (self.wide, x.ty.dtype) {
            (false, dtype) => dtype,
            (true, DType::I8) => DType::I16,
            (true, dtype) => return Err(no_kernel(&[dtype, DType::I16])),
        };
        one(dtype, x.ty.shape.clone())
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, y) = (node.input(0)?, node.output(0));
        let columns = x.ty.shape.last().copied().unwrap_or(1);
        let rows = x.ty.shape.elements() / columns;
        let mut operands = vec![node.read(0)?, node.write(0)];
        let kernel = match (x.ty.dtype, y.ty.dtype) {
            (DType::F32, DType::F32) => Kernel::SoftmaxF32(SoftmaxF32 { rows, columns, beta: self.beta }),
            (DType::I8, DType::I8) => {
                quantized::check_fixed(y, 1.0 / 256.0, -128)?;
                Kernel::SoftmaxI8(self.params_i8(x, [rows, columns])?)
            }
            (DType::I8, DType::I16) => {
                check_wide(y)?;
                Kernel::SoftmaxI8I16(self.params_i8(x, [rows, columns])?)
            }
            (DType::I16, DType::I16) => {
                quantized::check_fixed(y, 1.0 / 32_768.0, 0)?;
                operands.extend(tables_i16::softmax(node));
                Kernel::SoftmaxI16(self.params_i16(node, [rows, columns])?)
            }
            (x, y) => return Err(no_kernel(&[x, y])),
        };
        node.step(kernel, operands, 0, format!("{rows}×{columns}"));
        Ok(())
    }
}
