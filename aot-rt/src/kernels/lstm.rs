//! `lstm`: long short-term memory, over sequences.
//!
//! A step multiplies a row of `x` and the hidden state with the weights of up to four gates:
//!
//! ```text
//! candidate = tanh(..)    forget, output, input = logistic(..)
//! cell = forget * cell + input * candidate
//! hidden = output * tanh(cell)
//! ```
//!
//! Weights, biases and what else the gates have stand in this order: candidate, forget,
//! output, input. Without an input gate, `input` is `1 - forget`.

use super::elementwise::logistic;
use super::filters::{products_f32, products_i8};
use super::loops::{chunks_mut, part};
use super::recurrent::{Added, Saturate, Sums, copy};
use super::{OutputI8, RangeF32, RangeI16, Sequence, kernel_params};
use crate::Params;
use crate::fixed_point::{Multiplier, Scaler, logistic_i16, tanh_i16};

kernel_params! {
    /// Parameters of [`lstm_f32`].
    pub struct LstmF32 {
        /// The steps.
        pub sequence: Sequence,
        /// Elements of the cell state.
        pub cells: usize,
        /// Limits of the cell state.
        pub cell: RangeF32,
        /// Limits of the projection.
        pub projection: RangeF32,
    }

    /// Parameters of [`lstm_i8`].
    pub struct LstmI8 {
        /// The steps.
        pub sequence: Sequence,
        /// Zero point of `x`.
        pub input_zero_point: i32,
        /// The scale of the cell state is two to the power of this.
        pub cell_power: i32,
        /// Limits of the cell state.
        pub cell: RangeI16,
        /// Factor from `2^-30` to the scale of `y`.
        pub multiplier: i32,
        /// Power of two that belongs to it.
        pub shift: i32,
        /// Zero point and limits of `y`.
        pub output: OutputI8,
    }
}

/// Gates, in their order.
const CANDIDATE: usize = 0;
const FORGET: usize = 1;
const OUTPUT: usize = 2;
const INPUT: usize = 3;

/// What the float gates have beside their weights; each may be empty.
struct Gates<'a> {
    cells: usize,
    bias: &'a [f32],
    /// Weights of the cell state, for all gates but the candidate.
    peephole: &'a [f32],
    /// Factors of the normalised sums.
    norm: &'a [f32],
}

impl Gates<'_> {
    /// Completes the sums of a gate.
    fn complete(&self, gate: usize, sums: &mut [f32], cell: &[f32], function: impl Fn(f32) -> f32) {
        let of_gate = |all| part::<f32>(all, gate * self.cells, self.cells);
        let peephole = part(self.peephole, gate.wrapping_sub(1).wrapping_mul(self.cells), self.cells);
        for ((sum, weight), cell) in sums.iter_mut().zip(peephole).zip(cell) {
            *sum += weight * cell;
        }
        if !self.norm.is_empty() {
            normalise(sums);
            for ((sum, factor), bias) in sums.iter_mut().zip(of_gate(self.norm)).zip(of_gate(self.bias)) {
                *sum = *sum * factor + bias;
            }
        }
        for sum in sums {
            *sum = function(*sum);
        }
    }
}

/// Makes the mean 0 and the standard deviation 1.
fn normalise(elements: &mut [f32]) {
    /// Keeps equal elements from a division by 0.
    const LEAST_VARIANCE: f32 = 1e-8;
    let count = elements.len() as f32;
    let mean = elements.iter().sum::<f32>() / count;
    let variance = elements.iter().fold(0.0, |sum, x| sum + (x - mean) * (x - mean)) / count;
    let factor = 1.0 / libm::sqrtf(variance + LEAST_VARIANCE);
    for x in elements {
        *x = (*x - mean) * factor;
    }
}

/// Long short-term memory, f32.
///
/// `x`: `[rows, inputs]`, `y`: `[rows, row]`, `hidden`: `[batch, outputs]`, `cell`: `[batch,
/// cells]`, `gates`, to work in: `[3 or 4, cells]`, `weights`: as many rows of `[inputs]`,
/// `recurrent`: of `[outputs]`, `bias`: `[3 or 4, cells]`, `peephole`: `[2 or 3, cells]` or
/// empty, `norm`: `[3 or 4, cells]` or empty, `projection`: `[outputs, cells]` or empty,
/// `projection_bias`: `[outputs]` or empty. The matrices are
/// [packed](super::packed_filters), those of all gates as one.
pub fn lstm_f32(
    params: &impl Params<LstmF32>,
    x: &[f32],
    y: &mut [f32],
    hidden: &mut [f32],
    cell: &mut [f32],
    gates: &mut [f32],
    weights: &[f32],
    recurrent: &[f32],
    bias: &[f32],
    peephole: &[f32],
    norm: &[f32],
    projection: &[f32],
    projection_bias: &[f32],
) {
    let p = params.get();
    let sequence = p.sequence;
    let parts = Gates { cells: p.cells, bias, peephole, norm };
    // What is normalised gets its bias afterwards.
    let bias = if norm.is_empty() { bias } else { &[] };
    let states = chunks_mut(hidden, sequence.outputs).zip(chunks_mut(cell, p.cells));
    for (batch, (hidden, cell)) in states.enumerate() {
        for row in sequence.rows(batch) {
            products_f32(sequence.input(x, row), (weights, sequence.inputs), bias, &RangeF32::ALL, gates);
            products_f32(&*hidden, (recurrent, sequence.outputs), &[], &Added, gates);
            let mut gates = chunks_mut(gates, p.cells);
            let (Some(candidate), Some(forget), Some(output)) = (gates.next(), gates.next(), gates.next())
            else {
                return;
            };
            parts.complete(CANDIDATE, candidate, cell, libm::tanhf);
            parts.complete(FORGET, forget, cell, logistic);
            match gates.next() {
                Some(input) => {
                    parts.complete(INPUT, input, cell, logistic);
                    for (candidate, input) in candidate.iter_mut().zip(input) {
                        *candidate *= *input;
                    }
                }
                None => {
                    for (candidate, forget) in candidate.iter_mut().zip(&*forget) {
                        *candidate *= 1.0 - forget;
                    }
                }
            }
            for ((cell, forget), candidate) in cell.iter_mut().zip(forget).zip(candidate) {
                *cell = p.cell.limit(*forget * *cell + *candidate);
            }
            parts.complete(OUTPUT, output, cell, logistic);
            for (output, cell) in output.iter_mut().zip(&*cell) {
                *output *= libm::tanhf(*cell);
            }
            if projection.is_empty() {
                copy(output, hidden);
            } else {
                products_f32(&*output, (projection, p.cells), projection_bias, &p.projection, hidden);
            }
            sequence.set(y, row, hidden);
        }
    }
}

