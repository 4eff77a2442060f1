//! `l2_normalization`: each row divided by the root of the sum of its squares.
//!
//! Operand: `x`. Result: the same shape.
//! Sources: TFLite L2_NORMALIZATION; ONNX LpNormalization along the last axis.
//! int8: a fixed-point inverse root; the result has scale 1/128 and zero point 0.

use aot_rt::DType;
use aot_rt::kernels::{Kernel, L2NormalizationF32, L2NormalizationI8};
use serde::{Deserialize, Serialize};

use super::{Operands, Operator, axis, no_kernel, quantized, same};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `l2_normalization`: none.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct L2Normalization {}

impl Operator for L2Normalization {
    const NAME: &'static str = "l2_normalization";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        axis::rows(operands.get(0)?)?;
        same(operands)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, y) = (node.input(0)?, node.output(0));
        let [rows, columns] = axis::rows(x)?;
        let kernel = match x.ty.dtype {
            DType::F32 => Kernel::L2NormalizationF32(L2NormalizationF32 { rows, columns }),
            DType::I8 => {
                quantized::check_fixed(y, 1.0 / 128.0, 0)?;
                quantized::check_sum(columns as u64, 255 * 255, 0)?;
                Kernel::L2NormalizationI8(L2NormalizationI8 {
                    rows,
                    columns,
                    input_zero_point: quantized::tensor_wide(x)?.zero_point,
                    // uint8 differences are shifted before they are scaled.
                    left: if quantized::legacy(x) { 7 } else { 0 },
                    single_rounding: node.single_rounding(),
                })
            }
            dtype => return Err(no_kernel(&[dtype; 2])),
        };
        let operands = vec![node.read(0)?, node.write(0)];
        node.step(kernel, operands, 0, format!("{rows}×{columns}"));
        Ok(())
    }
}
