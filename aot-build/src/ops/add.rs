//! `add`: sum, element by element; extents of 1 are repeated.
//!
//! Operands: `a`, `b`. Result: the broadcast shape.
//! Sources: TFLite ADD; ONNX Add.
//! int8: both operands are brought to twice the larger scale with 20 more bits, added,
//! and brought to the result's scale (tflite numerics, section 3); int16 with 15 more bits.

use aot_rt::DType;
use aot_rt::kernels::{AddF32, AddI8, Kernel, OutputI8, RangeI16, SumI8};
use serde::{Deserialize, Serialize};

use super::{Activation, Operands, Operator, broadcast, no_kernel, one, quantized};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `add`.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Add {
    /// Fused activation.
    pub activation: Activation,
}

/// Bits that the int8 kernel adds to both operands.
const MORE_BITS: i32 = 20;
/// Bits that the int16 kernel adds.
const MORE_BITS_I16: i32 = 15;

impl Add {
    /// How elements are added, with `bits` more while they are, each at most `most` from its
    /// zero point.
    fn sum(
        &self,
        node: &NodeLowering<'_, '_>,
        [bits, most]: [i32; 2],
        output: OutputI8,
    ) -> Result<SumI8, OpError> {
        let (a, b) = (quantized::tensor_wide(node.input(0)?)?, quantized::tensor_wide(node.input(1)?)?);
        let y = quantized::tensor_wide(node.output(0))?;
        // Each operand is at most half of what fits, so that the sum fits.
        let unit = 2.0 * f64::from(a.scale.max(b.scale));
        let a_factor = quantized::multiplier(f64::from(a.scale) / unit)?;
        let b_factor = quantized::multiplier(f64::from(b.scale) / unit)?;
        let more = f64::from(1 << bits);
        let factor = quantized::multiplier(unit / (more * f64::from(y.scale)))?;
        quantized::check_sum(1, (most as u64) << bits, factor.shift)?;
        Ok(SumI8 {
            a_zero_point: a.zero_point,
            a_multiplier: a_factor.multiplier,
            a_shift: a_factor.shift,
            b_zero_point: b.zero_point,
            b_multiplier: b_factor.multiplier,
            b_shift: b_factor.shift,
            output_multiplier: factor.multiplier,
            output_shift: factor.shift,
            output,
        })
    }
}

impl Operator for Add {
    const NAME: &'static str = "add";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(2..=2)?;
        let (a, b) = (operands.get(0)?, operands.get(1)?);
        one(a.ty.dtype, broadcast::shape(&a.ty.shape, &b.ty.shape)?)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (a, b, y) = (node.input(0)?, node.input(1)?, node.output(0));
        let broadcast = broadcast::loops(&a.ty.shape, &b.ty.shape)?;
        let kernel = match (a.ty.dtype, b.ty.dtype, y.ty.dtype) {
            (DType::F32, DType::F32, DType::F32) => {
                Kernel::AddF32(AddF32 { broadcast, range: self.activation.range_f32() })
            }
            (DType::I8, DType::I8, DType::I8) => {
                let output = self.activation.output_i8(quantized::tensor_wide(y)?, node.single_rounding());
                Kernel::AddI8(AddI8 { broadcast, sum: self.sum(node, [MORE_BITS, 255], output)? })
            }
            (DType::I16, DType::I16, DType::I16) => {
                let quantization = quantized::tensor_wide(y)?;
                let RangeI16 { min, max } = self.activation.range_i16(quantization);
                let (zero_point, single_rounding) = (quantization.zero_point, node.single_rounding());
                let output = OutputI8 { zero_point, min, max, single_rounding };
                Kernel::AddI16(AddI8 { broadcast, sum: self.sum(node, [MORE_BITS_I16, 65_535], output)? })
            }
            (a, b, y) => return Err(no_kernel(&[a, b, y])),
        };
        let operands = vec![node.read(0)?, node.write(0), node.read(1)?];
        let shapes = if a.ty.shape == b.ty.shape {
            a.ty.shape.to_string()
        } else {
            format!("{} + {}", a.ty.shape, b.ty.shape)
        };
        node.step(kernel, operands, 0, format!("{shapes}{}", self.activation));
        Ok(())
    }
}
