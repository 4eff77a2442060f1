//! Types of operands and result that belong together, as rows of the tables of operators.

use aot_rt::DType;

pub(super) const F: DType = DType::F32;
pub(super) const I: DType = DType::I8;
pub(super) const B: DType = DType::Bool;

/// Wide activations, whose weights are int8 and whose biases are int64.
pub(super) const W: DType = DType::I16;
/// Legacy quantization.
pub(super) const U: DType = DType::U8;

pub(super) const UNARY: &[&[DType]] = &[&[F, F], &[I, I]];
pub(super) const UNARY_OR_LEGACY: &[&[DType]] = &[&[F, F], &[I, I], &[U, U]];
pub(super) const WITH_SHORTS: &[&[DType]] = &[&[F, F], &[I, I], &[W, W]];
/// Any numbers, quantized where they are integers.
pub(super) const ONE: &[&[DType]] = &[&[F, F], &[I, I], &[U, U], &[W, W]];
pub(super) const TWO: &[&[DType]] = &[&[F; 3], &[I; 3], &[U; 3], &[W; 3]];
pub(super) const ABS: &[&[DType]] = &[&[F, F], &[I, I], &[W, W], &[DType::I32; 2]];
pub(super) const NEG: &[&[DType]] = &[&[F, F], &[I, I], &[W, W], &[DType::I32; 2], &[DType::I64; 2]];
pub(super) const SOFTMAX: &[&[DType]] = &[&[F, F], &[I, I], &[U, U], &[W, W], &[I, W]];
pub(super) const SCALED: &[&[DType]] =
    &[&[F; 3], &[I; 3], &[U; 3], &[W; 3], &[DType::I32; 3], &[DType::I64; 3]];
pub(super) const SQUARED: &[&[DType]] = &[&[F; 3], &[I; 3], &[W; 3], &[DType::I32; 3]];
pub(super) const QUOTIENT: &[&[DType]] = &[&[F; 3], &[I; 3], &[U; 3], &[DType::I32; 3]];
pub(super) const FLOATS_OR_INTEGERS: &[&[DType]] = &[&[F; 3], &[DType::I32; 3]];
pub(super) const MODULO: &[&[DType]] = &[&[F; 3], &[DType::I32; 3], &[DType::I64; 3]];
pub(super) const POWER: &[&[DType]] = &[&[F; 3]];
pub(super) const WITH_WEIGHTS: &[&[DType]] =
    &[&[F, F, F, F], &[F, I, F, F], &[I, I, DType::I32, I], &[U, U, DType::I32, U], &[W, I, DType::I64, W]];
pub(super) const TO_INTEGER: &[&[DType]] = &[
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
    &[I, DType::I32],
    &[W, DType::I32],
    &[DType::I32, W],
    &[DType::I32, I],
];
pub(super) const TO_FLOAT: &[&[DType]] = &[&[I, F], &[U, F], &[W, F], &[DType::F16, F]];
pub(super) const MOVED: &[&[DType]] = &[
    &[F, F],
    &[I, I],
    &[U, U],
    &[DType::I16, DType::I16],
    &[DType::I32, DType::I32],
    &[DType::I64, DType::I64],
    &[B, B],
    &[DType::U32, DType::U32],
    &[DType::U64, DType::U64],
];
pub(super) const GATHERED: &[&[DType]] = &[
    &[F, DType::I32, F],
    &[I, DType::I32, I],
    &[DType::I16, DType::I32, DType::I16],
    &[DType::I32, DType::I32, DType::I32],
    &[F, DType::I64, F],
    &[I, DType::I64, I],
    &[U, DType::I32, U],
    &[U, DType::I64, U],
    &[DType::I16, DType::I64, DType::I16],
    &[DType::I32, DType::I64, DType::I32],
    &[DType::I64, DType::I32, DType::I64],
    &[DType::I64, DType::I64, DType::I64],
    &[B, DType::I32, B],
    &[B, DType::I64, B],
];
pub(super) const COMPARED: &[&[DType]] = &[
    &[F, F, B],
    &[I, I, B],
    &[U, U, B],
    &[W, W, B],
    &[DType::I32, DType::I32, B],
    &[DType::I64, DType::I64, B],
    &[B, B, B],
];
pub(super) const GATHERED_ND: &[&[DType]] = &[
    &[F, DType::I32, F],
    &[I, DType::I32, I],
    &[U, DType::I32, U],
    &[W, DType::I32, W],
    &[DType::I32; 3],
    &[DType::I64, DType::I32, DType::I64],
    &[B, DType::I32, B],
];
pub(super) const EMBEDDED: &[&[DType]] = &[&[DType::I32, F, F], &[DType::I32, I, I], &[DType::I32, I, F]];
/// Indices and the two values; the depth between them is an attribute.
pub(super) const ONE_HOT: &[&[DType]] = &[
    &[DType::I32, F, F, F],
    &[DType::I32, I, I, I],
    &[DType::I32, U, U, U],
    &[DType::I32; 4],
    &[DType::I32, DType::I64, DType::I64, DType::I64],
    &[DType::I32, B, B, B],
    &[DType::I64, F, F, F],
    &[DType::I64, I, I, I],
    &[DType::I64, DType::I32, DType::I32, DType::I32],
    &[DType::I64; 4],
    &[DType::I64, B, B, B],
];
pub(super) const SUMMED: &[&[DType]] = &[&[F, F], &[I, I], &[W, W], &[DType::I32; 2]];
pub(super) const COUNTED: &[&[DType]] = &[&[F, F], &[I, I], &[DType::I32; 2]];
pub(super) const EXTREMES: &[&[DType]] = &[&[F, F], &[I, I], &[U, U], &[DType::I32; 2]];
pub(super) const SEARCHED: &[&[DType]] = &[
    &[F, DType::I32],
    &[I, DType::I32],
    &[U, DType::I32],
    &[DType::I32; 2],
    &[F, DType::I64],
    &[I, DType::I64],
    &[U, DType::I64],
    &[DType::I32, DType::I64],
];
/// Rows for each of the two results.
pub(super) const TOP: &[&[DType]] =
    &[&[F, F], &[F, DType::I32], &[I, I], &[I, DType::I32], &[U, U], &[U, DType::I32], &[DType::I32; 2]];
