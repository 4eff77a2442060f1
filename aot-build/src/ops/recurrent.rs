//! What recurrent operators share: checks of many operands, constants of several gates.

use aot_rt::DType;
use aot_rt::kernels::{RangeF32, Sequence};

use super::{Operands, quantized, weighted};
use crate::error::OpError;
use crate::graph::Tensor;
use crate::program::{NodeLowering, Operand};

/// Batch and steps of `x`, `[batch, steps, inputs]` or `[steps, batch, inputs]`; without the
/// axis of the steps, there is one.
pub(super) fn extents(x: &Tensor, time_major: bool) -> Result<[usize; 3], OpError> {
    match *x.ty.shape {
        [batch, inputs] => Ok([batch, 1, inputs]),
        [steps, batch, inputs] if time_major => Ok([batch, steps, inputs]),
        [batch, steps, inputs] => Ok([batch, steps, inputs]),
        _ => Err(format!("`{}` is {}, expected 2 or 3 axes", x.name, x.ty).into()),
    }
}

/// Checks type and shape of operand `i`, if it is there; gives whether it is.
pub(super) fn check(
    operands: &Operands<'_>,
    i: usize,
    dtype: DType,
    shape: &[usize],
) -> Result<bool, OpError> {
    let Some(tensor) = operands.optional(i) else { return Ok(false) };
    if tensor.ty.dtype == dtype && *tensor.ty.shape == *shape {
        return Ok(true);
    }
    let expected = format!("{} {shape:?}", dtype.name());
    Err(format!("operand {i}, `{}`, is {}, expected {expected}", tensor.name, tensor.ty).into())
}

/// Checks type and shape of operand `i`, which must be there.
pub(super) fn require(
    operands: &Operands<'_>,
    i: usize,
    dtype: DType,
    shape: &[usize],
) -> Result<(), OpError> {
    operands.get(i)?;
    check(operands, i, dtype, shape).map(drop)
}

/// The steps in which a layer runs.
pub(super) fn sequence([batch, steps, inputs]: [usize; 3], outputs: usize, time_major: bool) -> Sequence {
    Sequence { batch, steps, time_major, reverse: false, inputs, outputs, row: outputs, first: 0 }
}

/// The range that a limit of 0, none, or more stands for.
pub(super) fn clip(limit: f32, what: &str) -> Result<RangeF32, OpError> {
    match limit {
        0.0 => Ok(RangeF32::ALL),
        limit if limit > 0.0 => Ok(RangeF32 { min: -limit, max: limit }),
        limit => Err(format!("{what} is {limit}, expected at least 0").into()),
    }
}

/// The bytes of the constants `operands`, one after the other.
fn joined(node: &NodeLowering<'_, '_>, operands: &[usize]) -> Result<Vec<u8>, OpError> {
    let mut bytes = Vec::new();
    for &i in operands {
        let tensor = node.input(i)?;
        let Some(data) = &tensor.data else {
            return Err(format!("operand {i}, `{}`, is not constant", tensor.name).into());
        };
        bytes.extend(data.bytes());
    }
    Ok(bytes)
}

/// The constants `operands` as one; none where the first is left out.
pub(super) fn constants(
    node: &mut NodeLowering<'_, '_>,
    dtype: DType,
    operands: &[usize],
) -> Result<Operand, OpError> {
    if operands.first().is_none_or(|first| node.optional(*first).is_none()) {
        return Ok(node.constant(dtype, &[]));
    }
    let bytes = joined(node, operands)?;
    Ok(node.constant(dtype, &bytes))
}

/// The float matrices `operands`, with rows of so many elements, as one, packed; none where
/// the first is left out.
pub(super) fn packed(
    node: &mut NodeLowering<'_, '_>,
    operands: &[usize],
    columns: usize,
) -> Result<Operand, OpError> {
    if operands.first().is_none_or(|first| node.optional(*first).is_none()) {
        return Ok(node.constant(DType::F32, &[]));
    }
    let bytes = joined(node, operands)?;
    let rows = bytes.len() / size_of::<f32>() / columns;
    let packed = weighted::pack::<{ size_of::<f32>() }>(&bytes, rows, columns);
    Ok(node.packed(DType::F32, &bytes, packed))
}

/// The largest sum of `count` int8 products and a bias of operand `bias` has 32 bits.
pub(super) fn check_sums(
    node: &NodeLowering<'_, '_>,
    count: usize,
    bias: Option<usize>,
) -> Result<(), OpError> {
    let mut largest = 0;
    if let Some(tensor) = bias.and_then(|i| node.optional(i)) {
        let Some(data) = &tensor.data else {
            return Err(format!("bias `{}` is not a constant: the sums have no bound", tensor.name).into());
        };
        let magnitudes = data.integers(tensor.ty.dtype)?.into_iter().map(i64::unsigned_abs);
        largest = magnitudes.max().unwrap_or(0);
    }
    quantized::check_sum(1, (count as u64).saturating_mul(255 * 128).saturating_add(largest), 0)
}

/// The scale of int8 weights: one, with zero point 0.
pub(super) fn weight_scale(node: &NodeLowering<'_, '_>, i: usize) -> Result<f32, OpError> {
    let weights = node.input(i)?;
    match quantized::weight_scales(weights, 0)? {
        &[scale] => Ok(scale),
        scales => {
            let count = scales.len();
            Err(format!("operand {i}, `{}`, has {count} scales, expected one", weights.name).into())
        }
    }
}

/// The scale of an operand whose zero point must be 0.
pub(super) fn symmetric_scale(tensor: &Tensor) -> Result<f32, OpError> {
    let found = quantized::tensor_wide(tensor)?;
    if found.zero_point != 0 {
        let zero_point = found.zero_point;
        return Err(format!("`{}` has zero point {zero_point}, expected 0", tensor.name).into());
    }
    Ok(found.scale)
}
