//! The operators that are known, and how each maps to one of the graph's.

use aot_rt::DType;

use super::arithmetic::{self, NO_OPTIONS, binary, compare, unary, with_activation};
use super::node::{Node, Options, kind};
use super::schema::OperatorCode;
use super::variables::Access;
use super::{movement, names};
use crate::error::OpError;
use crate::graph::Shape;
use crate::ops::{
    Activation, Add, AveragePool2d, BinaryFunction, Conv2d, DepthwiseConv2d, Dequantize, FullyConnected,
    Logistic, MaxPool2d, Mean, Op, Padding2d, Prelu, Quantize, Relation, Relu, Reshape, Softmax,
    UnaryFunction,
};

/// An operator that is known.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) name: &'static str,
    /// The newest version that is known.
    pub(super) version: i32,
    /// Fewest and most operands.
    pub(super) operands: [usize; 2],
    /// Which operands are tensors of the graph.
    pub(super) in_graph: InGraph,
    /// Most results.
    pub(super) results: usize,
    /// Types of operands and result that belong together.
    pub(super) types: &'static [&'static [DType]],
    pub(super) meaning: Meaning,
}

/// Makes an operator of the graph from one of the file.
pub(super) type Map = fn(&Node<'_>) -> Result<Op, OpError>;

/// What becomes of an operator.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    /// One of the graph.
    Op(Map),
    /// It reads or changes a variable.
    Variable(Access),
}

/// Which operands are tensors of the graph. The others are constants that become
/// attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InGraph {
    /// The first ones: as many as a row of types has.
    First,
    /// All: their type is the first one of a row.
    All,
    /// This one.
    Only(usize),
}

const F: DType = DType::F32;
const I: DType = DType::I8;
const B: DType = DType::Bool;

/// Wide activations, whose weights are int8 and whose biases are int64.
const W: DType = DType::I16;
/// Legacy quantization.
const U: DType = DType::U8;

const UNARY: &[&[DType]] = &[&[F, F], &[I, I]];
const UNARY_OR_LEGACY: &[&[DType]] = &[&[F, F], &[I, I], &[U, U]];
const WITH_SHORTS: &[&[DType]] = &[&[F, F], &[I, I], &[W, W]];
const BINARY: &[&[DType]] = &[&[F, F, F], &[I, I, I]];
const ARITHMETIC: &[&[DType]] = &[&[F, F, F], &[I, I, I], &[DType::I32; 3]];
const ADDED: &[&[DType]] = &[&[F, F, F], &[I, I, I], &[U, U, U], &[W, W, W], &[DType::I32; 3]];
const WITH_WEIGHTS: &[&[DType]] =
    &[&[F, F, F, F], &[F, I, F, F], &[I, I, DType::I32, I], &[U, U, DType::I32, U], &[W, I, DType::I64, W]];
const TO_INTEGER: &[&[DType]] = &[
    &[F, I],
    &[I, I],
    &[F, U],
    &[U, U],
    &[U, I],
    &[I, U],
    &[F, W],
    &[W, W],
    &[W, I],
    &[I, W],
    &[DType::I32, W],
];
const TO_FLOAT: &[&[DType]] = &[&[I, F], &[U, F], &[W, F], &[DType::F16, F]];
const MOVED: &[&[DType]] = &[
    &[F, F],
    &[I, I],
    &[U, U],
    &[DType::I16, DType::I16],
    &[DType::I32, DType::I32],
    &[DType::I64, DType::I64],
    &[B, B],
];
const GATHERED: &[&[DType]] = &[
    &[F, DType::I32, F],
    &[I, DType::I32, I],
    &[DType::I16, DType::I32, DType::I16],
    &[DType::I32, DType::I32, DType::I32],
    &[F, DType::I64, F],
    &[I, DType::I64, I],
    &[U, DType::I32, U],
];
const COMPARED: &[&[DType]] =
    &[&[F, F, B], &[I, I, B], &[DType::I32, DType::I32, B], &[DType::I64, DType::I64, B], &[B, B, B]];
