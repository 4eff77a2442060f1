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
pub(super) const BINARY: &[&[DType]] = &[&[F, F, F], &[I, I, I]];
pub(super) const BINARY_FLOAT: &[&[DType]] = &[&[F, F, F]];
pub(super) const ARITHMETIC: &[&[DType]] = &[&[F, F, F], &[I, I, I], &[DType::I32; 3]];
pub(super) const FLOAT_OR_INTEGER: &[&[DType]] = &[&[F, F, F], &[DType::I32; 3]];
pub(super) const ADDED: &[&[DType]] = &[&[F, F, F], &[I, I, I], &[U, U, U], &[W, W, W], &[DType::I32; 3]];
pub(super) const WITH_WEIGHTS: &[&[DType]] =
    &[&[F, F, F, F], &[F, I, F, F], &[I, I, DType::I32, I], &[U, U, DType::I32, U], &[W, I, DType::I64, W]];
/// As [`WITH_WEIGHTS`], without int8 weights under float activations.
pub(super) const QUANTIZED_TOGETHER: &[&[DType]] =
    &[&[F, F, F, F], &[I, I, DType::I32, I], &[U, U, DType::I32, U], &[W, I, DType::I64, W]];
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
    &[DType::I32, W],
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
];
pub(super) const GATHERED: &[&[DType]] = &[
    &[F, DType::I32, F],
    &[I, DType::I32, I],
    &[DType::I16, DType::I32, DType::I16],
    &[DType::I32, DType::I32, DType::I32],
    &[F, DType::I64, F],
    &[I, DType::I64, I],
    &[U, DType::I32, U],
];
pub(super) const COMPARED: &[&[DType]] =
    &[&[F, F, B], &[I, I, B], &[DType::I32, DType::I32, B], &[DType::I64, DType::I64, B], &[B, B, B]];
pub(super) const LOGICAL: &[&[DType]] = &[&[B, B, B]];
pub(super) const SELECTED: &[&[DType]] = &[
    &[B, F, F, F],
    &[B, I, I, I],
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
