//! `svdf`: a matrix product whose last results are remembered, and a filter over them.
//!
//! Every filter has a memory of its last features, oldest first; a unit is the sum of `rank`
//! filters.

use super::filters::{products_f32, products_i8};
use super::loops::{chunks, chunks_mut};
use super::output::Quantized;
use super::recurrent::Sums;
use super::{OutputI8, RangeF32, kernel_params};
use crate::Params;
use crate::fixed_point::Multiplier;

kernel_params! {
    /// Parameters of [`svdf_f32`].
    pub struct SvdfF32 {
        /// Elements of a row of `x`.
        pub inputs: usize,
        /// Filters: the rank of each unit.
        pub rank: usize,
        /// Elements of a row of `y`.
        pub units: usize,
        /// Features that a filter remembers.
        pub memory: usize,
        /// Fused activation.
        pub range: RangeF32,
    }

    /// Parameters of [`svdf_i8`].
    pub struct SvdfI8 {
        /// Elements of a row of `x`.
        pub inputs: usize,
        /// Filters: the rank of each unit.
        pub rank: usize,
        /// Elements of a row of `y`.
        pub units: usize,
        /// Features that a filter remembers.
        pub memory: usize,
        /// Zero point of `x`.
        pub input_zero_point: i32,
        /// Factor of the features.
        pub feature_multiplier: i32,
        /// Power of two that belongs to it.
        pub feature_shift: i32,
        /// Factor of the units.
        pub multiplier: i32,
        /// Power of two that belongs to it.
        pub shift: i32,
        /// Zero point and limits of `y`.
        pub output: OutputI8,
    }
}

/// Filters over what is remembered of a matrix product, f32.
///
/// `x`: `[batch, inputs]`, `y`: `[batch, units]`, `state`: `[batch, units * rank, memory]`,
/// `features`, to work in: `[units * rank]`, `weights`: `[units * rank, inputs]`
/// [packed](super::packed_filters), `time`: `[units * rank, memory]`, `bias`: `[units]` or
/// empty.
pub fn svdf_f32(
    params: &impl Params<SvdfF32>,
    x: &[f32],
    y: &mut [f32],
    state: &mut [f32],
    features: &mut [f32],
    weights: &[f32],
    time: &[f32],
    bias: &[f32],
) {
    let p = params.get();
    let filters = p.units * p.rank;
    debug_assert_eq!((features.len(), weights.len()), (filters, filters * p.inputs));
    debug_assert_eq!(time.len(), filters * p.memory);
    let rows = chunks(x, p.inputs).zip(chunks_mut(y, p.units)).zip(chunks_mut(state, filters * p.memory));
    for ((x, y), state) in rows {
        products_f32(x, (weights, p.inputs), &[], &RangeF32::ALL, features);
        remember(state, p.memory, features.iter().copied());
        let mut filtered = chunks(state, p.memory)
            .zip(chunks(time, p.memory))
            .map(|(state, time)| state.iter().zip(time).fold(0.0, |sum, (state, time)| sum + state * time));
        for (unit, y) in y.iter_mut().enumerate() {
            let bias = bias.get(unit).copied().unwrap_or(0.0);
            let sum = filtered.by_ref().take(p.rank).fold(bias, |sum, filter| sum + filter);
            *y = p.range.limit(sum);
        }
    }
}

/// Filters over what is remembered of a matrix product, int8 with a memory of int16.
///
/// Shapes as in [`svdf_f32`], but the weights are not packed. The zero point of the state is
/// 0. The sums over the memory wrap at 32 bits, as in the reference.
pub fn svdf_i8(
    params: &impl Params<SvdfI8>,
    x: &[i8],
    y: &mut [i8],
    state: &mut [i16],
    features: &mut [i16],
    weights: &[i8],
    time: &[i16],
    bias: &[i32],
) {
    filter_i8(&params.get(), x, y, (state, features), weights, time, bias);
}

/// [`svdf_i8`] with a memory of int8.
pub fn svdf_memory_i8(
    params: &impl Params<SvdfI8>,
    x: &[i8],
    y: &mut [i8],
    state: &mut [i8],
    features: &mut [i16],
    weights: &[i8],
    time: &[i8],
    bias: &[i32],
) {
    filter_i8(&params.get(), x, y, (state, features), weights, time, bias);
}

#[inline(always)]
fn filter_i8<T: Quantized>(
    p: &SvdfI8,
    x: &[i8],
    y: &mut [i8],
    (state, features): (&mut [T], &mut [i16]),
    weights: &[i8],
    time: &[T],
    bias: &[i32],
) {
    let filters = p.units * p.rank;
    debug_assert_eq!((features.len(), weights.len()), (filters, filters * p.inputs));
    debug_assert_eq!(time.len(), filters * p.memory);
    let rounding = p.output.rounding();
    let feature = Multiplier { multiplier: p.feature_multiplier, shift: p.feature_shift };
    let unit = Multiplier { multiplier: p.multiplier, shift: p.shift };
    let rows = chunks(x, p.inputs).zip(chunks_mut(y, p.units)).zip(chunks_mut(state, filters * p.memory));
    for ((x, y), state) in rows {
        let finish = Sums { bias: &[], factor: feature, rounding };
        products_i8(x, p.input_zero_point as i16, (weights, p.inputs), &finish, features);
        remember(state, p.memory, features.iter().map(|feature| T::saturate(i32::from(*feature))));
        let memories = chunks(state, p.rank * p.memory).zip(chunks(time, p.rank * p.memory));
        for (i, (y, (state, time))) in y.iter_mut().zip(memories).enumerate() {
            let bias = bias.get(i).copied().unwrap_or(0);
            let products =
                state.iter().zip(time).map(|(&state, &time)| state.into().wrapping_mul(time.into()));
            let sum = products.fold(bias, i32::wrapping_add);
            *y = p.output.limit(unit.apply(sum, rounding));
        }
    }
}

/// Moves the memory of each filter on by one step, and appends its feature.
#[inline(always)]
fn remember<T>(state: &mut [T], memory: usize, features: impl Iterator<Item = T>) {
    for (cells, mut newest) in chunks_mut(state, memory).zip(features) {
        for cell in cells.iter_mut().rev() {
            core::mem::swap(cell, &mut newest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_move_on() {
        let mut state = [1, 2, 3, 4, 5, 6];
        remember(&mut state, 3, [7, 8].into_iter());
        assert_eq!(state, [2, 3, 7, 5, 6, 8]);
    }

    #[test]
    fn svdf_f32_by_hand() {
        // Features 2x and -x; the unit is 10 + (2x now + 2x before * 3) + (-x now * 5).
        let params =
            SvdfF32 { inputs: 1, rank: 2, units: 1, memory: 2, range: RangeF32 { min: 0.0, max: 100.0 } };
        let (mut state, mut features, mut y) = ([0.0; 4], [0.0; 2], [0.0]);
        for (x, expect) in [(1.0, 7.0), (2.0, 10.0), (0.0, 22.0), (50.0, 0.0)] {
            let (weights, time) = ([2.0, -1.0], [3.0, 1.0, 0.0, 5.0]);
            svdf_f32(&params, &[x], &mut y, &mut state, &mut features, &weights, &time, &[10.0]);
            assert_eq!(y, [expect]);
        }
    }
}