const LOGICAL: &[&[DType]] = &[&[B, B, B]];
const SELECTED: &[&[DType]] = &[
    &[B, F, F, F],
    &[B, I, I, I],
    &[B, DType::I16, DType::I16, DType::I16],
    &[B, DType::I32, DType::I32, DType::I32],
    &[B, DType::I64, DType::I64, DType::I64],
    &[B, B, B, B],
];
const CAST: &[&[DType]] = &[
    &[F, F],
    &[F, I],
    &[F, DType::I16],
    &[F, DType::I32],
    &[F, DType::I64],
    &[F, B],
    &[I, F],
    &[I, I],
    &[I, DType::I16],
    &[I, DType::I32],
    &[I, DType::I64],
    &[I, B],
    &[DType::I16, F],
    &[DType::I16, I],
    &[DType::I16, DType::I16],
    &[DType::I16, DType::I32],
    &[DType::I32, F],
    &[DType::I32, I],
    &[DType::I32, DType::I16],
    &[DType::I32, DType::I32],
    &[DType::I32, DType::I64],
    &[DType::I32, B],
    &[DType::I64, F],
    &[DType::I64, DType::I32],
    &[DType::I64, DType::I64],
    &[DType::I64, B],
    &[B, F],
    &[B, I],
    &[B, DType::I16],
    &[B, DType::I32],
    &[B, DType::I64],
    &[B, B],
];
/// Most operands or results of an operator that takes any number.
const MANY: usize = 1024;

