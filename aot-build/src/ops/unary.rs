//! `unary`: a function of every element.
//!
//! Operand: `x`. Result: the same shape.
//! Sources: TFLite ABS, CEIL, COS, ELU, EXP, FLOOR, GELU, HARD_SWISH, LOG, LOGICAL_NOT, NEG, ROUND,
//! RSQRT, SIN, SQRT, SQUARE, TANH; ONNX operators of these names.
//! One file for all: they have one shape rule, and int8 is always a table of 256 results;
//! int16 is in `unary_i16.rs`.
//! int8: tflite numerics, sections 3 to 5; functions without an arithmetic of their own in
//! TFLite are computed in single precision. A result that is no number is the zero point.

use aot_rt::kernels::{InPlace, Kernel, LookupI8, UnaryF32, gelu_f32, tanh_table};
use aot_rt::{DType, Quantization};
use serde::{Deserialize, Serialize};

use super::tables::{self, ToInteger};
use super::{Operands, Operator, no_kernel, quantized, same, unary_i16};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `unary`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Unary {
    /// The function.
    pub function: UnaryFunction,
}

/// A function of one element, `x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UnaryFunction {
    /// The magnitude.
    Abs,
    /// The next integer up.
    Ceil,
    /// The cosine.
    Cos,
    /// `x`, and `exp(x) - 1` where it is negative.
    Elu,
    /// The exponential.
    Exp,
    /// The next integer down.
    Floor,
    /// `x` times the part of a normal distribution that is below it.
    Gelu,
    /// `gelu`, approximated with a hyperbolic tangent.
    GeluTanh,
    /// `x` times `(x + 3) / 6`, the latter limited to 0 and 1.
    HardSwish,
    /// The natural logarithm.
    Log,
    /// Whether it is false.
    LogicalNot,
    /// `-x`.
    Neg,
    /// The nearest integer, ties to even.
    Round,
    /// The reciprocal of the square root.
    Rsqrt,
    /// The sine.
    Sin,
    /// The square root.
    Sqrt,
    /// `x²`.
    Square,
    /// The hyperbolic tangent. The result has zero point 0, int8 scale 1/128, int16 1/32768.
    Tanh,
}

