//! What layers with weights share: element types, bias, bounds, factors.
//!
//! Operands of such a layer: 0 `x`, 1 weights, 2 bias (optional).

use aot_rt::kernels::{DynamicRows, Kernel, packed_filters};
use aot_rt::{DType, f16};

use super::{no_kernel, quantized};
use crate::error::OpError;
use crate::graph::Tensor;
use crate::program::{NodeLowering, Operand};

/// What a layer computes in.
pub(super) enum Arithmetic {
    F32,
    /// Single precision with weights in half precision.
    F16,
    I8,
    /// Int16 activations with int8 weights, summed in 64 bits.
    I16,
    /// Int8 with activations that are quantized when they are there: dynamic range.
    Dynamic,
}

impl Arithmetic {
    /// Follows from the types of `x`, weights and `y`.
    ///
    /// # Errors
    ///
    /// When there is no kernel for them.
    pub(super) fn of(x: &Tensor, weights: &Tensor, y: &Tensor) -> Result<Self, OpError> {
        match (x.ty.dtype, weights.ty.dtype, y.ty.dtype) {
            (DType::F32, DType::F32, DType::F32) => Ok(Self::F32),
            (DType::F32, DType::F16, DType::F32) => Ok(Self::F16),
            (DType::I8, DType::I8, DType::I8) => Ok(Self::I8),
            (DType::I16, DType::I8, DType::I16) => Ok(Self::I16),
            (DType::F32, DType::I8, DType::F32) => Ok(Self::Dynamic),
            (x, w, y) => Err(no_kernel(&[x, w, y])),
        }
    }
}

/// The operands of a float kernel: `x`, `y`, weights, bias. The weights stay in their
/// order.
///
/// # Errors
///
/// When the bias is not `channels` numbers.
pub(super) fn operands_f32(
    node: &mut NodeLowering<'_, '_>,
    channels: usize,
) -> Result<Vec<Operand>, OpError> {
    let bias = bias(node, DType::F32, channels)?;
    Ok(vec![node.read(0)?, node.write(0), node.read(1)?, bias])
}

/// The operands of a float kernel, with `weights` in the place of the node's.
///
/// # Errors
///
/// When the bias is not `channels` numbers.
pub(super) fn operands_f32_with(
    node: &mut NodeLowering<'_, '_>,
    channels: usize,
    weights: Operand,
) -> Result<Vec<Operand>, OpError> {
    let bias = bias(node, DType::F32, channels)?;
    Ok(vec![node.read(0)?, node.write(0), weights, bias])
}

/// The operands of a float kernel that reads the filters of each of `groups` packed.
///
/// # Errors
///
/// When the bias is not `channels` numbers, or the weights are not constant.
pub(super) fn packed_operands_f32(
    node: &mut NodeLowering<'_, '_>,
    channels: usize,
    groups: usize,
) -> Result<Vec<Operand>, OpError> {
    let weights = node.input(1)?;
    let Some(data) = &weights.data else {
        return Err(format!("weights `{}` are not constant", weights.name).into());
    };
    let filter = weights.ty.shape.elements() / channels;
    let group = channels / groups;
    let packed = match weights.ty.dtype {
        DType::F16 => pack::<{ size_of::<f16>() }>(data.bytes(), group, filter),
        _ => pack::<{ size_of::<f32>() }>(data.bytes(), group, filter),
    };
    let packed = node.packed(weights.ty.dtype, data.bytes(), packed);
    // The weights as they are in the file are not read, and so not stored.
    operands_f32_with(node, channels, packed)
}

/// The filters of each group in the kernels' order.
pub(super) fn pack<const SIZE: usize>(bytes: &[u8], group: usize, filter: usize) -> Vec<u8> {
    // Whole elements, not bytes: cargo builds procedural macros without optimisation.
    let elements = bytes.as_chunks::<SIZE>().0;
    let mut packed = Vec::with_capacity(elements.len());
    for filters in elements.chunks(group * filter) {
        packed_filters(group, filter).for_each(|i| packed.push(filters[i]));
    }
    packed.into_flattened()
}

