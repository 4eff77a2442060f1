//! `compare`: how two tensors stand to each other, element by element; extents of 1 are
//! repeated.
//!
//! Operands: `a`, `b`. Result: truth values of the broadcast shape.
//! Sources: TFLite EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL; ONNX Equal,
//! Less, LessOrEqual, Greater, GreaterOrEqual.
//! int8: real numbers in steps of 1/256, as tflite-micro compares them; int16: only of equal
//! scales.

use aot_rt::fixed_point::Multiplier;
use aot_rt::kernels::{Broadcast, Compare as CompareExact, CompareI8, Kernel, Orders};
use aot_rt::{DType, Quantization};
use serde::{Deserialize, Serialize};

use super::{Operands, Operator, broadcast, no_kernel, one, quantized};
use crate::error::OpError;
use crate::graph::{Tensor, TensorType};
use crate::program::NodeLowering;

/// Attributes of `compare`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Compare {
    /// What is true.
    pub relation: Relation,
}

/// How `a` may stand to `b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// `a = b`.
    Equal,
    /// `a ≠ b`; true for NaN.
    NotEqual,
    /// `a < b`.
    Less,
    /// `a ≤ b`.
    LessEqual,
    /// `a > b`.
    Greater,
    /// `a ≥ b`.
    GreaterEqual,
}

impl Relation {
    /// Name of the steps, and the sign in their description.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Equal => ("equal", "="),
            Self::NotEqual => ("not_equal", "≠"),
            Self::Less => ("less", "<"),
            Self::LessEqual => ("less_equal", "≤"),
            Self::Greater => ("greater", ">"),
            Self::GreaterEqual => ("greater_equal", "≥"),
        }
    }

    /// The orders for which the relation holds.
    pub(super) const fn orders(self) -> Orders {
        let [less, equal, greater, unordered] = match self {
            Self::Equal => [false, true, false, false],
            Self::NotEqual => [true, false, true, true],
            Self::Less => [true, false, false, false],
            Self::LessEqual => [true, true, false, false],
            Self::Greater => [false, false, true, false],
            Self::GreaterEqual => [false, true, true, false],
        };
        Orders { less, equal, greater, unordered }
    }
}

impl Compare {
    fn kernel_i8(&self, node: &NodeLowering<'_, '_>, broadcast: Broadcast) -> Result<Kernel, OpError> {
        let [(a, a_factor), (b, b_factor)] = [factor(node.input(0)?)?, factor(node.input(1)?)?];
        Ok(Kernel::CompareI8(CompareI8 {
            broadcast,
            orders: self.relation.orders(),
            a_zero_point: a.zero_point,
            a_multiplier: a_factor.multiplier,
            a_shift: a_factor.shift,
            b_zero_point: b.zero_point,
            b_multiplier: b_factor.multiplier,
            b_shift: b_factor.shift,
            single_rounding: node.single_rounding(),
        }))
    }
}

/// Quantization of an int8 operand or of truth values, and the factor of what it compares.
fn factor(tensor: &Tensor) -> Result<(Quantization, Multiplier), OpError> {
    let quantization = match tensor.ty.quantization {
        None => Quantization { scale: 1.0, zero_point: 0 },
        Some(_) => quantized::tensor_wide(tensor)?,
    };
    let factor = quantized::multiplier(quantization.scale.into())?;
    quantized::check_sum(1, 255 << 8, factor.shift)?;
    Ok((quantization, factor))
}

impl Operator for Compare {
    const NAME: &'static str = "compare";

    fn label(&self) -> &'static str {
        self.relation.names().0
    }

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        one(DType::Bool, broadcast::shape_of_two(operands)?)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (a, b) = (node.input(0)?, node.input(1)?);
        let broadcast = broadcast::loops(&a.ty.shape, &b.ty.shape)?;
        let exact = CompareExact { broadcast, orders: self.relation.orders() };
        let kernel = match (a.ty.dtype, b.ty.dtype) {
            (DType::F32, DType::F32) => Kernel::CompareF32(exact),
            (DType::I32, DType::I32) => Kernel::CompareI32(exact),
            (DType::I64, DType::I64) => Kernel::CompareI64(exact),
            (DType::I16, DType::I16) => {
                quantized::unchanged(a, b)?;
                Kernel::CompareI16(exact)
            }
            (DType::I8, DType::I8) | (DType::Bool, DType::Bool) => self.kernel_i8(node, broadcast)?,
            (a, b) => return Err(no_kernel(&[a, b])),
        };
        let (mut x, mut b_operand) = (node.read(0)?, node.read(1)?);
        if a.ty.dtype == DType::Bool {
            (x, b_operand) = (x.as_bytes(), b_operand.as_bytes());
        }
        let operands = vec![x, node.write(0).as_bytes(), b_operand];
        let description = broadcast::description(&a.ty.shape, self.relation.names().1, &b.ty.shape);
        node.step(kernel, operands, 0, description);
        Ok(())
    }
}
