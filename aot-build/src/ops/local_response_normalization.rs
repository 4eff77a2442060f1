//! `local_response_normalization`: elements divided by a power of the squares of those
//! around them along the last axis.
//!
//! Operand: `x`. Result: the same shape, `x / (bias + alpha * sum)^beta`.
//! Sources: TFLite LOCAL_RESPONSE_NORMALIZATION, as TensorFlow defines it (LiteRT's
//! reference kernel leaves the last element out of each sum); ONNX LRN.

use aot_rt::DType;
use aot_rt::kernels::{Kernel, LocalResponseNormalizationF32};
use serde::{Deserialize, Serialize};

use super::{Operands, Operator, axis, no_kernel, same};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `local_response_normalization`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LocalResponseNormalization {
    /// Elements on either side whose squares count.
    pub radius: usize,
    /// Added to the sum of the squares.
    pub bias: f32,
    /// Factor of the sum of the squares.
    pub alpha: f32,
    /// The power.
    pub beta: f32,
}

impl Operator for LocalResponseNormalization {
    const NAME: &'static str = "local_response_normalization";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        axis::rows(operands.get(0)?)?;
        for (name, value) in [("bias", self.bias), ("alpha", self.alpha), ("beta", self.beta)] {
            if !value.is_finite() {
                return Err(format!("{name} is {value}, expected a finite number").into());
            }
        }
        same(operands)
    }

    fn cells(&self) -> u64 {
        (self.radius as u64).saturating_mul(2).saturating_add(1)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let x = node.input(0)?;
        let [rows, columns] = axis::rows(x)?;
        if x.ty.dtype != DType::F32 {
            return Err(no_kernel(&[x.ty.dtype; 2]));
        }
        let &Self { radius, bias, alpha, beta } = self;
        // Further ones are not there.
        let radius = radius.min(columns);
        let params = LocalResponseNormalizationF32 { rows, columns, radius, bias, alpha, beta };
        let operands = vec![node.read(0)?, node.write(0)];
        let description = format!("{rows}×{columns}, radius {radius}");
        node.step(Kernel::LocalResponseNormalizationF32(params), operands, 0, description);
        Ok(())
    }
}
