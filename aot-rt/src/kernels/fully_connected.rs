//! `fully_connected`: matrix times vector, for every row of a batch.

use half::f16;

use super::dynamic::{Dynamic, RowQuantization};
use super::filters::{products_f32, products_i8, products_i16, zero_products};
use super::loops::{chunks, chunks_mut};
use super::nibbles::{Blocked, Bytes, Nibbles, Stored};
use super::real::Real;
use super::requantize::{Requantize, RequantizeI16};
use super::{OutputI8, RangeF32, RangeI16, kernel_params};
use crate::Params;

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

    /// Parameters of [`fully_connected_i16`].
    pub struct FullyConnectedI16 {
        /// Rows of `x` and `y`.
        pub batch: usize,
        /// Elements of a row of `x`.
        pub inputs: usize,
        /// Elements of a row of `y`.
        pub outputs: usize,
        /// Limits of `y`.
        pub range: RangeI16,
    }
}

/// Matrix times vector, f32.
///
/// `x`: `[batch, inputs]`, `weights`: `[outputs, inputs]` with the rows
/// [packed](super::packed_filters), `bias`: `[outputs]` or empty, `y`:
/// `[batch, outputs]`. Reads a whole row of `x` for each block of the row of `y`.
pub fn fully_connected_f32(
    params: &impl Params<FullyConnectedF32>,
    x: &[f32],
    y: &mut [f32],
    weights: &[f32],
    bias: &[f32],
) {
    multiply_f32(&params.get(), x, y, weights, bias);
}

/// [`fully_connected_f32`] with weights in half precision.
pub fn fully_connected_f16(
    params: &impl Params<FullyConnectedF32>,
    x: &[f32],
    y: &mut [f32],
    weights: &[f16],
    bias: &[f32],
) {
    multiply_f32(&params.get(), x, y, weights, bias);
}

#[inline(always)]
fn multiply_f32(p: &FullyConnectedF32, x: &[f32], y: &mut [f32], weights: &[impl Real], bias: &[f32]) {
    debug_assert_eq!((x.len(), weights.len()), (p.batch * p.inputs, p.outputs * p.inputs));
    debug_assert_eq!(y.len(), p.batch * p.outputs);
    for (x, y) in chunks(x, p.inputs).zip(chunks_mut(y, p.outputs)) {
        products_f32(x, (weights, p.inputs), bias, &p.range, y);
    }
}

