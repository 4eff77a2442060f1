//! `add`: sum, element by element; extents of 1 are repeated.
//!
//! Operands: `a`, `b`. Result: the broadcast shape.
//! Sources: TFLite ADD; ONNX Add.
//! int8: both operands are brought to twice the larger scale with 20 more bits, added,
//! and brought to the result's scale (tflite numerics, section 3); int16 with 15 more bits.

use aot_rt::DType;
use aot_rt::kernels::{AddI8, BinaryExact, BinaryF32, Kernel, OutputI8, RangeI16, SumI8};
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

/// What the kernels do with two quantized numbers of one scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Combination {
    /// They add or subtract int8 numbers.
    Sum,
    /// They add int16 numbers.
    WideSum,
    /// They square the difference of int8 numbers.
    Square,
}

/// How the int8 kernels add, subtract, ….
///
/// # Errors
///
/// When scales are missing, or too far apart.
pub(super) fn sum_i8(
    node: &NodeLowering<'_, '_>,
    activation: Activation,
    combination: Combination,
) -> Result<SumI8, OpError> {
    let output = activation.output_i8(quantized::tensor_wide(node.output(0))?, node.single_rounding());
    sum(node, combination, output)
}

/// How the int16 kernel adds.
fn sum_i16(node: &NodeLowering<'_, '_>, activation: Activation) -> Result<SumI8, OpError> {
    let quantization = quantized::tensor_wide(node.output(0))?;
    let RangeI16 { min, max } = activation.range_i16(quantization);
    let (zero_point, single_rounding) = (quantization.zero_point, node.single_rounding());
    sum(node, Combination::WideSum, OutputI8 { zero_point, min, max, single_rounding })
}

fn sum(node: &NodeLowering<'_, '_>, combination: Combination, output: OutputI8) -> Result<SumI8, OpError> {
    let (a, b) = (quantized::tensor_wide(node.input(0)?)?, quantized::tensor_wide(node.input(1)?)?);
    let y = quantized::tensor_wide(node.output(0))?;
    // Each operand is at most half of what fits, so that the sum fits.
    let unit = 2.0 * f64::from(a.scale.max(b.scale));
    let a_factor = quantized::multiplier(f64::from(a.scale) / unit)?;
    let b_factor = quantized::multiplier(f64::from(b.scale) / unit)?;
    // The kernels add 20, 15 or 7 bits to both operands.
    let (unit, more, largest) = match combination {
        Combination::Sum => (unit, 1 << 20, 255 << 20),
        Combination::WideSum => (unit, 1 << 15, 65_535 << 15),
        Combination::Square => (unit * unit, 1 << 14, (255 << 7) * (255 << 7)),
    };
    let factor = quantized::multiplier(unit / (f64::from(more) * f64::from(y.scale)))?;
    quantized::check_sum(1, largest, factor.shift)?;
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

impl Operator for Add {
    const NAME: &'static str = "add";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        let shape = broadcast::shape_of_two(operands)?;
        one(operands.get(0)?.ty.dtype, shape)
    }

    fn activation_mut(&mut self) -> Option<&mut Activation> {
        Some(&mut self.activation)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (a, b, y) = (node.input(0)?, node.input(1)?, node.output(0));
        let broadcast = broadcast::loops(&a.ty.shape, &b.ty.shape)?;
        let kernel = match (a.ty.dtype, b.ty.dtype, y.ty.dtype) {
            (DType::F32, DType::F32, DType::F32) => {
                Kernel::AddF32(BinaryF32 { broadcast, range: self.activation.range_f32() })
            }
            (DType::I32, DType::I32, DType::I32) if self.activation == Activation::None => {
                Kernel::AddI32(BinaryExact { broadcast })
            }
            (DType::I8, DType::I8, DType::I8) => {
                Kernel::AddI8(AddI8 { broadcast, sum: sum_i8(node, self.activation, Combination::Sum)? })
            }
            (DType::I16, DType::I16, DType::I16) => {
                Kernel::AddI16(AddI8 { broadcast, sum: sum_i16(node, self.activation)? })
            }
            (a, b, y) => return Err(no_kernel(&[a, b, y])),
        };
        let operands = vec![node.read(0)?, node.write(0), node.read(1)?];
        let shapes = broadcast::description(&a.ty.shape, "+", &b.ty.shape);
        node.step(kernel, operands, 0, format!("{shapes}{}", self.activation));
        Ok(())
    }
}