const OPERATORS: &[Known] = &[
    known("ABS", 5, [1, 1], UNARY, |node| unary(node, UnaryFunction::Abs, kind(78, "AbsOptions", 0))),
    known("ADD", 5, [2, 2], ADDED, add),
    variable("ASSIGN_VARIABLE", Access::Assign),
    known("AVERAGE_POOL_2D", 3, [1, 1], UNARY_OR_LEGACY, average_pool_2d),
    known("BATCH_TO_SPACE_ND", 4, [3, 3], MOVED, movement::batch_to_space),
    known("BROADCAST_TO", 4, [2, 2], MOVED, movement::broadcast_to),
    variable("CALL_ONCE", Access::CallOnce),
    known("CAST", 7, [1, 1], CAST, arithmetic::cast),
    known("CEIL", 1, [1, 1], UNARY, |node| unary(node, UnaryFunction::Ceil, NO_OPTIONS)),
    known("CONCATENATION", 7, [1, MANY], MOVED, movement::concatenation).of_all(),
    known("CONV_2D", 8, [2, 3], WITH_WEIGHTS, conv_2d),
    known("COS", 1, [1, 1], UNARY, |node| unary(node, UnaryFunction::Cos, kind(84, "CosOptions", 0))),
    known("DEPTHWISE_CONV_2D", 7, [2, 3], WITH_WEIGHTS, depthwise_conv_2d),
    known("DEPTH_TO_SPACE", 1, [1, 1], MOVED, movement::depth_to_space),
    known("DEQUANTIZE", 6, [1, 1], TO_FLOAT, dequantize),
    known("DIV", 2, [2, 2], ARITHMETIC, |node| {
        with_activation(node, BinaryFunction::Div, kind(29, "DivOptions", 1))
    }),
    known("ELU", 1, [1, 1], UNARY, |node| unary(node, UnaryFunction::Elu, NO_OPTIONS)),
    known("EQUAL", 4, [2, 2], COMPARED, |node| compare(node, Relation::Equal, kind(53, "EqualOptions", 0))),
    known("EXP", 2, [1, 1], UNARY, |node| unary(node, UnaryFunction::Exp, kind(33, "ExpOptions", 0))),
    known("EXPAND_DIMS", 1, [2, 2], MOVED, expand_dims),
    known("FILL", 5, [2, 2], MOVED, movement::fill).of_operand(1),
    known("FLOOR", 1, [1, 1], UNARY, |node| unary(node, UnaryFunction::Floor, NO_OPTIONS)),
    known("FLOOR_DIV", 3, [2, 2], ARITHMETIC, |node| {
        binary(node, BinaryFunction::FloorDiv, kind(65, "FloorDivOptions", 0))
    }),
    known("FLOOR_MOD", 2, [2, 2], ARITHMETIC, |node| {
        binary(node, BinaryFunction::FloorMod, kind(72, "FloorModOptions", 0))
    }),
    known("FULLY_CONNECTED", 12, [2, 3], WITH_WEIGHTS, fully_connected),
    known("GATHER", 8, [2, 2], GATHERED, movement::gather),
    known("GELU", 2, [1, 1], UNARY, arithmetic::gelu),
    known("GREATER", 2, [2, 2], COMPARED, |node| {
        compare(node, Relation::Greater, kind(44, "GreaterOptions", 0))
    }),
    known("GREATER_EQUAL", 3, [2, 2], COMPARED, |node| {
        compare(node, Relation::GreaterEqual, kind(45, "GreaterEqualOptions", 0))
    }),
    known("HARD_SWISH", 1, [1, 1], UNARY, |node| {
        unary(node, UnaryFunction::HardSwish, kind(91, "HardSwishOptions", 0))
    }),
    known("LEAKY_RELU", 2, [1, 1], WITH_SHORTS, arithmetic::leaky_relu),
    known("LESS", 3, [2, 2], COMPARED, |node| compare(node, Relation::Less, kind(41, "LessOptions", 0))),
    known("LESS_EQUAL", 3, [2, 2], COMPARED, |node| {
        compare(node, Relation::LessEqual, kind(46, "LessEqualOptions", 0))
    }),
    known("LOG", 2, [1, 1], UNARY, |node| unary(node, UnaryFunction::Log, NO_OPTIONS)),
    known("LOGICAL_AND", 1, [2, 2], LOGICAL, |node| {
        binary(node, BinaryFunction::LogicalAnd, kind(62, "LogicalAndOptions", 0))
    }),
    known("LOGICAL_NOT", 1, [1, 1], &[&[B, B]], |node| {
        unary(node, UnaryFunction::LogicalNot, kind(63, "LogicalNotOptions", 0))
    }),
    known("LOGICAL_OR", 1, [2, 2], LOGICAL, |node| {
        binary(node, BinaryFunction::LogicalOr, kind(60, "LogicalOrOptions", 0))
    }),
    known("LOGISTIC", 3, [1, 1], UNARY, |_| Ok(Logistic {}.into())),
    known("MAXIMUM", 4, [2, 2], ARITHMETIC, |node| {
        binary(node, BinaryFunction::Maximum, kind(39, "MaximumMinimumOptions", 0))
    }),
    known("MAX_POOL_2D", 3, [1, 1], UNARY_OR_LEGACY, max_pool_2d),
    known("MEAN", 3, [2, 2], UNARY, mean),
    known("MINIMUM", 4, [2, 2], ARITHMETIC, |node| {
        binary(node, BinaryFunction::Minimum, kind(39, "MaximumMinimumOptions", 0))
    }),
    known("MIRROR_PAD", 3, [2, 2], MOVED, movement::mirror_pad),
    known("MUL", 7, [2, 2], ARITHMETIC, |node| {
        with_activation(node, BinaryFunction::Mul, kind(21, "MulOptions", 1))
    }),
    known("NEG", 1, [1, 1], UNARY, |node| unary(node, UnaryFunction::Neg, kind(42, "NegOptions", 0))),
    known("NOT_EQUAL", 3, [2, 2], COMPARED, |node| {
        compare(node, Relation::NotEqual, kind(54, "NotEqualOptions", 0))
    }),
    known("PACK", 5, [1, MANY], MOVED, movement::pack).of_all(),
    known("PAD", 6, [2, 2], MOVED, movement::pad),
    known("PADV2", 6, [3, 3], MOVED, movement::pad_v2),
    known("POW", 1, [2, 2], ARITHMETIC, |node| binary(node, BinaryFunction::Pow, kind(56, "PowOptions", 0))),
    known("PRELU", 1, [2, 2], BINARY, |_| Ok(Prelu {}.into())),
    known("QUANTIZE", 3, [1, 1], TO_INTEGER, quantize),
    variable("READ_VARIABLE", Access::Read),
    known("RELU", 3, [1, 1], UNARY_OR_LEGACY, |_| Ok(Relu { activation: Activation::Relu }.into())),
    known("RELU6", 3, [1, 1], UNARY_OR_LEGACY, |_| Ok(Relu { activation: Activation::Relu6 }.into())),
    known("RELU_0_TO_1", 1, [1, 1], UNARY, |_| Ok(Relu { activation: Activation::Relu0To1 }.into())),
    known("RELU_N1_TO_1", 1, [1, 1], UNARY_OR_LEGACY, |_| {
        Ok(Relu { activation: Activation::ReluN1To1 }.into())
    }),
    known("RESHAPE", 1, [1, 2], MOVED, reshape),
    known("REVERSE_V2", 4, [2, 2], MOVED, movement::reverse),
    known("ROUND", 1, [1, 1], UNARY, |node| unary(node, UnaryFunction::Round, NO_OPTIONS)),
    known("RSQRT", 3, [1, 1], UNARY, |node| unary(node, UnaryFunction::Rsqrt, NO_OPTIONS)),
    known("SELECT", 4, [3, 3], SELECTED, arithmetic::select),
    known("SELECT_V2", 2, [3, 3], SELECTED, arithmetic::select_v2),
    known("SIN", 1, [1, 1], UNARY, |node| unary(node, UnaryFunction::Sin, NO_OPTIONS)),
    known("SLICE", 8, [3, 3], MOVED, movement::slice),
    known("SOFTMAX", 3, [1, 1], UNARY_OR_LEGACY, softmax),
    known("SPACE_TO_BATCH_ND", 4, [3, 3], MOVED, movement::space_to_batch),
    known("SPACE_TO_DEPTH", 2, [1, 1], MOVED, movement::space_to_depth),
    known("SPLIT", 5, [2, 2], MOVED, movement::split).of_operand(1).with_results(),
    known("SPLIT_V", 3, [3, 3], MOVED, movement::split_v).with_results(),
    known("SQRT", 1, [1, 1], UNARY, |node| unary(node, UnaryFunction::Sqrt, NO_OPTIONS)),
    known("SQUARE", 1, [1, 1], UNARY, |node| {
        unary(node, UnaryFunction::Square, kind(66, "SquareOptions", 0))
    }),
    known("SQUARED_DIFFERENCE", 2, [2, 2], ARITHMETIC, |node| {
        binary(node, BinaryFunction::SquaredDifference, kind(76, "SquaredDifferenceOptions", 0))
    }),
    known("SQUEEZE", 2, [1, 1], MOVED, squeeze),
    known("STRIDED_SLICE", 8, [4, 4], MOVED, movement::strided_slice),
    known("SUB", 5, [2, 2], ARITHMETIC, |node| {
        with_activation(node, BinaryFunction::Sub, kind(28, "SubOptions", 2))
    }),
    known("TANH", 3, [1, 1], UNARY, |node| unary(node, UnaryFunction::Tanh, NO_OPTIONS)),
    known("TILE", 3, [2, 2], MOVED, movement::tile),
    known("TRANSPOSE", 8, [2, 2], MOVED, movement::transpose),
    known("UNPACK", 6, [1, 1], MOVED, movement::unpack).with_results(),
    variable("VAR_HANDLE", Access::Handle),
    known("WHERE", 1, [1, 1], &[&[B, DType::I64]], arithmetic::find),
];

