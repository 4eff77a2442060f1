//! `relu`: limits every element to the range of an activation.
//!
//! Operand: `x`. Result: the same shape.
//! Sources: TFLite RELU, RELU6, RELU_N1_TO_1; ONNX Relu, Clip.
//! int8: a table of 256 results, rescaled where the scales differ; int16: rescaled.

use aot_rt::DType;
use aot_rt::kernels::{ClampF32, Kernel};
use serde::{Deserialize, Serialize};

use super::{Activation, Operands, Operator, no_kernel, quantize, quantized, same};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `relu`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Relu {
    /// The range.
    pub activation: Activation,
}

impl Default for Relu {
    fn default() -> Self {
        Self { activation: Activation::Relu }
    }
}

impl Operator for Relu {
    const NAME: &'static str = "relu";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        same(operands)
    }

    fn activation_mut(&mut self) -> Option<&mut Activation> {
        Some(&mut self.activation)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, y) = (node.input(0)?, node.output(0));
        let len = x.ty.shape.elements();
        let range = self.activation.range_f32();
        match (x.ty.dtype, y.ty.dtype) {
            (DType::F32, DType::F32) => {
                let operands = vec![node.read(0)?, node.write(0)];
                let description = format!("{len} elements{}", self.activation);
                node.step(Kernel::ClampF32(ClampF32 { len, range }), operands, 0, description);
                Ok(())
            }
            (DType::I8, DType::I8) => quantized::rescale(node, range),
            (DType::I16, DType::I16) => {
                let kernel = Kernel::RescaleI16I16(quantize::scaling(node, self.activation)?);
                let operands = vec![node.read(0)?, node.write(0)];
                node.step(kernel, operands, 0, format!("{len} elements{}", self.activation));
                Ok(())
            }
            (x, y) => Err(no_kernel(&[x, y])),
        }
    }
}
