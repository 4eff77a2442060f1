//! Functions of elements.

use super::node::{Kind, Node, kind};
use super::operators::{Known, known};
use super::types::{
    B, CAST, COMPARISON, DEQUANTIZE, I64, ONE_B, ONE_F_I, ONE_F_I_U, ONE_F_I_U_W, ONE_F_I_W, ONE_F_I_W_I32,
    ONE_F_I_W_I32_I64, QUANTIZE, SELECT, TWO_B, TWO_F, TWO_F_I_U_I32, TWO_F_I_U_W, TWO_F_I_U_W_I32_I64,
    TWO_F_I_W_I32, TWO_F_I32, TWO_F_I32_I64,
};
use crate::error::OpError;
use crate::ops::{
    Activation, Add, Binary, BinaryFunction, Cast, Compare, Dequantize, Find, LeakyRelu, Logistic, Op, Prelu,
    Quantize, Relation, Relu, Select, Unary, UnaryFunction,
};

/// The options of operators for which the format has none.
pub(super) const NO_OPTIONS: Kind = kind(0, "no options", 0);

pub(super) const OPERATORS: &[Known] = &[
    known("ABS", 5, [1, 1], ONE_F_I_W_I32, |node| unary(node, UnaryFunction::Abs, kind(78, "AbsOptions", 0))),
    known("ADD", 5, [2, 2], TWO_F_I_U_W_I32_I64, add),
    known("CAST", 9, [1, 1], CAST, cast),
    known("CEIL", 1, [1, 1], ONE_F_I, |node| unary(node, UnaryFunction::Ceil, NO_OPTIONS)),
    known("COS", 1, [1, 1], ONE_F_I, |node| unary(node, UnaryFunction::Cos, kind(84, "CosOptions", 0))),
    known("DEQUANTIZE", 9, [1, 1], DEQUANTIZE, dequantize),
    known("DIV", 2, [2, 2], TWO_F_I_U_I32, |node| {
        with_activation(node, BinaryFunction::Div, kind(29, "DivOptions", 1))
    }),
    known("ELU", 1, [1, 1], ONE_F_I, |node| unary(node, UnaryFunction::Elu, NO_OPTIONS)),
    known("EQUAL", 5, [2, 2], COMPARISON, |node| compare(node, Relation::Equal, kind(53, "EqualOptions", 0))),
    known("EXP", 2, [1, 1], ONE_F_I_W, |node| unary(node, UnaryFunction::Exp, kind(33, "ExpOptions", 0))),
    known("FLOOR", 1, [1, 1], ONE_F_I, |node| unary(node, UnaryFunction::Floor, NO_OPTIONS)),
    known("FLOOR_DIV", 3, [2, 2], TWO_F_I32, |node| {
        binary(node, BinaryFunction::FloorDiv, kind(65, "FloorDivOptions", 0))
    }),
    known("FLOOR_MOD", 2, [2, 2], TWO_F_I32_I64, |node| {
        binary(node, BinaryFunction::FloorMod, kind(72, "FloorModOptions", 0))
    }),
    known("GELU", 2, [1, 1], ONE_F_I_U_W, gelu),
    known("GREATER", 2, [2, 2], COMPARISON, |node| {
        compare(node, Relation::Greater, kind(44, "GreaterOptions", 0))
    }),
    known("GREATER_EQUAL", 3, [2, 2], COMPARISON, |node| {
        compare(node, Relation::GreaterEqual, kind(45, "GreaterEqualOptions", 0))
    }),
    known("HARD_SWISH", 1, [1, 1], ONE_F_I_U, |node| {
        unary(node, UnaryFunction::HardSwish, kind(91, "HardSwishOptions", 0))
    }),
    known("LEAKY_RELU", 2, [1, 1], ONE_F_I_U_W, leaky_relu),
    known("LESS", 3, [2, 2], COMPARISON, |node| compare(node, Relation::Less, kind(41, "LessOptions", 0))),
    known("LESS_EQUAL", 3, [2, 2], COMPARISON, |node| {
        compare(node, Relation::LessEqual, kind(46, "LessEqualOptions", 0))
    }),
    known("LOG", 2, [1, 1], ONE_F_I_W, |node| unary(node, UnaryFunction::Log, NO_OPTIONS)),
    known("LOGICAL_AND", 1, [2, 2], TWO_B, |node| {
        binary(node, BinaryFunction::LogicalAnd, kind(62, "LogicalAndOptions", 0))
    }),
    known("LOGICAL_NOT", 1, [1, 1], ONE_B, |node| {
        unary(node, UnaryFunction::LogicalNot, kind(63, "LogicalNotOptions", 0))
    }),
    known("LOGICAL_OR", 1, [2, 2], TWO_B, |node| {
        binary(node, BinaryFunction::LogicalOr, kind(60, "LogicalOrOptions", 0))
    }),
    known("LOGISTIC", 3, [1, 1], ONE_F_I_U_W, |_| Ok(Logistic {}.into())),
    known("MAXIMUM", 4, [2, 2], TWO_F_I_U_W_I32_I64, |node| {
        binary(node, BinaryFunction::Maximum, kind(39, "MaximumMinimumOptions", 0))
    }),
    known("MINIMUM", 4, [2, 2], TWO_F_I_U_W_I32_I64, |node| {
        binary(node, BinaryFunction::Minimum, kind(39, "MaximumMinimumOptions", 0))
    }),
    known("MUL", 7, [2, 2], TWO_F_I_U_W_I32_I64, |node| {
        with_activation(node, BinaryFunction::Mul, kind(21, "MulOptions", 1))
    }),
    known("NEG", 1, [1, 1], ONE_F_I_W_I32_I64, |node| {
        unary(node, UnaryFunction::Neg, kind(42, "NegOptions", 0))
    }),
    known("NOT_EQUAL", 4, [2, 2], COMPARISON, |node| {
        compare(node, Relation::NotEqual, kind(54, "NotEqualOptions", 0))
    }),
    known("POW", 1, [2, 2], TWO_F, |node| binary(node, BinaryFunction::Pow, kind(56, "PowOptions", 0))),
    known("PRELU", 1, [2, 2], TWO_F_I_U_W, |_| Ok(Prelu {}.into())),
    known("QUANTIZE", 6, [1, 1], QUANTIZE, quantize),
    known("RELU", 3, [1, 1], ONE_F_I_U_W, |_| Ok(Relu { activation: Activation::Relu }.into())),
    known("RELU6", 3, [1, 1], ONE_F_I_U_W, |_| Ok(Relu { activation: Activation::Relu6 }.into())),
    known("RELU_0_TO_1", 1, [1, 1], ONE_F_I_U, |_| Ok(Relu { activation: Activation::Relu0To1 }.into())),
    known("RELU_N1_TO_1", 1, [1, 1], ONE_F_I_U_W, |_| Ok(Relu { activation: Activation::ReluN1To1 }.into())),
    known("ROUND", 1, [1, 1], ONE_F_I, |node| unary(node, UnaryFunction::Round, NO_OPTIONS)),
    known("RSQRT", 3, [1, 1], ONE_F_I_W, |node| unary(node, UnaryFunction::Rsqrt, NO_OPTIONS)),
    known("SELECT", 4, [3, 3], SELECT, select),
    known("SELECT_V2", 2, [3, 3], SELECT, select_v2),
    known("SIN", 1, [1, 1], ONE_F_I, |node| unary(node, UnaryFunction::Sin, NO_OPTIONS)),
    known("SQRT", 2, [1, 1], ONE_F_I_W, |node| unary(node, UnaryFunction::Sqrt, NO_OPTIONS)),
    known("SQUARE", 1, [1, 1], ONE_F_I, |node| {
        unary(node, UnaryFunction::Square, kind(66, "SquareOptions", 0))
    }),
    known("SQUARED_DIFFERENCE", 2, [2, 2], TWO_F_I_W_I32, |node| {
        binary(node, BinaryFunction::SquaredDifference, kind(76, "SquaredDifferenceOptions", 0))
    }),
    known("SUB", 5, [2, 2], TWO_F_I_U_W_I32_I64, |node| {
        with_activation(node, BinaryFunction::Sub, kind(28, "SubOptions", 2))
    }),
    known("TANH", 3, [1, 1], ONE_F_I_U_W, |node| unary(node, UnaryFunction::Tanh, NO_OPTIONS)),
    known("WHERE", 2, [1, 1], &[&[B, I64]], find),
];

