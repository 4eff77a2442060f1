//! `binary`: a function of two tensors, element by element; extents of 1 are repeated.
//!
//! Operands: `a`, `b`. Result: the broadcast shape.
//! Sources: TFLite SUB, MUL, DIV, MINIMUM, MAXIMUM, SQUARED_DIFFERENCE, POW, FLOOR_DIV,
//! FLOOR_MOD, LOGICAL_AND, LOGICAL_OR; ONNX Sub, Mul, Div, Min, Max, Pow, Mod, And,
//! Or. Sums are `add`, which is fused into
//! convolutions.
//! One file for all: they have one shape rule, and one way in which operands meet.
//! int8, int16: differences as sums are computed (tflite numerics, section 3); products and
//! quotients of the differences from the zero points, scaled once; the lesser and the
//! greater only of equal scales.

use aot_rt::DType;
use aot_rt::kernels::{AddI8, BinaryExact, BinaryF32, Broadcast, Kernel, ProductI8};
use serde::{Deserialize, Serialize};

use super::add::{Combination, sum};
use super::{Activation, Operands, Operator, broadcast, no_kernel, one, quantized};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `binary`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Binary {
    /// The function.
    pub function: BinaryFunction,
    /// Fused activation.
    #[serde(default)]
    pub activation: Activation,
}

/// A function of two elements, `a` and `b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BinaryFunction {
    /// `a - b`.
    Sub,
    /// `a * b`.
    Mul,
    /// `a / b`; of integers that stand for themselves, rounded towards 0.
    Div,
    /// The lesser one.
    Minimum,
    /// The greater one.
    Maximum,
    /// `(a - b)²`.
    SquaredDifference,
    /// `a` to the power of `b`.
    Pow,
    /// `a / b`, rounded down.
    FloorDiv,
    /// The remainder of that, with the sign of `b`.
    FloorMod,
    /// Both are true.
    LogicalAnd,
    /// One of them is true, or both.
    LogicalOr,
}

impl BinaryFunction {
    /// Name of the steps, and the sign that stands between the shapes in their description.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Sub => ("sub", "-"),
            Self::Mul => ("mul", "*"),
            Self::Div => ("div", "/"),
            Self::Minimum => ("minimum", "and"),
            Self::Maximum => ("maximum", "and"),
            Self::SquaredDifference => ("squared_difference", "-"),
            Self::Pow => ("pow", "to the power of"),
            Self::FloorDiv => ("floor_div", "/"),
            Self::FloorMod => ("floor_mod", "modulo"),
            Self::LogicalAnd => ("logical_and", "and"),
            Self::LogicalOr => ("logical_or", "or"),
        }
    }

    /// The kernel for floats, if there is one.
    const fn kernel_f32(self, params: BinaryF32) -> Option<Kernel> {
        Some(match self {
            Self::Sub => Kernel::SubF32(params),
            Self::Mul => Kernel::MulF32(params),
            Self::Div => Kernel::DivF32(params),
            Self::Minimum => Kernel::MinimumF32(params),
            Self::Maximum => Kernel::MaximumF32(params),
            Self::SquaredDifference => Kernel::SquaredDifferenceF32(params),
            Self::Pow => Kernel::PowF32(params),
            Self::FloorDiv => Kernel::FloorDivF32(params),
            Self::FloorMod => Kernel::FloorModF32(params),
            Self::LogicalAnd | Self::LogicalOr => return None,
        })
    }

    /// The kernel for integers that stand for themselves, if there is one.
    const fn kernel_i32(self, params: BinaryExact) -> Option<Kernel> {
        Some(match self {
            Self::Sub => Kernel::SubI32(params),
            Self::Mul => Kernel::MulI32(params),
            Self::Div => Kernel::DivI32(params),
            Self::Minimum => Kernel::MinimumI32(params),
            Self::Maximum => Kernel::MaximumI32(params),
            Self::FloorDiv => Kernel::FloorDivI32(params),
            Self::FloorMod => Kernel::FloorModI32(params),
            Self::SquaredDifference => Kernel::SquaredDifferenceI32(params),
            Self::Pow | Self::LogicalAnd | Self::LogicalOr => return None,
        })
    }

    /// The kernel for 64-bit integers, if there is one.
    const fn kernel_i64(self, params: BinaryExact) -> Option<Kernel> {
        Some(match self {
            Self::Sub => Kernel::SubI64(params),
            Self::Mul => Kernel::MulI64(params),
            Self::Minimum => Kernel::MinimumI64(params),
            Self::Maximum => Kernel::MaximumI64(params),
            Self::FloorMod => Kernel::FloorModI64(params),
            Self::SquaredDifference
            | Self::Div
            | Self::Pow
            | Self::FloorDiv
            | Self::LogicalAnd
            | Self::LogicalOr => return None,
        })
    }

    /// The kernel for truth values, if there is one.
    const fn kernel_bool(self, params: BinaryExact) -> Option<Kernel> {
        match self {
            // Of 0 and 1.
            Self::LogicalAnd => Some(Kernel::MinimumI8(params)),
            Self::LogicalOr => Some(Kernel::MaximumI8(params)),
            Self::Sub
            | Self::Mul
            | Self::Div
            | Self::Minimum
            | Self::Maximum
            | Self::SquaredDifference
            | Self::Pow
            | Self::FloorDiv
            | Self::FloorMod => None,
        }
    }
}

