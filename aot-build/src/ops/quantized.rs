//! What the quantized lowerings share: scales, multipliers, bounds.

use aot_rt::fixed_point::Multiplier;
use aot_rt::{DType, Quantization};

use crate::error::OpError;
use crate::graph::Tensor;
use crate::program::{NodeLowering, Operand};

/// Scale and zero point of an activation.
///
/// # Errors
///
/// When it has none, or one for each channel.
pub(super) fn tensor_wide(tensor: &Tensor) -> Result<Quantization, OpError> {
    let quantization = tensor.ty.quantization.as_ref().ok_or_else(|| {
        OpError::from(format!("`{}` is {} without scale and zero point", tensor.name, tensor.ty))
    })?;
    quantization
        .tensor_wide()
        .ok_or_else(|| format!("`{}` has a scale for each channel, one is needed", tensor.name).into())
}

/// Scales of weights: one, or one for each of `channels` along `axis`.
///
/// # Errors
///
/// When there are none, or of another axis, or a zero point is not 0.
pub(super) fn weight_scales(weights: &Tensor, axis: usize) -> Result<&[f32], OpError> {
    let Some(quantization) = &weights.ty.quantization else {
        return Err(format!("weights `{}` have no scale", weights.name).into());
    };
    let scales = quantization.scales();
    if scales.len() > 1 && quantization.axis() != axis {
        let found = quantization.axis();
        return Err(
            format!("weights `{}` have scales along axis {found}, expected {axis}", weights.name).into()
        );
    }
    if quantization.zero_points().iter().any(|z| *z != 0) {
        return Err(format!("weights `{}` have a zero point other than 0", weights.name).into());
    }
    Ok(scales)
}

/// The multiplier for a real factor.
///
/// # Errors
///
/// When the factor is too large.
pub(super) fn multiplier(real: f64) -> Result<Multiplier, OpError> {
    Multiplier::from_real(real).ok_or_else(|| format!("the scales' ratio {real} is too large").into())
}

/// Multipliers and shifts as constants: one each, or one for each channel.
///
/// # Errors
///
/// When a factor is too large.
pub(super) fn multipliers(
    node: &mut NodeLowering<'_, '_>,
    factors: impl IntoIterator<Item = f64>,
) -> Result<[Operand; 2], OpError> {
    let multipliers = factors.into_iter().map(multiplier).collect::<Result<Vec<_>, _>>()?;
    let values: Vec<u8> = multipliers.iter().flat_map(|m| m.multiplier.to_le_bytes()).collect();
    let shifts: Vec<u8> = multipliers.iter().map(|m| (m.shift as i8).cast_unsigned()).collect();
    Ok([node.constant(DType::I32, &values), node.constant(DType::I8, &shifts)])
}

/// The bias as an operand: empty where it is left out.
///
/// # Errors
///
/// When it has another element type or number of elements.
pub(super) fn bias(
    node: &mut NodeLowering<'_, '_>,
    operand: usize,
    dtype: DType,
    channels: usize,
) -> Result<Operand, OpError> {
    let Some(bias) = node.optional(operand) else { return Ok(node.constant(dtype, &[])) };
    if bias.ty.dtype != dtype || bias.ty.shape.elements() != channels {
        let expected = dtype.name();
        return Err(format!("bias `{}` is {}, expected {channels} of {expected}", bias.name, bias.ty).into());
    }
    node.read(operand)
}

/// Refuses a layer whose int8 accumulator could leave 32 bits: `terms` products of
/// at most `255 * 128`, and a bias.
///
/// # Errors
///
/// When it could.
pub(super) fn check_accumulator(terms: usize, bias: Option<&Tensor>) -> Result<(), OpError> {
    let bias = match bias.and_then(|bias| bias.data.as_ref().map(|data| (data, bias.ty.dtype))) {
        Some((data, dtype)) => data.integers(dtype)?.iter().map(|b| b.unsigned_abs()).max().unwrap_or(0),
        None => 0,
    };
    if (terms as u64).saturating_mul(255 * 128).saturating_add(bias) > i32::MAX as u64 {
        return Err(format!("{terms} products and a bias of {bias} can overflow 32 bits").into());
    }
    Ok(())
}