pub(super) const LOGICAL: &[&[DType]] = &[&[B, B, B]];
pub(super) const SELECTED: &[&[DType]] = &[
    &[B, F, F, F],
    &[B, I, I, I],
    &[B, U, U, U],
    &[B, DType::I16, DType::I16, DType::I16],
    &[B, DType::I32, DType::I32, DType::I32],
    &[B, DType::I64, DType::I64, DType::I64],
    &[B, B, B, B],
];
pub(super) const CAST: &[&[DType]] = &[
    &[F, F],
    &[F, I],
    &[F, DType::I16],
    &[F, DType::I32],
    &[F, DType::U32],
    &[F, DType::I64],
    &[F, B],
    &[I, F],
    &[I, I],
    &[I, DType::I16],
    &[I, DType::I32],
    &[I, DType::U32],
    &[I, DType::I64],
    &[I, B],
    &[DType::I16, F],
    &[DType::I16, I],
    &[DType::I16, DType::I16],
    &[DType::I16, DType::I32],
    &[DType::I16, DType::I64],
    &[DType::I16, B],
    &[DType::I16, DType::U32],
    &[DType::I32, F],
    &[DType::I32, I],
    &[DType::I32, DType::I16],
    &[DType::I32, DType::I32],
    &[DType::I32, DType::U32],
    &[DType::I32, DType::I64],
    &[DType::I32, B],
    &[DType::U32, F],
    &[DType::U32, I],
    &[DType::U32, DType::I16],
    &[DType::U32, DType::I32],
    &[DType::U32, DType::U32],
    &[DType::U32, DType::I64],
    &[DType::U32, B],
    &[DType::I64, F],
    &[DType::I64, I],
    &[DType::I64, DType::I16],
    &[DType::I64, DType::I32],
    &[DType::I64, DType::U32],
    &[DType::I64, DType::I64],
    &[DType::I64, B],
    &[B, F],
    &[B, I],
    &[B, DType::I16],
    &[B, DType::I32],
    &[B, DType::I64],
    &[B, B],
];
/// Of what there are shapes.
pub(super) const MEASURED: &[&[DType]] = &[
    &[F, DType::I32],
    &[F, DType::I64],
    &[I, DType::I32],
    &[I, DType::I64],
    &[U, DType::I32],
    &[U, DType::I64],
    &[DType::I16, DType::I32],
    &[DType::I16, DType::I64],
    &[DType::I32, DType::I32],
    &[DType::I32, DType::I64],
    &[DType::I64, DType::I32],
    &[DType::I64, DType::I64],
    &[B, DType::I32],
    &[B, DType::I64],
];