impl Binary {
    /// The kernel for int8 or int16.
    fn quantized(&self, node: &NodeLowering<'_, '_>, broadcast: Broadcast) -> Result<Kernel, OpError> {
        let dtype = node.output(0).ty.dtype;
        let wide = dtype == DType::I16;
        let combined = |combination| {
            Ok::<_, OpError>(AddI8 { broadcast, sum: sum(node, self.activation, combination)? })
        };
        Ok(match (self.function, wide) {
            (BinaryFunction::Sub, false) => Kernel::SubI8(combined(Combination::Sum)?),
            (BinaryFunction::Sub, true) => Kernel::SubI16(combined(Combination::Sum)?),
            (BinaryFunction::SquaredDifference, false) => {
                Kernel::SquaredDifferenceI8(combined(Combination::Square)?)
            }
            (BinaryFunction::SquaredDifference, true) => {
                Kernel::SquaredDifferenceI16(combined(Combination::Square)?)
            }
            (BinaryFunction::Mul, false) => Kernel::MulI8(self.product(node, broadcast)?),
            (BinaryFunction::Mul, true) => Kernel::MulI16(self.product(node, broadcast)?),
            (BinaryFunction::Div, false) => Kernel::DivI8(self.product(node, broadcast)?),
            (BinaryFunction::Minimum, false) => Kernel::MinimumI8(self.compared(node, broadcast)?),
            (BinaryFunction::Minimum, true) => Kernel::MinimumI16(self.compared(node, broadcast)?),
            (BinaryFunction::Maximum, false) => Kernel::MaximumI8(self.compared(node, broadcast)?),
            (BinaryFunction::Maximum, true) => Kernel::MaximumI16(self.compared(node, broadcast)?),
            (
                BinaryFunction::Div
                | BinaryFunction::Pow
                | BinaryFunction::FloorDiv
                | BinaryFunction::FloorMod
                | BinaryFunction::LogicalAnd
                | BinaryFunction::LogicalOr,
                _,
            ) => return Err(no_kernel(&[dtype; 3])),
        })
    }

    /// How integers of one scale are compared.
    fn compared(&self, node: &NodeLowering<'_, '_>, broadcast: Broadcast) -> Result<BinaryExact, OpError> {
        if self.activation != Activation::None {
            let name = self.label();
            return Err(format!("{name} of integers with a fused activation is not supported").into());
        }
        for operand in [0, 1] {
            quantized::shared(node.input(operand)?, node.output(0))?;
        }
        Ok(BinaryExact { broadcast })
    }