/// Long short-term memory, int8 with a cell state of int16.
///
/// `x`: `[rows, inputs]`, `y`: `[rows, row]`, `hidden`: `[batch, outputs]`, `cell`: `[batch,
/// outputs]`, `gates`, to work in: `[5, outputs]`, `weights`: `[4, outputs, inputs]`,
/// `recurrent`: `[4, outputs, outputs]`, `bias`: `[4, outputs]`, `multipliers` and `shifts`:
/// of the products with `x` for each gate, then of those with `hidden`. The zero point of the
/// cell state is 0; `y` and `hidden` have the same quantization.
pub fn lstm_i8(
    params: &impl Params<LstmI8>,
    x: &[i8],
    y: &mut [i8],
    hidden: &mut [i8],
    cell: &mut [i16],
    gates: &mut [i16],
    weights: &[i8],
    recurrent: &[i8],
    bias: &[i32],
    multipliers: &[i32],
    shifts: &[i8],
) {
    /// `2^-15`, of a gate.
    const GATE: Multiplier = Multiplier { multiplier: 1 << 30, shift: -14 };
    let p = params.get();
    let (sequence, cells, rounding) = (p.sequence, p.sequence.outputs, p.output.rounding());
    let forgotten = Scaler::new(GATE, rounding);
    let added = Scaler::new(Multiplier { shift: -29 - p.cell_power, ..GATE }, rounding);
    let given = Scaler::new(Multiplier { multiplier: p.multiplier, shift: p.shift }, rounding);
    let factor = |i: usize| {
        let (multiplier, shift) = (multipliers.get(i), shifts.get(i));
        Multiplier { multiplier: multiplier.copied().unwrap_or(0), shift: shift.copied().unwrap_or(0).into() }
    };
    let multiply = |gate: usize, y: &mut [i16], (x, zero, weights): (&[i8], i32, &[i8]), bias, factor| {
        let weights = part(weights, gate * cells * x.len(), cells * x.len());
        let finish = Sums { bias, factor, rounding };
        products_i8(x, zero as i16, (weights, x.len()), &finish, y);
    };
    let states = chunks_mut(hidden, cells).zip(chunks_mut(cell, cells));
    for (batch, (hidden, cell)) in states.enumerate() {
        for row in sequence.rows(batch) {
            let (gates, sums) = gates.split_at_mut_checked(4 * cells).unwrap_or_default();
            for (gate, y) in chunks_mut(gates, cells).enumerate() {
                let (input, state) = (sequence.input(x, row), &*hidden);
                let bias = part(bias, gate * cells, cells);
                multiply(gate, y, (input, p.input_zero_point, weights), bias, factor(gate));
                multiply(gate, sums, (state, p.output.zero_point, recurrent), &[], factor(4 + gate));
                for (y, sum) in y.iter_mut().zip(&*sums) {
                    let sum = y.saturating_add(*sum);
                    *y = if gate == CANDIDATE { tanh_i16(sum, 0) } else { logistic_i16(sum) };
                }
            }
            let mut gates = chunks_mut(gates, cells);
            let (Some(candidate), Some(forget), Some(output), Some(input)) =
                (gates.next(), gates.next(), gates.next(), gates.next())
            else {
                return;
            };
            let product = |a: i16, b: i16| i32::from(a) * i32::from(b);
            for ((cell, forget), (input, candidate)) in
                cell.iter_mut().zip(forget).zip(input.iter().zip(candidate))
            {
                let kept = i16::saturate(forgotten.apply(product(*forget, *cell)));
                let new = i16::saturate(added.apply(product(*input, *candidate)));
                *cell = p.cell.limit(kept.saturating_add(new).into());
            }
            for ((hidden, output), cell) in hidden.iter_mut().zip(output).zip(&*cell) {
                let shown = tanh_i16(*cell, 12 + p.cell_power);
                *hidden = p.output.limit(given.apply(product(*output, shown)));
            }
            sequence.set(y, row, hidden);
        }
    }
}