/// The operands of a kernel that quantizes `x` when it is there, in `rows`: `x`, `y`,
/// weights, bias, scales, how each row is quantized. Appends the steps that make them.
///
/// `axis` is that of the weights' output channels.
///
/// # Errors
///
/// When bias or scales do not fit, or a sum can overflow.
pub(super) fn dynamic_operands(
    node: &mut NodeLowering<'_, '_>,
    axis: usize,
    rows: usize,
    asymmetric: bool,
) -> Result<Vec<Operand>, OpError> {
    let (x, weights) = (node.input(0)?, node.input(1)?);
    let channels = weights.ty.shape[axis];
    let elements = x.ty.shape.elements();
    let largest = if asymmetric { 255 } else { 127 };
    quantized::check_sum((weights.ty.shape.elements() / channels) as u64, largest * 128, 0)?;
    let scales: Vec<u8> =
        quantized::weight_scales(weights, axis)?.iter().flat_map(|scale| scale.to_le_bytes()).collect();
    let (bias, scales) = (bias(node, DType::F32, channels)?, node.constant(DType::F32, &scales));
    let quantization = node.scratch("quantization", DType::F32, rows * 3);
    let quantized = node.scratch("quantized operand", DType::I8, elements);
    let (x, len) = (node.read(0)?, elements / rows);
    let params = DynamicRows { rows, len, asymmetric };
    let description = format!("scale and zero point, {rows} × {len} elements");
    node.step(Kernel::DynamicQuantizationF32(params), vec![x, quantization], 0, description);
    let description = format!("{elements} elements to i8");
    node.step(Kernel::QuantizeDynamicI8(params), vec![x, quantized, quantization], 0, description);
    Ok(vec![quantized, node.write(0), node.read(1)?, bias, scales, quantization])
}

/// Refuses a batch of images with int8 weights: the reference quantizes each by itself, and
/// the kernels of windows read one scale.
///
/// # Errors
///
/// When `x` is a batch.
pub(super) fn check_single_image(x: &Tensor) -> Result<(), OpError> {
    if x.ty.shape[0] == 1 {
        return Ok(());
    }
    let message = format!("`{}` is a batch of {}, and weights are i8", x.name, x.ty.shape[0]);
    Err(OpError::from(message).help("dynamic-range quantization takes one image at a time"))
}

/// The operands of an int8 kernel: `x`, `y`, weights, bias, multipliers, shifts.
///
/// `axis` is that of the weights' output channels, `factors` are the real factors of
/// the accumulators: one, or one for each channel.
///
/// # Errors
///
/// When the bias does not fit, an accumulator can overflow, or a factor is too large.
pub(super) fn operands_i8(
    node: &mut NodeLowering<'_, '_>,
    axis: usize,
    factors: &[f64],
) -> Result<Vec<Operand>, OpError> {
    let [bias, multipliers, shifts] = requantization_i8(node, axis, factors)?;
    Ok(vec![node.read(0)?, node.write(0), node.read(1)?, bias, multipliers, shifts])
}

/// The operands of an int8 kernel, with `weights` in the place of the node's, which they are
/// in another order.
///
/// # Errors
///
/// As [`operands_i8`].
pub(super) fn operands_i8_with(
    node: &mut NodeLowering<'_, '_>,
    axis: usize,
    factors: &[f64],
    weights: Operand,
) -> Result<Vec<Operand>, OpError> {
    let [bias, multipliers, shifts] = requantization_i8(node, axis, factors)?;
    Ok(vec![node.read(0)?, node.write(0), weights, bias, multipliers, shifts])
}

/// Bias, multipliers and shifts of an int8 kernel, see [`operands_i8`].
fn requantization_i8(
    node: &mut NodeLowering<'_, '_>,
    axis: usize,
    factors: &[f64],
) -> Result<[Operand; 3], OpError> {
    let channels = node.input(1)?.ty.shape[axis];
    let bias = bias(node, DType::I32, channels)?;
    check_bias_scale(node, axis)?;
    let multipliers =
        factors.iter().map(|&factor| quantized::multiplier(factor)).collect::<Result<Vec<_>, _>>()?;
    let bounds = accumulator_bounds(node, axis)?;
    for channel in 0..bounds.len().max(multipliers.len()) {
        let bound = bounds.get(channel).or(bounds.first()).copied().unwrap_or(0);
        let multiplier = multipliers.get(channel).or(multipliers.first());
        quantized::check_sum(1, bound, multiplier.map_or(0, |m| m.shift))
            .map_err(|error| format!("channel {channel}: {}", error.message))?;
    }
    let [multipliers, shifts] = quantized::multipliers(node, &multipliers);
    Ok([bias, multipliers, shifts])
}