const fn known(
    name: &'static str,
    version: i32,
    operands: [usize; 2],
    types: &'static [&'static [DType]],
    map: Map,
) -> Known {
    let meaning = Meaning::Op(map);
    Known { name, version, operands, in_graph: InGraph::First, results: 1, types, meaning }
}

const fn variable(name: &'static str, access: Access) -> Known {
    let meaning = Meaning::Variable(access);
    Known { name, version: 1, operands: [0, 2], in_graph: InGraph::All, results: 1, types: &[], meaning }
}

impl Known {
    /// What the operator does with variables, if that is what it does.
    pub(super) fn access(&self) -> Option<Access> {
        match self.meaning {
            Meaning::Variable(access) => Some(access),
            Meaning::Op(_) => None,
        }
    }

    /// All operands are tensors of the graph.
    const fn of_all(self) -> Self {
        Self { in_graph: InGraph::All, ..self }
    }

    /// Only this operand is a tensor of the graph.
    const fn of_operand(self, operand: usize) -> Self {
        Self { in_graph: InGraph::Only(operand), ..self }
    }

    /// There may be several results.
    const fn with_results(self) -> Self {
        Self { results: MANY, ..self }
    }
}

/// The operator that a code stands for.
///
/// # Errors
///
/// How messages name it, when it is not known.
pub(super) fn find(code: &OperatorCode) -> Result<&'static Known, String> {
    let name = names::operator_name(code.builtin);
    if code.builtin == names::CUSTOM {
        return Err(format!("{name} \"{}\"", code.custom.as_deref().unwrap_or_default()));
    }
    match OPERATORS.iter().find(|known| known.name == name) {
        Some(known) if (1..=known.version).contains(&code.version) => Ok(known),
        Some(known) => Err(format!("{name} version {}, known are 1 to {}", code.version, known.version)),
        None => Err(name),
    }
}

