//! `leaky_relu`: `x`, and `alpha * x` where it is negative.
//!
//! Operand: `x`. Result: the same shape.
//! Sources: TFLite LEAKY_RELU; ONNX LeakyRelu.
//! int8: a table; int16: a factor for either sign (tflite numerics, section 3).

use aot_rt::DType;
use aot_rt::kernels::{Kernel, LeakyReluF32, LeakyReluI16};
use serde::{Deserialize, Serialize};

use super::{Operands, Operator, no_kernel, one, quantized, tables};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `leaky_relu`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LeakyRelu {
    /// Factor of negative elements; a finite number.
    pub alpha: f32,
}

impl LeakyRelu {
    fn kernel_i16(&self, node: &NodeLowering<'_, '_>, len: usize) -> Result<Kernel, OpError> {
        let (x, y) = (quantized::symmetric(node.input(0)?)?, quantized::symmetric(node.output(0))?);
        let [positive, negative] = tables::leaky_relu_factors(x, y, self.alpha, 32_768)?;
        let sign = if self.alpha < 0.0 { -1 } else { 1 };
        Ok(Kernel::LeakyReluI16(LeakyReluI16 {
            len,
            multiplier: positive.multiplier,
            shift: positive.shift,
            alpha_multiplier: sign * negative.multiplier,
            alpha_shift: negative.shift,
            single_rounding: node.single_rounding(),
        }))
    }
}

impl Operator for LeakyRelu {
    const NAME: &'static str = "leaky_relu";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        if !self.alpha.is_finite() {
            return Err(format!("alpha {} is not a finite number", self.alpha).into());
        }
        let x = operands.get(0)?;
        one(x.ty.dtype, x.ty.shape.clone())
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, y) = (node.input(0)?, node.output(0));
        let len = x.ty.shape.elements();
        let kernel = match (x.ty.dtype, y.ty.dtype) {
            (DType::F32, DType::F32) => Kernel::LeakyReluF32(LeakyReluF32 { len, alpha: self.alpha }),
            (DType::I16, DType::I16) => self.kernel_i16(node, len)?,
            (DType::I8, DType::I8) => {
                let (x, y) = (quantized::tensor_wide(x)?, quantized::tensor_wide(y)?);
                let table = tables::leaky_relu(x, y, self.alpha, quantized::rounding(node))?;
                return quantized::lookup(node, table);
            }
            (x, y) => return Err(no_kernel(&[x, y])),
        };
        let operands = vec![node.read(0)?, node.write(0)];
        node.step(kernel, operands, 0, format!("{len} elements, alpha {}", self.alpha));
        Ok(())
    }
}