    /// How the product or quotient of int8 or int16 is scaled.
    fn product(&self, node: &NodeLowering<'_, '_>, broadcast: Broadcast) -> Result<ProductI8, OpError> {
        let tensors = [node.input(0)?, node.input(1)?, node.output(0)];
        let wide = tensors[2].ty.dtype == DType::I16;
        let quantization = if wide { quantized::symmetric } else { quantized::tensor_wide };
        let [a, b, y] = [quantization(tensors[0])?, quantization(tensors[1])?, quantization(tensors[2])?];
        let [a_scale, b_scale, y_scale] = [a.scale, b.scale, y.scale].map(f64::from);
        let (real, largest) = match self.function {
            // uint8 models have the scales multiplied in single precision.
            BinaryFunction::Div if quantized::legacy(tensors[2]) => {
                (a_scale / f64::from(b.scale * y.scale), 255)
            }
            BinaryFunction::Div => (a_scale / (b_scale * y_scale), 255),
            _ if wide => (a_scale * b_scale / y_scale, 1 << 30),
            _ => (a_scale * b_scale / y_scale, 255 * 255),
        };
        let factor = quantized::multiplier(real)?;
        quantized::check_sum(1, largest, factor.shift)?;
        Ok(ProductI8 {
            broadcast,
            a_zero_point: a.zero_point,
            b_zero_point: b.zero_point,
            multiplier: factor.multiplier,
            shift: factor.shift,
            output: quantized::output(node, self.activation)?,
        })
    }
}

impl Operator for Binary {
    const NAME: &'static str = "binary";

    fn label(&self) -> &'static str {
        self.function.names().0
    }

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        let shape = broadcast::shape_of_two(operands)?;
        one(operands.get(0)?.ty.dtype, shape)
    }

    fn activation_mut(&mut self) -> Option<&mut Activation> {
        // Integers that are compared stay as they are.
        let compared = matches!(self.function, BinaryFunction::Minimum | BinaryFunction::Maximum);
        (!compared).then_some(&mut self.activation)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (a, b, y) = (node.input(0)?, node.input(1)?, node.output(0));
        let broadcast = broadcast::loops(&a.ty.shape, &b.ty.shape)?;
        let kernel = match (a.ty.dtype, b.ty.dtype, y.ty.dtype) {
            (DType::F32, DType::F32, DType::F32) => {
                self.function.kernel_f32(BinaryF32 { broadcast, range: self.activation.range_f32() })
            }
            (DType::I8, DType::I8, DType::I8) | (DType::I16, DType::I16, DType::I16) => {
                Some(self.quantized(node, broadcast)?)
            }
            (DType::I64, DType::I64, DType::I64) if self.activation == Activation::None => {
                self.function.kernel_i64(BinaryExact { broadcast })
            }
            (DType::I32, DType::I32, DType::I32) if self.activation == Activation::None => {
                self.function.kernel_i32(BinaryExact { broadcast })
            }
            (DType::Bool, DType::Bool, DType::Bool) if self.activation == Activation::None => {
                self.function.kernel_bool(BinaryExact { broadcast })
            }
            _ => None,
        };
        let kernel = kernel.ok_or_else(|| no_kernel(&[a.ty.dtype, b.ty.dtype, y.ty.dtype]))?;
        let mut operands = vec![node.read(0)?, node.write(0), node.read(1)?];
        if y.ty.dtype == DType::Bool {
            operands.iter_mut().for_each(|operand| *operand = operand.as_bytes());
        }
        let shapes = broadcast::description(&a.ty.shape, self.function.names().1, &b.ty.shape);
        node.step(kernel, operands, 0, format!("{shapes}{}", self.activation));
        Ok(())
    }
}