fn add(node: &Node<'_>) -> Result<Op, OpError> {
    const ACTIVATION: usize = 0;
    // The other field says that int16 scales are powers of two: the arithmetic is for any.
    let options = node.options(kind(11, "AddOptions", 2))?;
    Ok(Add { activation: options.activation(ACTIVATION)? }.into())
}

fn quantize(node: &Node<'_>) -> Result<Op, OpError> {
    node.optional_options(kind(89, "QuantizeOptions", 0))?;
    Ok(Quantize { dtype: node.result.dtype }.into())
}

fn dequantize(node: &Node<'_>) -> Result<Op, OpError> {
    node.optional_options(kind(38, "DequantizeOptions", 0))?;
    Ok(Dequantize {}.into())
}

/// A function of two elements whose options hold a fused activation.
fn with_activation(node: &Node<'_>, function: BinaryFunction, options: Kind) -> Result<Op, OpError> {
    const ACTIVATION: usize = 0;
    let activation = node.options(options)?.activation(ACTIVATION)?;
    Ok(Binary { function, activation }.into())
}

/// A function of two elements without attributes.
fn binary(node: &Node<'_>, function: BinaryFunction, options: Kind) -> Result<Op, OpError> {
    node.optional_options(options)?;
    Ok(Binary { function, activation: Activation::None }.into())
}