/// The weights of an int8 layer as an operand of a kernel for four bits; `None` where the file
/// has them in eight, or a device is given them so.
///
/// # Errors
///
/// When there are no weights.
pub(super) fn four_bits(node: &mut NodeLowering<'_, '_>) -> Result<Option<Operand>, OpError> {
    let weights = node.input(1)?;
    let quantization = weights.ty.quantization.as_ref().filter(|quantization| quantization.four_bits());
    let (Some(_), Some(data), false) = (quantization, &weights.data, node.has_device()) else {
        return Ok(None);
    };
    let filter = weights.ty.shape.elements() / weights.ty.shape[0];
    let byte = |pair: &[u8]| pair[0] & 0x0f | pair.get(1).map_or(0, |second| second << 4);
    let filters = data.bytes().chunks(filter).flat_map(|filter| filter.chunks(2).map(byte));
    let packed: Vec<u8> = filters.collect();
    Ok(Some(node.constant(DType::I8, &packed)))
}

/// The operands of an int16 kernel: `x`, `y`, weights, bias, multipliers, shifts.
///
/// # Errors
///
/// When the bias does not fit, a zero point is not 0, or a factor is too large.
pub(super) fn operands_i16(
    node: &mut NodeLowering<'_, '_>,
    axis: usize,
    factors: &[f64],
) -> Result<Vec<Operand>, OpError> {
    let [bias, multipliers, shifts] = requantization_i16(node, axis, factors)?;
    Ok(vec![node.read(0)?, node.write(0), node.read(1)?, bias, multipliers, shifts])
}

/// The operands of an int16 kernel, with `weights` in the place of the node's, which they are
/// in another order.
///
/// # Errors
///
/// As [`operands_i16`].
pub(super) fn operands_i16_with(
    node: &mut NodeLowering<'_, '_>,
    axis: usize,
    factors: &[f64],
    weights: Operand,
) -> Result<Vec<Operand>, OpError> {
    let [bias, multipliers, shifts] = requantization_i16(node, axis, factors)?;
    Ok(vec![node.read(0)?, node.write(0), weights, bias, multipliers, shifts])
}

/// Bias, multipliers and shifts of an int16 kernel, see [`operands_i16`].
fn requantization_i16(
    node: &mut NodeLowering<'_, '_>,
    axis: usize,
    factors: &[f64],
) -> Result<[Operand; 3], OpError> {
    quantized::symmetric(node.input(0)?)?;
    quantized::symmetric(node.output(0))?;
    let channels = node.input(1)?.ty.shape[axis];
    let bias = bias(node, DType::I64, channels)?;
    check_bias_scale(node, axis)?;
    let (mut multipliers, mut shifts) = (Vec::new(), Vec::new());
    for &factor in factors {
        let (multiplier, shift) = quantized::short_factor(factor)?;
        multipliers.extend(multiplier.to_le_bytes());
        shifts.push(shift);
    }
    let multipliers = node.constant(DType::I16, &multipliers);
    let shifts = node.constant(DType::I8, &shifts);
    Ok([bias, multipliers, shifts])
}

/// The factors of the accumulators, and the zero point of the weights.
///
/// All in double precision, but uint8 models round the product of the scales of `x` and
/// weights to single precision first. Only theirs may have a zero point.
///
/// # Errors
///
/// When a tensor has no scale, or the weights' are not one for each channel of `axis`
/// with zero point 0.
pub(super) fn factors(node: &NodeLowering<'_, '_>, axis: usize) -> Result<(Vec<f64>, i32), OpError> {
    let input = quantized::tensor_wide(node.input(0)?)?;
    let output = quantized::tensor_wide(node.output(0))?;
    let weights = node.input(1)?;
    if quantized::legacy(weights) {
        let weights = quantized::tensor_wide(weights)?;
        let product = f64::from(input.scale * weights.scale);
        return Ok((vec![product / f64::from(output.scale)], weights.zero_point));
    }
    let factor = |w: &f32| f64::from(input.scale) * f64::from(*w) / f64::from(output.scale);
    Ok((quantized::weight_scales(weights, axis)?.iter().map(factor).collect(), 0))
}

