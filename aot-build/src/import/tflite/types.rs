//! Types of operands and result that belong together, as rows of the tables of operators.

use aot_rt::DType;

/// Rows of the types of operands, and last of the result.
pub(super) type Rows = &'static [&'static [DType]];

pub(super) const B: DType = DType::Bool;
pub(super) const F: DType = DType::F32;
pub(super) const BF16: DType = DType::BF16;
pub(super) const F16: DType = DType::F16;
pub(super) const I: DType = DType::I8;
/// Two in a byte; a constant is int8 in the graph where an operator computes with it.
pub(super) const I4: DType = DType::I4;
pub(super) const I32: DType = DType::I32;
pub(super) const I64: DType = DType::I64;
/// Legacy quantization.
pub(super) const U: DType = DType::U8;
pub(super) const U32: DType = DType::U32;
pub(super) const U64: DType = DType::U64;
/// Wide activations, whose weights are int8 and whose biases are int64.
pub(super) const W: DType = DType::I16;

/// For each type, a row of so many operands and a result of it. Such rows are named after the
/// number of operands and the types, others after the operator.
macro_rules! alike {
    ($operands:literal: $($dtype:ident),*) => {
        &[$(&[$dtype; $operands + 1]),*]
    };
}

pub(super) const ONE_B: Rows = alike!(1: B);
pub(super) const ONE_F: Rows = alike!(1: F);
pub(super) const ONE_F_I: Rows = alike!(1: F, I);
pub(super) const ONE_F_I_I32: Rows = alike!(1: F, I, I32);
pub(super) const ONE_F_I_U: Rows = alike!(1: F, I, U);
pub(super) const ONE_F_I_U_I32: Rows = alike!(1: F, I, U, I32);
pub(super) const ONE_F_I_U_W: Rows = alike!(1: F, I, U, W);
pub(super) const ONE_F_I_W: Rows = alike!(1: F, I, W);
pub(super) const ONE_F_I_W_I32: Rows = alike!(1: F, I, W, I32);
pub(super) const ONE_F_I_W_I32_I64: Rows = alike!(1: F, I, W, I32, I64);
pub(super) const ONE_OF_ANY: Rows = alike!(1: F, I, U, W, I32, I64, B, U32, U64);
/// What is neither moved nor computed with.
pub(super) const ONE_UNTOUCHED: Rows = alike!(1: F, I, U, W, I32, I64, B, U32, U64, F16, BF16, I4);
pub(super) const TWO_B: Rows = alike!(2: B);
pub(super) const TWO_F: Rows = alike!(2: F);
pub(super) const TWO_F_I32: Rows = alike!(2: F, I32);
pub(super) const TWO_F_I32_I64: Rows = alike!(2: F, I32, I64);
pub(super) const TWO_F_I_U_I32: Rows = alike!(2: F, I, U, I32);
pub(super) const TWO_F_I_U_W: Rows = alike!(2: F, I, U, W);
pub(super) const TWO_F_I_U_W_I32_I64: Rows = alike!(2: F, I, U, W, I32, I64);
pub(super) const TWO_F_I_W: Rows = alike!(2: F, I, W);
pub(super) const TWO_F_I_W_I32: Rows = alike!(2: F, I, W, I32);

/// Index of the greatest or least element.
pub(super) const ARG: Rows =
    &[&[F, I32], &[I, I32], &[U, I32], &[I32, I32], &[F, I64], &[I, I64], &[U, I64], &[I32, I64]];