/// A function of one element without attributes.
fn unary(node: &Node<'_>, function: UnaryFunction, options: Kind) -> Result<Op, OpError> {
    node.optional_options(options)?;
    Ok(Unary { function }.into())
}

fn gelu(node: &Node<'_>) -> Result<Op, OpError> {
    const APPROXIMATE: usize = 0;
    let options = node.optional_options(kind(116, "GeluOptions", 1))?;
    let approximate = options.flag(APPROXIMATE)?;
    Ok(Unary { function: if approximate { UnaryFunction::GeluTanh } else { UnaryFunction::Gelu } }.into())
}

fn leaky_relu(node: &Node<'_>) -> Result<Op, OpError> {
    const ALPHA: usize = 0;
    let options = node.options(kind(75, "LeakyReluOptions", 1))?;
    Ok(LeakyRelu { alpha: options.f32(ALPHA)? }.into())
}

/// A comparison.
fn compare(node: &Node<'_>, relation: Relation, options: Kind) -> Result<Op, OpError> {
    node.optional_options(options)?;
    Ok(Compare { relation }.into())
}

fn select(node: &Node<'_>) -> Result<Op, OpError> {
    node.optional_options(kind(47, "SelectOptions", 0))?;
    let (condition, a) = (node.shape(0)?, node.shape(1)?);
    // Nothing is broadcast but a scalar, or a vector along the first axis.
    if !condition.is_empty() && condition != a && condition.len() != 1 {
        return Err(format!("the condition {condition} is neither a vector nor {a}").into());
    }
    if node.shape(2)? != a {
        return Err(format!("{a} and {} are not equal", node.shape(2)?).into());
    }
    Ok(Select { first_axis: condition.len() == 1 && a.len() > 1 }.into())
}

fn select_v2(node: &Node<'_>) -> Result<Op, OpError> {
    node.optional_options(kind(98, "SelectV2Options", 0))?;
    Ok(Select::default().into())
}

fn find(node: &Node<'_>) -> Result<Op, OpError> {
    node.optional_options(kind(85, "WhereOptions", 0))?;
    Ok(Find {}.into())
}

fn cast(node: &Node<'_>) -> Result<Op, OpError> {
    // The tensors say from what to what.
    node.optional_options(kind(37, "CastOptions", 2))?;
    Ok(Cast { dtype: node.result.dtype }.into())
}
