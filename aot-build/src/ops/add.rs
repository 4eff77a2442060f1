//! `add`: sum, element by element; extents of 1 are repeated.
//!
//! Operands: `a`, `b`. Result: the broadcast shape.
//! Sources: TFLite ADD; ONNX Add.
//! int8: both operands are brought to twice the larger scale with 20 more bits, added,
//! and brought to the result's scale (tflite numerics, section 3); int16 with 15 more bits.

use aot_rt::DType;
use aot_rt::kernels::{AddI8, BinaryExact, BinaryF32, Kernel, SumI8};
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
    /// They add or subtract them.
    Sum,
    /// They square their difference.
    Square,
}

impl Combination {
    /// Bits that the kernels add to operands of this type, and the largest magnitude of what
    /// they make of them.
    const fn bits(self, wide: bool) -> (u32, u64) {
        match (self, wide) {
            (Self::Sum, false) => (20, 255 << 20),
            (Self::Sum, true) => (15, 65_535 << 15),
            (Self::Square, false) => (7, (255 << 7) * (255 << 7)),
            // Zero points are 0, and each operand is halved.
            (Self::Square, true) => (0, 1 << 30),
        }
    }
}

/// How the int8 and int16 kernels add, subtract, ….
///
/// # Errors
///
/// When scales are missing, or too far apart; when int16 that are squared have a zero point.
pub(super) fn sum(
    node: &NodeLowering<'_, '_>,
    activation: Activation,
    combination: Combination,
) -> Result<SumI8, OpError> {
    let (a, b, wide) = (node.input(0)?, node.input(1)?, node.output(0).ty.dtype == DType::I16);
    if wide && combination == Combination::Square {
        quantized::symmetric(a)?;
        quantized::symmetric(b)?;
    }
    let (a, b) = (quantized::tensor_wide(a)?, quantized::tensor_wide(b)?);
    let y = quantized::tensor_wide(node.output(0))?;
    // Each operand is at most half of what fits, so that the sum fits.
    let unit = 2.0 * f64::from(a.scale.max(b.scale));
    let a_factor = quantized::multiplier(f64::from(a.scale) / unit)?;
    let b_factor = quantized::multiplier(f64::from(b.scale) / unit)?;
    let (bits, largest) = combination.bits(wide);
    let (unit, more) = match combination {
        Combination::Sum => (unit, 1_u64 << bits),
        Combination::Square => (unit * unit, 1 << (2 * bits)),
    };
    let factor = quantized::multiplier(unit / (more as f64 * f64::from(y.scale)))?;
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
        output: quantized::output(node, activation)?,
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
            (DType::I64, DType::I64, DType::I64) if self.activation == Activation::None => {
                Kernel::AddI64(BinaryExact { broadcast })
            }
            (DType::I8, DType::I8, DType::I8) => {
                Kernel::AddI8(AddI8 { broadcast, sum: sum(node, self.activation, Combination::Sum)? })
            }
            (DType::I16, DType::I16, DType::I16) => {
                Kernel::AddI16(AddI8 { broadcast, sum: sum(node, self.activation, Combination::Sum)? })
            }
            (a, b, y) => return Err(no_kernel(&[a, b, y])),
        };
        let operands = vec![node.read(0)?, node.write(0), node.read(1)?];
        let shapes = broadcast::description(&a.ty.shape, "+", &b.ty.shape);
        node.step(kernel, operands, 0, format!("{shapes}{}", self.activation));
        Ok(())
    }
}
