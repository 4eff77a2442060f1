//! `fully_connected`: matrix times vector, for every row of a batch.

use super::dot::{dot_f32, dot_i8, total};
use super::loops::{chunks, chunks_mut};
use super::{OutputI8, RangeF32, kernel_params};
use crate::Params;
use crate::fixed_point::ChannelMultipliers;

kernel_params! {
    /// Parameters of [`fully_connected_f32`].
    pub struct FullyConnectedF32 {
        /// Rows of `x` and `y`.
        pub batch: usize,
        /// Elements of a row of `x`.
        pub inputs: usize,
        /// Elements of a row of `y`.
        pub outputs: usize,
        /// Fused activation.
        pub range: RangeF32,
    }

    /// Parameters of [`fully_connected_i8`].
    pub struct FullyConnectedI8 {
        /// Rows of `x` and `y`.
        pub batch: usize,
        /// Elements of a row of `x`.
        pub inputs: usize,
        /// Elements of a row of `y`.
        pub outputs: usize,
        /// Zero point of `x`.
        pub input_zero_point: i32,
        /// Zero point of the weights; 0 unless they are quantized per tensor.
        pub weights_zero_point: i32,
        /// Zero point and limits of `y`.
        pub output: OutputI8,
    }
}

/// Matrix times vector, f32.
///
/// `x`: `[batch, inputs]`, `weights`: `[outputs, inputs]`, `bias`: `[outputs]` or
/// empty, `y`: `[batch, outputs]`. Reads a whole row of `x` for each element of the
/// row of `y`.
pub fn fully_connected_f32(
    params: &impl Params<FullyConnectedF32>,
    x: &[f32],
    weights: &[f32],
    bias: &[f32],
    y: &mut [f32],
) {
    let p = params.get();
    debug_assert_eq!((x.len(), weights.len()), (p.batch * p.inputs, p.outputs * p.inputs));
    debug_assert_eq!(y.len(), p.batch * p.outputs);
    for (x, y) in chunks(x, p.inputs).zip(chunks_mut(y, p.outputs)) {
        for (channel, (y, weights)) in y.iter_mut().zip(chunks(weights, p.inputs)).enumerate() {
            let mut sums = [0.0; 8];
            dot_f32(&mut sums, x, weights);
            let bias = bias.get(channel).copied().unwrap_or(0.0);
            *y = p.range.limit(total(sums) + bias);
        }
    }
}

/// Matrix times vector, int8.
///
/// `x`: `[batch, inputs]`, `weights`: `[outputs, inputs]`, `bias`: `[outputs]` or
/// empty, `multipliers` and `shifts`: `[outputs]` or `[1]`, `y`: `[batch, outputs]`.
/// Reads a whole row of `x` for each element of the row of `y`.
pub fn fully_connected_i8(
    params: &impl Params<FullyConnectedI8>,
    x: &[i8],
    weights: &[i8],
    bias: &[i32],
    multipliers: &[i32],
    shifts: &[i8],
    y: &mut [i8],
) {
    let p = params.get();
    debug_assert_eq!((x.len(), weights.len()), (p.batch * p.inputs, p.outputs * p.inputs));
    debug_assert_eq!(y.len(), p.batch * p.outputs);
    let multipliers = ChannelMultipliers::new(multipliers, shifts, p.output.rounding());
    let (x_zero, w_zero) = (p.input_zero_point as i16, p.weights_zero_point as i16);
    for (x, y) in chunks(x, p.inputs).zip(chunks_mut(y, p.outputs)) {
        for (channel, (y, weights)) in y.iter_mut().zip(chunks(weights, p.inputs)).enumerate() {
            let bias = bias.get(channel).copied().unwrap_or(0);
            let accumulator = dot_i8(x, x_zero, weights, w_zero).wrapping_add(bias);
            *y = p.output.limit(multipliers.apply(channel, accumulator));
        }
    }
}