pub(super) const CAST: Rows = &[
    &[F, F],
    &[F, I],
    &[F, W],
    &[F, I32],
    &[F, U32],
    &[F, I64],
    &[F, B],
    &[I, F],
    &[I, I],
    &[I, W],
    &[I, I32],
    &[I, U32],
    &[I, I64],
    &[I, B],
    &[W, F],
    &[W, I],
    &[W, W],
    &[W, I32],
    &[W, I64],
    &[W, B],
    &[W, U32],
    &[I32, F],
    &[I32, I],
    &[I32, W],
    &[I32, I32],
    &[I32, U32],
    &[I32, I64],
    &[I32, B],
    &[U32, F],
    &[U32, I],
    &[U32, W],
    &[U32, I32],
    &[U32, U32],
    &[U32, I64],
    &[U32, B],
    &[I64, F],
    &[I64, I],
    &[I64, W],
    &[I64, I32],
    &[I64, U32],
    &[I64, I64],
    &[I64, B],
    &[B, F],
    &[B, I],
    &[B, W],
    &[B, I32],
    &[B, I64],
    &[B, B],
    &[F, F16],
    &[F16, F],
    &[F16, I32],
    &[F, BF16],
    &[BF16, F],
    &[I4, F],
    &[I4, I],
    &[I4, W],
    &[I4, I32],
    &[I, I4],
];
pub(super) const COMPARISON: Rows =
    &[&[F, F, B], &[I, I, B], &[U, U, B], &[W, W, B], &[I32, I32, B], &[I64, I64, B], &[B, B, B]];
pub(super) const DEQUANTIZE: Rows = &[&[I, F], &[U, F], &[W, F], &[F16, F], &[I4, F]];
pub(super) const EMBEDDING_LOOKUP: Rows = &[&[I32, F, F], &[I32, I, I], &[I32, I, F]];
pub(super) const GATHER: Rows = &[
    &[F, I32, F],
    &[I, I32, I],
    &[W, I32, W],
    &[I32, I32, I32],
    &[F, I64, F],
    &[I, I64, I],
    &[U, I32, U],
    &[U, I64, U],
    &[W, I64, W],
    &[I32, I64, I32],
    &[I64, I32, I64],
    &[I64, I64, I64],
    &[B, I32, B],
    &[B, I64, B],
];
pub(super) const GATHER_ND: Rows = &[
    &[F, I32, F],
    &[I, I32, I],
    &[U, I32, U],
    &[W, I32, W],
    &[I32, I32, I32],
    &[I64, I32, I64],
    &[B, I32, B],
];
/// Indices and the two values; the depth between them is an attribute.
pub(super) const ONE_HOT: Rows = &[
    &[I32, F, F, F],
    &[I32, I, I, I],
    &[I32, U, U, U],
    &[I32, I32, I32, I32],
    &[I32, I64, I64, I64],
    &[I32, B, B, B],
    &[I64, F, F, F],
    &[I64, I, I, I],
    &[I64, I32, I32, I32],
    &[I64, I64, I64, I64],
    &[I64, B, B, B],
];
pub(super) const QUANTIZE: Rows = &[
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
    &[I, I32],
    &[W, I32],
    &[I32, W],
    &[I32, I],
];
pub(super) const SELECT: Rows = &[
    &[B, F, F, F],
    &[B, I, I, I],
    &[B, U, U, U],
    &[B, W, W, W],
    &[B, I32, I32, I32],
    &[B, I64, I64, I64],
    &[B, B, B, B],
];
/// Rank or extents of a tensor.
pub(super) const SHAPES: Rows = &[
    &[F, I32],
    &[F, I64],
    &[I, I32],
    &[I, I64],
    &[U, I32],
    &[U, I64],
    &[W, I32],
    &[W, I64],
    &[I32, I32],
    &[I32, I64],
    &[I64, I32],
    &[I64, I64],
    &[B, I32],
    &[B, I64],
];
pub(super) const SOFTMAX: Rows = &[&[F, F], &[I, I], &[U, U], &[W, W], &[I, W]];
/// Rows for each of the two results.
pub(super) const TOP_K: Rows = &[&[F, F], &[F, I32], &[I, I], &[I, I32], &[U, U], &[U, I32], &[I32, I32]];
/// Operand, weights, bias.
pub(super) const WITH_WEIGHTS: Rows =
    &[&[F, F, F, F], &[F, I, F, F], &[I, I, I32, I], &[U, U, I32, U], &[W, I, I64, W]];