/// The bias as an operand: empty where it is left out.
fn bias(node: &mut NodeLowering<'_, '_>, dtype: DType, channels: usize) -> Result<Operand, OpError> {
    let Some(bias) = node.optional(2) else { return Ok(node.constant(dtype, &[])) };
    if bias.ty.dtype != dtype || bias.ty.shape.elements() != channels {
        let expected = dtype.name();
        return Err(format!("bias `{}` is {}, expected {channels} of {expected}", bias.name, bias.ty).into());
    }
    node.read(2)
}

/// The kernels take the bias in steps of the accumulator, `x scale * weight scale`,
/// and never look at the scale that it declares: one that is off by more than 2 % of
/// a step of `y` is refused, as the reference does.
fn check_bias_scale(node: &NodeLowering<'_, '_>, axis: usize) -> Result<(), OpError> {
    let Some(bias) = node.optional(2) else { return Ok(()) };
    let Some(quantization) = &bias.ty.quantization else { return Ok(()) };
    if quantization.zero_points().iter().any(|z| *z != 0) {
        return Err(format!("bias `{}` has a zero point other than 0", bias.name).into());
    }
    let weights = node.input(1)?;
    let input = quantized::tensor_wide(node.input(0)?)?;
    let output = quantized::tensor_wide(node.output(0))?;
    let Some(weight_quantization) = &weights.ty.quantization else { return Ok(()) };
    let (weight_scales, bias_scales) = (weight_quantization.scales(), quantization.scales());
    for channel in 0..weights.ty.shape[axis] {
        let scale = |tensor: &Tensor, scales: &[f32]| {
            let scale = if scales.len() == 1 { scales.first() } else { scales.get(channel) };
            let missing = || OpError::from(format!("`{}` has no scale for channel {channel}", tensor.name));
            scale.copied().map(f64::from).ok_or_else(missing)
        };
        let step = f64::from(input.scale) * scale(weights, weight_scales)?;
        let found = scale(bias, bias_scales)?;
        if (step - found).abs() / f64::from(output.scale) > 0.02 {
            let name = &bias.name;
            return Err(OpError::from(format!(
                "bias `{name}` has scale {} for channel {channel}, expected {}",
                // Single precision has the digits that the file has.
                found as f32,
                step as f32
            ))
            .help("the scale of the bias is that of the operand times that of the weights"));
        }
    }
    Ok(())
}

/// For each channel, the largest magnitude that its accumulator can reach; one for all
/// channels where the weights are not constant.
fn accumulator_bounds(node: &NodeLowering<'_, '_>, axis: usize) -> Result<Vec<u64>, OpError> {
    let (weights, zero_point) = (node.input(1)?, quantized::tensor_wide(node.input(0)?)?.zero_point);
    let channels = weights.ty.shape[axis];
    // The largest |x - zero point|.
    let x = u64::from((127 - zero_point).max(zero_point + 128).unsigned_abs());
    let bias = bias_magnitudes(node)?;
    let Some(data) = &weights.data else {
        // A file can ask for any number of these channels without a byte for them.
        let products = (weights.ty.shape.elements() / channels) as u64 * 255 * x;
        return Ok(vec![products.saturating_add(bias.into_iter().max().unwrap_or(0))]);
    };
    let weights_zero = weights.ty.quantization.as_ref().map_or(0, |q| q.zero_points()[0]);
    let inner: usize = weights.ty.shape[axis + 1..].iter().product();
    let magnitude = |w: &u8| u64::from((i32::from(w.cast_signed()) - weights_zero).unsigned_abs());
    let mut bounds = vec![0; channels];
    for (i, slice) in data.bytes().chunks(inner.max(1)).enumerate() {
        bounds[i % channels] += slice.iter().map(magnitude).sum::<u64>();
    }
    let bias = bias.into_iter().chain(std::iter::repeat(0));
    for (bound, bias) in bounds.iter_mut().zip(bias) {
        *bound = bound.saturating_mul(x).saturating_add(bias);
    }
    Ok(bounds)
}

/// Magnitudes of the bias; none where it is left out.
fn bias_magnitudes(node: &NodeLowering<'_, '_>) -> Result<Vec<u64>, OpError> {
    let Some(bias) = node.optional(2) else { return Ok(Vec::new()) };
    let Some(data) = &bias.data else {
        let message = format!("bias `{}` is not a constant: the sums have no bound", bias.name);
        return Err(message.into());
    };
    Ok(data.integers(bias.ty.dtype)?.into_iter().map(i64::unsigned_abs).collect())
}