/// Matrix times vectors that have been quantized when they were there.
///
/// `x`: `[batch, inputs]` and `quantization`, `[batch, 3]`, as
/// [`quantize_dynamic_i8`](super::quantize_dynamic_i8) makes and reads them, `weights`:
/// `[outputs, inputs]`, `scales`: theirs, `[outputs]` or `[1]`, `bias`: `[outputs]` or empty,
/// `y`: `[batch, outputs]`.
pub fn fully_connected_dynamic_i8(
    params: &impl Params<FullyConnectedF32>,
    x: &[i8],
    y: &mut [f32],
    weights: &[i8],
    bias: &[f32],
    scales: &[f32],
    quantization: &[f32],
) {
    let p = params.get();
    debug_assert_eq!((x.len(), weights.len()), (p.batch * p.inputs, p.outputs * p.inputs));
    debug_assert_eq!(y.len(), p.batch * p.outputs);
    let rows = chunks(x, p.inputs).zip(chunks_mut(y, p.outputs));
    for ((x, y), row) in rows.zip(RowQuantization::rows(quantization)) {
        let finish = Dynamic::new(bias, scales, row.scale, p.range);
        products_i8(x, row.zero_point(), (weights, p.inputs), &finish, y);
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
    y: &mut [i8],
    weights: &[i8],
    bias: &[i32],
    multipliers: &[i32],
    shifts: &[i8],
) {
    multiply_i8::<Bytes>(&params.get(), x, y, weights, (bias, multipliers, shifts));
}

/// [`fully_connected_i8`] with the rows of weights as
/// [`Constants::with_blocks`](crate::Constants::with_blocks) arranges them, from a multiple of four
/// bytes on where there are four or more.
pub fn fully_connected_blocked_i8(
    params: &impl Params<FullyConnectedI8>,
    x: &[i8],
    y: &mut [i8],
    weights: &[i8],
    bias: &[i32],
    multipliers: &[i32],
    shifts: &[i8],
) {
    multiply_i8::<Blocked>(&params.get(), x, y, weights, (bias, multipliers, shifts));
}

/// [`fully_connected_i8`] with weights of four bits: two of a row are in a byte, the first in
/// its lower half, and every row starts with a whole one.
pub fn fully_connected_i4(
    params: &impl Params<FullyConnectedI8>,
    x: &[i8],
    y: &mut [i8],
    weights: &[i8],
    bias: &[i32],
    multipliers: &[i32],
    shifts: &[i8],
) {
    multiply_i8::<Nibbles>(&params.get(), x, y, weights, (bias, multipliers, shifts));
}

#[inline(always)]
fn multiply_i8<S: Stored>(
    p: &FullyConnectedI8,
    x: &[i8],
    y: &mut [i8],
    weights: &[i8],
    (bias, multipliers, shifts): (&[i32], &[i32], &[i8]),
) {
    debug_assert_eq!((x.len(), weights.len()), (p.batch * p.inputs, p.outputs * S::bytes(p.inputs)));
    debug_assert_eq!(y.len(), p.batch * p.outputs);
    let zero = p.input_zero_point as i16;
    for (x, y) in chunks(x, p.inputs).zip(chunks_mut(y, p.outputs)) {
        let offset = match p.weights_zero_point {
            0 => 0,
            weights_zero => zero_products(x, zero, weights_zero),
        };
        let requantize = Requantize { bias, multipliers, shifts, offset, output: p.output };
        S::products(x, zero, (weights, p.inputs), &requantize, y);
    }
}

/// Matrix times vector, int16 with int8 weights.
///
/// `x`: `[batch, inputs]`, `weights`: `[outputs, inputs]`, `bias`: `[outputs]` or
/// empty, `multipliers` and `shifts`: `[outputs]` or `[1]`, `y`: `[batch, outputs]`. Zero
/// points are 0. Sums have 64 bits.
pub fn fully_connected_i16(
    params: &impl Params<FullyConnectedI16>,
    x: &[i16],
    y: &mut [i16],
    weights: &[i8],
    bias: &[i64],
    multipliers: &[i16],
    shifts: &[i8],
) {
    let p = params.get();
    debug_assert_eq!((x.len(), weights.len()), (p.batch * p.inputs, p.outputs * p.inputs));
    debug_assert_eq!(y.len(), p.batch * p.outputs);
    let requantize = RequantizeI16 { bias, multipliers, shifts, range: p.range };
    for (x, y) in chunks(x, p.inputs).zip(chunks_mut(y, p.outputs)) {
        products_i16(x, (weights, p.inputs), &requantize, y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixed_point::Multiplier;

    #[test]
    fn fully_connected_f32_cases() {
        // known-faults.md O1, with the bias and the factors folded: [[0, 1, 2], [3, 4, 5]].
        let params = FullyConnectedF32 {
            batch: 2,
            inputs: 3,
            outputs: 2,
            range: RangeF32 { min: f32::NEG_INFINITY, max: 30.0 },
        };
        let mut y = [0.0; 4];
        let weights = [1.0, 0.0, -1.0, 2.0, 2.0, 2.0];
        fully_connected_f32(&params, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], &mut y, &weights, &[0.0, 10.0]);
        assert_eq!(y, [-2.0, 16.0, -2.0, 30.0]);
    }

    #[test]
    fn fully_connected_i16_needs_64_bits() {
        // known-faults.md L3: 1024 products of 32767 and 127 are more than 32 bits hold.
        let range = RangeI16 { min: -32768, max: 32767 };
        let params = FullyConnectedI16 { batch: 1, inputs: 1024, outputs: 2, range };
        let (x, mut weights, mut y) = ([32767; 1024], [127; 2048], [0; 2]);
        weights[1024..].fill(-127);
        // The factor is 1 / (127 * 1024); the bias of the second is one step.
        let multiplier = libm::round(2_147_483_648.0 / (127.0 * 1024.0)) as i16;
        fully_connected_i16(&params, &x, &mut y, &weights, &[0, 130_048], &[multiplier], &[31]);
        assert_eq!(y, [32767, -32766]);
    }

    #[test]
    fn fully_connected_i8_cases() {
        let params = |inputs, outputs, input_zero_point, weights_zero_point, zero_point| FullyConnectedI8 {
            batch: 1,
            inputs,
            outputs,
            input_zero_point,
            weights_zero_point,
            output: OutputI8 { zero_point, min: -128, max: 127, single_rounding: false },
        };
        // known-faults.md L14: a weight zero point; 3 of the expected 9 are 0.1 * 0.1 / 0.5.
        let factor = Multiplier::from_real(f64::from(0.1_f32 * 0.1_f32) / 0.5).unwrap();
        let (multipliers, shifts) = ([factor.multiplier], [factor.shift as i8]);
        let mut y = [0];
        let x = [10, 10, 10];
        fully_connected_i8(&params(3, 1, 0, 5, 0), &x, &mut y, &[10, 20, 30], &[], &multipliers, &shifts);
        assert_eq!(y, [9]);
        // known-faults.md L5 (b).
        let real = f64::from(0.052_961_245_f32 * 0.024_093_779_f32) / f64::from(0.114_843_28_f32);
        let factor = Multiplier::from_real(real).unwrap();
        let (multipliers, shifts) = ([factor.multiplier], [factor.shift as i8]);
        fully_connected_i8(&params(1, 1, 0, 0, -126), &[117], &mut y, &[5], &[], &multipliers, &shifts);
        assert_eq!(y, [-119]);
    }

    #[test]
    fn weights_zero_point_equals_the_definition() {
        let x: [i8; 13] = core::array::from_fn(|i| (i * 53) as i8);
        let weights: [i8; 65] = core::array::from_fn(|i| (i * 91 + 7) as i8);
        let params = FullyConnectedI8 {
            batch: 1,
            inputs: 13,
            outputs: 5,
            input_zero_point: -17,
            weights_zero_point: 9,
            output: OutputI8 { zero_point: 0, min: -128, max: 127, single_rounding: false },
        };
        let factor = Multiplier::from_real(1.0 / 1024.0).unwrap();
        let mut y = [0; 5];
        fully_connected_i8(&params, &x, &mut y, &weights, &[], &[factor.multiplier], &[factor.shift as i8]);
        for (y, weights) in y.iter().zip(weights.chunks(13)) {
            let products = x.iter().zip(weights).map(|(&x, &w)| (i32::from(x) + 17) * (i32::from(w) - 9));
            assert_eq!(f64::from(*y), libm::round(f64::from(products.sum::<i32>()) / 1024.0));
        }
    }
}
