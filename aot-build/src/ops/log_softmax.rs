//! `log_softmax`: logarithms of the softmax over the last axis.
//!
//! Operand: `x`. Result: the same shape.
//! Sources: TFLite LOG_SOFTMAX; ONNX LogSoftmax over the last axis.
//! int8: fixed-point exponential and logarithm; the result has scale 1/16 and zero point
//! 127.

use aot_rt::DType;
use aot_rt::kernels::{Kernel, LogSoftmaxF32, LogSoftmaxI8};
use serde::{Deserialize, Serialize};

use super::{Operands, Operator, axis, no_kernel, quantized, same, softmax};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `log_softmax`: none.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LogSoftmax {}

impl Operator for LogSoftmax {
    const NAME: &'static str = "log_softmax";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        axis::rows(operands.get(0)?)?;
        same(operands)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, y) = (node.input(0)?, node.output(0));
        let [rows, columns] = axis::rows(x)?;
        let kernel = match x.ty.dtype {
            DType::F32 => Kernel::LogSoftmaxF32(LogSoftmaxF32 { rows, columns }),
            DType::I8 => {
                quantized::check_fixed(y, 1.0 / 16.0, 127)?;
                softmax::check_columns_i8(columns)?;
                let scale = quantized::tensor_wide(x)?.scale;
                let params = LogSoftmaxI8::new(rows, columns, scale);
                Kernel::LogSoftmaxI8(params.ok_or_else(|| format!("scale {scale} is outside 2^-26..16"))?)
            }
            dtype => return Err(no_kernel(&[dtype; 2])),
        };
        let operands = vec![node.read(0)?, node.write(0)];
        node.step(kernel, operands, 0, format!("{rows}×{columns}"));
        Ok(())
    }
}