fn add(node: &Node<'_>) -> Result<Op, OpError> {
    const ACTIVATION: usize = 0;
    const POT_SCALE_INT16: usize = 1;
    let options = node.options(kind(11, "AddOptions", 2))?;
    if options.flag_unless_cleared(POT_SCALE_INT16)? && node.result.dtype == W {
        return Err("pot_scale_int16 (scales that are powers of two) is not supported".into());
    }
    Ok(Add { activation: options.activation(ACTIVATION)? }.into())
}

fn conv_2d(node: &Node<'_>) -> Result<Op, OpError> {
    const PADDING: usize = 0;
    const STRIDE_W: usize = 1;
    const STRIDE_H: usize = 2;
    const ACTIVATION: usize = 3;
    const DILATION_W: usize = 4;
    const DILATION_H: usize = 5;
    const BIAS_TYPE: usize = 6;
    let options = node.options(kind(1, "Conv2DOptions", 7))?;
    bias_type(&options, BIAS_TYPE)?;
    let op = Conv2d {
        stride: [options.count(STRIDE_H, 0, "stride_h")?, options.count(STRIDE_W, 0, "stride_w")?],
        dilation: [
            options.count(DILATION_H, 1, "dilation_h_factor")?,
            options.count(DILATION_W, 1, "dilation_w_factor")?,
        ],
        padding: options.padding(PADDING)?,
        activation: options.activation(ACTIVATION)?,
    };
    Ok(op.into())
}

fn depthwise_conv_2d(node: &Node<'_>) -> Result<Op, OpError> {
    const PADDING: usize = 0;
    const STRIDE_W: usize = 1;
    const STRIDE_H: usize = 2;
    const DEPTH_MULTIPLIER: usize = 3;
    const ACTIVATION: usize = 4;
    const DILATION_W: usize = 5;
    const DILATION_H: usize = 6;
    let options = node.options(kind(2, "DepthwiseConv2DOptions", 7))?;
    // The shapes say it already; 0 leaves it to them.
    let multiplier = options.i32(DEPTH_MULTIPLIER)?;
    let (x, weights) = (node.shape(0)?, node.shape(1)?);
    let ([.., channels], [.., out]) = (x.array::<4>()?, weights.array::<4>()?);
    if multiplier != 0 && usize::try_from(multiplier).ok().and_then(|m| m.checked_mul(channels)) != Some(out)
    {
        let message = format!("depth_multiplier is {multiplier}, {channels} channels become {out}");
        return Err(message.into());
    }
    let op = DepthwiseConv2d {
        stride: [options.count(STRIDE_H, 0, "stride_h")?, options.count(STRIDE_W, 0, "stride_w")?],
        dilation: [
            options.count(DILATION_H, 1, "dilation_h_factor")?,
            options.count(DILATION_W, 1, "dilation_w_factor")?,
        ],
        padding: options.padding(PADDING)?,
        activation: options.activation(ACTIVATION)?,
    };
    Ok(op.into())
}