impl UnaryFunction {
    /// Name of the steps.
    const fn name(self) -> &'static str {
        match self {
            Self::Abs => "abs",
            Self::Ceil => "ceil",
            Self::Cos => "cos",
            Self::Elu => "elu",
            Self::Exp => "exp",
            Self::Floor => "floor",
            Self::Gelu => "gelu",
            Self::GeluTanh => "gelu_tanh",
            Self::HardSwish => "hard_swish",
            Self::Log => "log",
            Self::LogicalNot => "logical_not",
            Self::Neg => "neg",
            Self::Round => "round",
            Self::Rsqrt => "rsqrt",
            Self::Sin => "sin",
            Self::Sqrt => "sqrt",
            Self::Square => "square",
            Self::Tanh => "tanh",
        }
    }

    /// The kernel for floats, if there is one.
    const fn kernel_f32(self, params: UnaryF32) -> Option<Kernel> {
        Some(match self {
            Self::Abs => Kernel::AbsF32(params),
            Self::Ceil => Kernel::CeilF32(params),
            Self::Cos => Kernel::CosF32(params),
            Self::Elu => Kernel::EluF32(params),
            Self::Exp => Kernel::ExpF32(params),
            Self::Floor => Kernel::FloorF32(params),
            Self::Gelu => Kernel::GeluF32(params),
            Self::GeluTanh => Kernel::GeluTanhF32(params),
            Self::HardSwish => Kernel::HardSwishF32(params),
            Self::Log => Kernel::LogF32(params),
            Self::LogicalNot => return None,
            Self::Neg => Kernel::NegF32(params),
            Self::Round => Kernel::RoundF32(params),
            Self::Rsqrt => Kernel::RsqrtF32(params),
            Self::Sin => Kernel::SinF32(params),
            Self::Sqrt => Kernel::SqrtF32(params),
            Self::Square => Kernel::SquareF32(params),
            Self::Tanh => Kernel::TanhF32(params),
        })
    }

    /// The kernel for int32 or int64 that stand for themselves, if there is one.
    const fn kernel_integer(self, dtype: DType, params: UnaryF32) -> Option<Kernel> {
        match (self, dtype) {
            (Self::Abs, DType::I32) => Some(Kernel::AbsI32(params)),
            (Self::Neg, DType::I32) => Some(Kernel::NegI32(params)),
            (Self::Neg, DType::I64) => Some(Kernel::NegI64(params)),
            _ => None,
        }
    }

    /// The int8 results.
    fn table(self, node: &NodeLowering<'_, '_>) -> Result<[i8; 256], OpError> {
        let (x, y) = (quantized::tensor_wide(node.input(0)?)?, quantized::tensor_wide(node.output(0))?);
        let rounding = quantized::rounding(node);
        let of_reals = |function: fn(f64) -> f64| Ok(tables::of_reals(x, y, ToInteger::Nearest, function));
        match self {
            Self::Abs => tables::of_differences(x, y, rounding, i32::abs),
            Self::Neg => tables::of_differences(x, y, rounding, |difference| -difference),
            Self::HardSwish => tables::hard_swish(x, y),
            Self::Sqrt => Ok(tables::of_reals(x, y, ToInteger::Truncated, f64::sqrt)),
            // uint8 models have it of real numbers.
            Self::Tanh if quantized::legacy(node.input(0)?) => of_reals(f64::tanh),
            Self::Tanh => {
                quantized::check_fixed(node.output(0), 1.0 / 128.0, 0)?;
                let Quantization { scale, .. } = x;
                tanh_table(x, rounding).ok_or_else(|| format!("scale {scale} is outside 2^-27..8").into())
            }
            Self::Ceil => of_reals(f64::ceil),
            Self::Cos => of_reals(f64::cos),
            Self::Elu => of_reals(|x| if x < 0.0 { x.exp_m1() } else { x }),
            Self::Exp => of_reals(f64::exp),
            Self::Floor => of_reals(f64::floor),
            Self::Gelu => of_reals(|x| {
                // The error function is not in the standard library.
                let mut y = [x as f32];
                gelu_f32(&UnaryF32 { len: 1 }, InPlace(&mut y));
                y[0].into()
            }),
            Self::GeluTanh => of_reals(unary_i16::gelu_tanh),
            Self::Log => of_reals(f64::ln),
            Self::LogicalNot => Err(no_kernel(&[DType::I8; 2])),
            Self::Round => of_reals(f64::round_ties_even),
            Self::Rsqrt => tables::reciprocal_root(x, y, rounding),
            Self::Sin => of_reals(f64::sin),
            Self::Square => of_reals(|x| x * x),
        }
    }
}

impl Operator for Unary {
    const NAME: &'static str = "unary";

    fn label(&self) -> &'static str {
        self.function.name()
    }

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        same(operands)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, y) = (node.input(0)?, node.output(0));
        let len = x.ty.shape.elements();
        match (x.ty.dtype, y.ty.dtype) {
            (DType::F32, DType::F32) => {
                let kernel = self.function.kernel_f32(UnaryF32 { len });
                let kernel = kernel.ok_or_else(|| no_kernel(&[DType::F32; 2]))?;
                let operands = vec![node.read(0)?, node.write(0)];
                node.step(kernel, operands, 0, format!("{len} elements"));
                Ok(())
            }
            (DType::I8, DType::I8) => {
                let table = self.function.table(node)?;
                quantized::lookup(node, table)
            }
            (DType::Bool, DType::Bool) if self.function == UnaryFunction::LogicalNot => {
                let mut table = [0; 256];
                table[0] = 1;
                let table = node.constant(DType::I8, &table);
                let operands = vec![node.read(0)?.as_bytes(), node.write(0).as_bytes(), table];
                node.step(Kernel::LookupI8(LookupI8 { len }), operands, 0, format!("{len} elements, table"));
                Ok(())
            }
            (DType::I16, DType::I16) => unary_i16::lower(node, self.function),
            (DType::I32, DType::I32) | (DType::I64, DType::I64) => {
                let dtype = x.ty.dtype;
                let kernel = self.function.kernel_integer(dtype, UnaryF32 { len });
                let kernel = kernel.ok_or_else(|| no_kernel(&[dtype; 2]))?;
                let operands = vec![node.read(0)?, node.write(0)];
                node.step(kernel, operands, 0, format!("{len} elements"));
                Ok(())
            }
            (x, y) => Err(no_kernel(&[x, y])),
        }
    }
}
