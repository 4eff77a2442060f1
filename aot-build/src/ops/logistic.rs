//! `logistic`: `1 / (1 + exp(-x))`, element by element.
//!
//! Operand: `x`. Result: the same shape.
//! Sources: TFLite LOGISTIC; ONNX Sigmoid.
//! int8: a table of 256 results; the result has scale 1/256 and zero point -128. int16:
//! interpolated; the result has scale 1/32768 and zero point 0.

use aot_rt::DType;
use aot_rt::kernels::{Kernel, LogisticF32, logistic_table};
use serde::{Deserialize, Serialize};

use super::tables::{self, ToInteger};
use super::{Operands, Operator, no_kernel, quantized, same, tables_i16};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `logistic`: none.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Logistic {}

/// Of uint8 models: the function of real numbers, in single precision.
fn logistic(x: f64) -> f64 {
    (1.0 / (1.0 + libm::expf(-(x as f32)))).into()
}

impl Operator for Logistic {
    const NAME: &'static str = "logistic";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        same(operands)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, y) = (node.input(0)?, node.output(0));
        let len = x.ty.shape.elements();
        match (x.ty.dtype, y.ty.dtype) {
            (DType::F32, DType::F32) => {
                let operands = vec![node.read(0)?, node.write(0)];
                let kernel = Kernel::LogisticF32(LogisticF32 { len });
                node.step(kernel, operands, 0, format!("{len} elements"));
                Ok(())
            }
            (DType::I8, DType::I8) => {
                quantized::check_fixed(y, 1.0 / 256.0, -128)?;
                let input = quantized::tensor_wide(x)?;
                if quantized::legacy(x) {
                    let table =
                        tables::of_reals(input, quantized::tensor_wide(y)?, ToInteger::Nearest, logistic);
                    return quantized::lookup(node, table);
                }
                let table = logistic_table(input, quantized::rounding(node));
                let table = table.ok_or_else(|| format!("scale {} is outside 2^-27..8", input.scale))?;
                quantized::lookup(node, table)
            }
            (DType::I16, DType::I16) => {
                let params = tables_i16::logistic_factor(node, tables_i16::LOGISTIC)?;
                let operands = vec![node.read(0)?, node.write(0)];
                node.step(Kernel::LogisticI16(params), operands, 0, format!("{len} elements"));
                Ok(())
            }
            (x, y) => Err(no_kernel(&[x, y])),
        }
    }
}