fn fully_connected(node: &Node<'_>) -> Result<Op, OpError> {
    const ACTIVATION: usize = 0;
    const WEIGHTS_FORMAT: usize = 1;
    const KEEP_NUM_DIMS: usize = 2;
    const ASYMMETRIC_QUANTIZE_INPUTS: usize = 3;
    const BIAS_TYPE: usize = 4;
    let options = node.options(kind(8, "FullyConnectedOptions", 5))?;
    options.only(WEIGHTS_FORMAT, &[0], "weights_format")?;
    bias_type(&options, BIAS_TYPE)?;
    if options.flag(ASYMMETRIC_QUANTIZE_INPUTS)? && node.result.dtype == F {
        return Err("asymmetric_quantize_inputs is not supported".into());
    }
    let op = FullyConnected {
        keep_dimensions: options.flag(KEEP_NUM_DIMS)?,
        activation: options.activation(ACTIVATION)?,
    };
    Ok(op.into())
}

/// The type of the bias; 0 (float32) where the file does not say.
fn bias_type(options: &Options<'_>, slot: usize) -> Result<(), OpError> {
    options.only(slot, &[names::FLOAT32, names::INT32], "quantized_bias_type")
}

mod pool {
    pub(super) const PADDING: usize = 0;
    pub(super) const STRIDE_W: usize = 1;
    pub(super) const STRIDE_H: usize = 2;
    pub(super) const FILTER_W: usize = 3;
    pub(super) const FILTER_H: usize = 4;
    pub(super) const ACTIVATION: usize = 5;
    pub(super) const OPTIONS: super::super::node::Kind = super::kind(5, "Pool2DOptions", 6);
}

/// Window, stride, padding and activation of a pool.
fn pool_2d(node: &Node<'_>) -> Result<([usize; 2], [usize; 2], Padding2d, Activation), OpError> {
    let options = node.options(pool::OPTIONS)?;
    let window = [
        options.count(pool::FILTER_H, 0, "filter_height")?,
        options.count(pool::FILTER_W, 0, "filter_width")?,
    ];
    let stride =
        [options.count(pool::STRIDE_H, 0, "stride_h")?, options.count(pool::STRIDE_W, 0, "stride_w")?];
    Ok((window, stride, options.padding(pool::PADDING)?, options.activation(pool::ACTIVATION)?))
}

fn average_pool_2d(node: &Node<'_>) -> Result<Op, OpError> {
    let (window, stride, padding, activation) = pool_2d(node)?;
    Ok(AveragePool2d { window, stride, padding, activation }.into())
}

fn max_pool_2d(node: &Node<'_>) -> Result<Op, OpError> {
    let (window, stride, padding, activation) = pool_2d(node)?;
    Ok(MaxPool2d { window, stride, padding, activation }.into())
}

fn softmax(node: &Node<'_>) -> Result<Op, OpError> {
    const BETA: usize = 0;
    let options = node.options(kind(9, "SoftmaxOptions", 1))?;
    Ok(Softmax { beta: options.f32(BETA)? }.into())
}

fn quantize(node: &Node<'_>) -> Result<Op, OpError> {
    node.optional_options(kind(89, "QuantizeOptions", 0))?;
    Ok(Quantize { dtype: node.result.dtype }.into())
}

fn dequantize(node: &Node<'_>) -> Result<Op, OpError> {
    node.optional_options(kind(38, "DequantizeOptions", 0))?;
    Ok(Dequantize {}.into())
}

fn mean(node: &Node<'_>) -> Result<Op, OpError> {
    const KEEP_DIMS: usize = 0;
    let options = node.options(kind(27, "ReducerOptions", 1))?;
    let axes = node.integers(1)?.ok_or("the axes are left out")?;
    let rank = node.shape(0)?.len();
    // The format lets an axis stand twice; it is reduced once.
    let axes: std::collections::BTreeSet<_> =
        axes.values.iter().map(|axis| checked_axis(*axis, rank)).collect::<Result<_, _>>()?;
    Ok(Mean { axes: axes.into_iter().collect(), keep_dimensions: options.flag(KEEP_DIMS)? }.into())
}

