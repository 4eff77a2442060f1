//! What the quantized lowerings share: scales, multipliers, bounds.

use aot_rt::fixed_point::{Multiplier, Rounding};
use aot_rt::kernels::{Kernel, LookupI8, OutputI8, RangeF32, rescale_table};
use aot_rt::{DType, Quantization};

use super::Activation;
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

/// Whether the integers of a tensor are a file's uint8.
pub(super) fn legacy(tensor: &Tensor) -> bool {
    tensor.ty.quantization.as_ref().is_some_and(|quantization| quantization.legacy())
}

/// The 15 bits of a factor, and how far a product with them is shifted right.
///
/// # Errors
///
/// When the factor is 128 or more: sums of 47 bits fit then, which no layer exceeds.
pub(super) fn short_factor(factor: f64) -> Result<(i16, u8), OpError> {
    let multiplier = multiplier(factor)?;
    let shift = u8::try_from(15 - multiplier.shift).ok().filter(|shift| *shift > 7);
    let shift = shift.ok_or_else(|| format!("the scales' ratio {factor} is too large"))?;
    // As the reference does: the highest would be rounded up to 16 bits.
    let rounded = (i64::from(multiplier.multiplier) + (1 << 15)) >> 16;
    Ok((i16::try_from(rounded).unwrap_or(i16::MAX), shift))
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

/// Multipliers and shifts as constants.
pub(super) fn multipliers(node: &mut NodeLowering<'_, '_>, multipliers: &[Multiplier]) -> [Operand; 2] {
    let values: Vec<u8> = multipliers.iter().flat_map(|m| m.multiplier.to_le_bytes()).collect();
    // `Multiplier` keeps shifts within -31..=30.
    let shifts: Vec<u8> = multipliers.iter().map(|m| (m.shift as i8).cast_unsigned()).collect();
    [node.constant(DType::I32, &values), node.constant(DType::I8, &shifts)]
}

/// Scale and zero point of `x` and `y`, which must be equal: the operator only moves or
/// compares integers.
///
/// # Errors
///
/// When they differ, or one of the two has none.
pub(super) fn shared(x: &Tensor, y: &Tensor) -> Result<Quantization, OpError> {
    let (from, to) = (tensor_wide(x)?, tensor_wide(y)?);
    if from == to {
        return Ok(to);
    }
    let message = format!(
        "`{}` has scale {} and zero point {}, `{}` has scale {} and zero point {}: they must be equal",
        x.name, from.scale, from.zero_point, y.name, to.scale, to.zero_point
    );
    Err(OpError::from(message).help("a `quantize` between the two changes the scale"))
}

/// Checks that integers mean the same in `x` and `y`: the operator only moves them.
///
/// # Errors
///
/// When their scales or zero points differ.
pub(super) fn unchanged(x: &Tensor, y: &Tensor) -> Result<(), OpError> {
    if x.ty.quantization == y.ty.quantization {
        return Ok(());
    }
    shared(x, y).map(|_| ())
}

/// Zero point and range of the int8 or int16 result.
///
/// # Errors
///
/// When it has no scale, or one for each channel.
pub(super) fn output(node: &NodeLowering<'_, '_>, activation: Activation) -> Result<OutputI8, OpError> {
    let y = node.output(0);
    let quantization = tensor_wide(y)?;
    Ok(match y.ty.dtype {
        DType::I16 => activation.output_i16(quantization, node.single_rounding()),
        DType::I32 => OutputI8 {
            zero_point: quantization.zero_point,
            min: i32::MIN,
            max: i32::MAX,
            single_rounding: node.single_rounding(),
        },
        _ => activation.output_i8(quantization, node.single_rounding()),
    })
}

/// Scale and zero point of a tensor that must stand for 0 with 0, as kernels of int16 take it.
///
/// # Errors
///
/// When it has none, or another zero point.
pub(super) fn symmetric(tensor: &Tensor) -> Result<Quantization, OpError> {
    let quantization = tensor_wide(tensor)?;
    if quantization.zero_point == 0 {
        return Ok(quantization);
    }
    Err(format!("`{}` is {} with a zero point other than 0", tensor.name, tensor.ty.dtype.name()).into())
}

/// Refuses a result whose scale and zero point are not the ones that the arithmetic gives.
///
/// # Errors
///
/// When they are others.
pub(super) fn check_fixed(y: &Tensor, scale: f32, zero_point: i32) -> Result<(), OpError> {
    let found = tensor_wide(y)?;
    if found == (Quantization { scale, zero_point }) {
        return Ok(());
    }
    Err(format!(
        "`{}` has scale {} and zero point {}, the result has {scale} and {zero_point}",
        y.name, found.scale, found.zero_point
    )
    .into())
}

/// Refuses a sum of `count` terms, each at most `term`, that could leave 32 bits when it
/// is shifted left by `shift`.
///
/// # Errors
///
/// When it could.
pub(super) fn check_sum(count: u64, term: u64, shift: i32) -> Result<(), OpError> {
    let sum = count.saturating_mul(term);
    if sum <= i32::MAX as u64 >> shift.max(0) {
        return Ok(());
    }
    let shifted = if shift > 0 { format!(" when shifted by {shift}") } else { String::new() };
    Err(format!("a sum can reach {sum}, which overflows 32 bits{shifted}").into())
}

/// How the configuration asks to round.
pub(super) fn rounding(node: &NodeLowering<'_, '_>) -> Rounding {
    Rounding::of(node.single_rounding())
}

/// Appends the step that looks every int8 element up in `table`.
///
/// # Errors
///
/// When there is no operand.
pub(super) fn lookup(node: &mut NodeLowering<'_, '_>, table: [i8; 256]) -> Result<(), OpError> {
    let len = node.output(0).ty.shape.elements();
    let table = node.constant(DType::I8, &table.map(i8::cast_unsigned));
    let operands = vec![node.read(0)?, node.write(0), table];
    node.step(Kernel::LookupI8(LookupI8 { len }), operands, 0, format!("{len} elements, table"));
    Ok(())
}

/// Appends the step that brings int8 elements to the result's scale and limits them.
///
/// # Errors
///
/// When scales are missing, or too far apart.
pub(super) fn rescale(node: &mut NodeLowering<'_, '_>, range: RangeF32) -> Result<(), OpError> {
    let (x, y) = (tensor_wide(node.input(0)?)?, tensor_wide(node.output(0))?);
    let ratio = f64::from(x.scale) / f64::from(y.scale);
    check_sum(1, 255, multiplier(ratio)?.shift)?;
    let table = rescale_table(x, y, range, rounding(node));
    let table = table.ok_or_else(|| format!("the scales' ratio {ratio} is too large"))?;
    lookup(node, table)
}