fn reshape(node: &Node<'_>) -> Result<Op, OpError> {
    const NEW_SHAPE: usize = 0;
    let options = node.optional_options(kind(17, "ReshapeOptions", 1))?;
    let target = match node.integers(1)? {
        Some(operand) if operand.rank == 1 => operand.values,
        Some(operand) => return Err(format!("the new shape has rank {}, expected 1", operand.rank).into()),
        None => match options.i32s(NEW_SHAPE)?.as_slice() {
            // Old files say so that the result is a scalar.
            [0] => Vec::new(),
            [] => return Err("the new shape is missing".into()),
            extents => extents.to_vec(),
        },
    };
    Ok(Reshape { shape: resolve(node.shape(0)?, &target)? }.into())
}

/// The shape `target` for the elements of `x`, where -1 takes what is left.
fn resolve(x: &Shape, target: &[i64]) -> Result<Shape, OpError> {
    // Also keeps the messages below short.
    if target.len() > Shape::MAX_RANK {
        return Err(
            format!("the new shape has rank {}, the limit is {}", target.len(), Shape::MAX_RANK).into()
        );
    }
    let stated = target.iter().filter(|extent| **extent != -1);
    let product = stated.clone().try_fold(1_i64, |product, extent| product.checked_mul(*extent));
    let open = target.len() - stated.clone().count();
    let refuse = |why: &str| Err(format!("the new shape {target:?} for {x} {why}").into());
    let Some(product) = product.filter(|_| stated.clone().all(|extent| *extent > 0)) else {
        return refuse("has an extent that is neither at least 1 nor -1, or is too large");
    };
    let elements = x.elements() as i64;
    if open > 1 || (open == 1 && elements % product != 0) {
        return refuse("leaves more than one extent open, or one without a solution");
    }
    let extent = |extent: &i64| usize::try_from(if *extent == -1 { elements / product } else { *extent });
    let extents = target.iter().map(extent).collect::<Result<Vec<_>, _>>();
    Ok(Shape::new(extents.map_err(|_| "the new shape is too large")?)?)
}

fn squeeze(node: &Node<'_>) -> Result<Op, OpError> {
    const SQUEEZE_DIMS: usize = 0;
    let options = node.options(kind(30, "SqueezeOptions", 1))?;
    let x = node.shape(0)?;
    let axes = options.i32s(SQUEEZE_DIMS)?;
    let axes = axes.iter().map(|axis| checked_axis(*axis, x.len())).collect::<Result<Vec<_>, _>>()?;
    if let Some(axis) = axes.iter().find(|axis| x.get(**axis) != Some(&1)) {
        return Err(format!("axis {axis} of {x} has no extent of 1").into());
    }
    // No axes stand for all that can be left out.
    let keep = |axis: usize, extent: usize| if axes.is_empty() { extent != 1 } else { !axes.contains(&axis) };
    let kept = x.iter().enumerate().filter(|(axis, extent)| keep(*axis, **extent));
    Ok(Reshape { shape: Shape::new(kept.map(|(_, extent)| *extent).collect::<Vec<_>>())? }.into())
}

fn expand_dims(node: &Node<'_>) -> Result<Op, OpError> {
    node.optional_options(kind(52, "ExpandDimsOptions", 0))?;
    let axes = node.integers(1)?.ok_or("the axis is left out")?;
    let &[axis] = axes.values.as_slice() else {
        return Err(format!("{} axes, expected 1", axes.values.len()).into());
    };
    let mut extents = node.shape(0)?.to_vec();
    let axis = checked_axis(axis, extents.len() + 1)?;
    extents.insert(axis, 1);
    Ok(Reshape { shape: Shape::new(extents)? }.into())
}

/// An axis of `rank`; negative ones count from the end.
pub(super) fn checked_axis(value: i64, rank: usize) -> Result<usize, OpError> {
    // A shape's rank is at most 8.
    let count = rank as i64;
    let axis = if value < 0 { value.saturating_add(count) } else { value };
    let axis = usize::try_from(axis).ok().filter(|axis| *axis < rank);
    axis.ok_or_else(|| format!("axis {value} is outside -{count}..{count}").into())
}
