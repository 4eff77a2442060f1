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
use super::filters::{products_f32, products_i8, products_i16};
use super::loops::{chunks_mut, copy, part};
use super::output::Quantized;
use super::recurrent::{Added, Sums};
use super::requantize::RequantizeI16;
use super::{RangeF32, RangeI16, Sequence, kernel_params};
use crate::Params;
use crate::fixed_point::{Multiplier, Rounding, Scaler, interpolated_logistic, interpolated_tanh};

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

    /// Parameters of [`lstm_i8`] and [`lstm_i16`].
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
        /// Zero point of `y` and of the hidden state.
        pub zero_point: i32,
        /// Round once instead of twice, see [`Rounding`].
        pub single_rounding: bool,
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
    let gates = IntegerGates { memory: gates, weights, recurrent, bias, multipliers, shifts };
    run(&params.get(), x, y, (hidden, cell), gates);
}

/// [`lstm_i8`] with rows and hidden state of int16, whose zero points are 0.
///
/// The multipliers have 15 bits, the shifts say how far a product is shifted right. The sums
/// have 64 bits.
pub fn lstm_i16(
    params: &impl Params<LstmI8>,
    x: &[i16],
    y: &mut [i16],
    hidden: &mut [i16],
    cell: &mut [i16],
    gates: &mut [i16],
    weights: &[i8],
    recurrent: &[i8],
    bias: &[i64],
    multipliers: &[i16],
    shifts: &[i8],
) {
    let gates = IntegerGates { memory: gates, weights, recurrent, bias, multipliers, shifts };
    run(&params.get(), x, y, (hidden, cell), gates);
}

/// Integers that rows and hidden state consist of.
trait Integer: Quantized {
    type Bias;
    type Multiplier: Copy;

    /// Products with rows of weights in units of `2^-12`.
    fn products(
        x: (&[Self], i32),
        weights: &[i8],
        bias: &[Self::Bias],
        factor: (Self::Multiplier, i8),
        rounding: Rounding,
        y: &mut [i16],
    );
}

impl Integer for i8 {
    type Bias = i32;
    type Multiplier = i32;

    #[inline(always)]
    fn products(
        (x, zero): (&[Self], i32),
        weights: &[i8],
        bias: &[i32],
        (multiplier, shift): (i32, i8),
        rounding: Rounding,
        y: &mut [i16],
    ) {
        let finish = Sums { bias, factor: Multiplier { multiplier, shift: shift.into() }, rounding };
        products_i8(x, zero as i16, (weights, x.len()), &finish, y);
    }
}

impl Integer for i16 {
    type Bias = i64;
    type Multiplier = i16;

    #[inline(always)]
    fn products(
        (x, _): (&[Self], i32),
        weights: &[i8],
        bias: &[i64],
        (multiplier, shift): (i16, i8),
        _: Rounding,
        y: &mut [i16],
    ) {
        let range = RangeI16 { min: -32_768, max: 32_767 };
        let (multipliers, shifts) = (&[multiplier], &[shift]);
        products_i16(x, (weights, x.len()), &RequantizeI16 { bias, multipliers, shifts, range }, y);
    }
}

/// What the integer gates are computed from.
struct IntegerGates<'a, T: Integer> {
    memory: &'a mut [i16],
    weights: &'a [i8],
    recurrent: &'a [i8],
    bias: &'a [T::Bias],
    multipliers: &'a [T::Multiplier],
    shifts: &'a [i8],
}

impl<T: Integer> IntegerGates<'_, T> {
    /// Computes all gates of a step from a row of `x` and the hidden state.
    #[inline(always)]
    fn compute(&mut self, p: &LstmI8, x: &[T], hidden: &[T]) {
        let (cells, rounding) = (hidden.len(), p.rounding());
        let (gates, sums) = self.memory.split_at_mut_checked(4 * cells).unwrap_or_default();
        let (of_x, of_hidden) =
            (self.multipliers.iter().zip(self.shifts), self.multipliers.iter().zip(self.shifts).skip(4));
        let factors = of_x.zip(of_hidden);
        for (gate, (y, ((m, s), (n, t)))) in chunks_mut(gates, cells).zip(factors).enumerate() {
            let rows = |weights, len| part(weights, gate * cells * len, cells * len);
            let (weights, recurrent) = (rows(self.weights, x.len()), rows(self.recurrent, cells));
            let bias = part(self.bias, gate * cells, cells);
            T::products((x, p.input_zero_point), weights, bias, (*m, *s), rounding, y);
            T::products((hidden, p.zero_point), recurrent, &[], (*n, *t), rounding, sums);
            for (y, sum) in y.iter_mut().zip(&*sums) {
                // In units of 1/12288.
                let sum = 3 * i32::from(y.saturating_add(*sum));
                *y = if gate == CANDIDATE { interpolated_tanh(sum) } else { interpolated_logistic(sum) };
            }
        }
    }
}

impl LstmI8 {
    #[inline(always)]
    fn rounding(&self) -> Rounding {
        Rounding::of(self.single_rounding)
    }

    /// A cell's state in units of 1/12288; ties up.
    #[inline(always)]
    fn cell_steps(&self, cell: i16) -> i32 {
        let (thirds, shift) = (3 * i32::from(cell), 12_i32.wrapping_add(self.cell_power));
        if shift < 0 {
            let right = shift.unsigned_abs() & 31;
            thirds.wrapping_add((1_u32.wrapping_shl(right) >> 1) as i32) >> right
        } else {
            thirds.wrapping_shl(shift.unsigned_abs())
        }
    }
}

#[inline(always)]
fn run<T: Integer>(
    p: &LstmI8,
    x: &[T],
    y: &mut [T],
    (hidden, cell): (&mut [T], &mut [i16]),
    mut gates: IntegerGates<'_, T>,
) {
    /// `2^-15`, of a gate.
    const GATE: Multiplier = Multiplier { multiplier: 1 << 30, shift: -14 };
    let (sequence, cells, rounding) = (p.sequence, p.sequence.outputs, p.rounding());
    let keep = Scaler::new(GATE, rounding);
    let add = Scaler::new(Multiplier { shift: -29 - p.cell_power, ..GATE }, rounding);
    let give = Scaler::new(Multiplier { multiplier: p.multiplier, shift: p.shift }, rounding);
    let product = |scaler: Scaler, a: i16, b: i16| scaler.apply(i32::from(a) * i32::from(b));
    let states = chunks_mut(hidden, cells).zip(chunks_mut(cell, cells));
    for (batch, (hidden, cell)) in states.enumerate() {
        for row in sequence.rows(batch) {
            gates.compute(p, sequence.input(x, row), hidden);
            let gate = |gate| part(gates.memory, gate * cells, cells);
            let new = gate(INPUT).iter().zip(gate(CANDIDATE));
            for ((cell, forget), (input, candidate)) in cell.iter_mut().zip(gate(FORGET)).zip(new) {
                let kept = i16::saturate(product(keep, *forget, *cell));
                let new = i16::saturate(product(add, *input, *candidate));
                *cell = p.cell.limit(kept.saturating_add(new).into());
            }
            for ((hidden, output), cell) in hidden.iter_mut().zip(gate(OUTPUT)).zip(&*cell) {
                let steps = product(give, *output, interpolated_tanh(p.cell_steps(*cell)));
                *hidden = T::saturate(steps.wrapping_add(p.zero_point));
            }
            sequence.set(y, row, hidden);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEQUENCE: Sequence = Sequence {
        batch: 1,
        steps: 3,
        time_major: false,
        reverse: false,
        inputs: 1,
        outputs: 1,
        row: 1,
        first: 0,
    };

    /// What three steps give whose gates are open or closed by their biases.
    fn steps(bias: &[f32], cell_limit: f32) -> [f32; 3] {
        let cell = RangeF32 { min: -cell_limit, max: cell_limit };
        let params = LstmF32 { sequence: SEQUENCE, cells: 1, cell, projection: RangeF32::ALL };
        let (mut y, mut hidden, mut cell, mut gates) = ([0.0; 3], [0.0], [0.0], [0.0; 4]);
        let zeros = &[0.0; 4][..bias.len()];
        let gates = &mut gates[..bias.len()];
        lstm_f32(
            &params,
            &[1.0; 3],
            &mut y,
            &mut hidden,
            &mut cell,
            gates,
            zeros,
            zeros,
            bias,
            &[],
            &[],
            &[],
            &[],
        );
        assert_eq!(hidden[0], y[2]);
        y
    }

    #[test]
    fn gates_have_their_places() {
        const OPEN: f32 = 100.0;
        let tanh = |cells: [f32; 3]| cells.map(libm::tanhf);
        // Candidate, forget, output, input.
        for (name, bias, limit, expect) in [
            ("all are kept and added up", &[OPEN, OPEN, OPEN, OPEN][..], 9.0, [1.0, 2.0, 3.0]),
            ("within limits", &[OPEN, OPEN, OPEN, OPEN], 1.5, [1.0, 1.5, 1.5]),
            ("none is kept", &[-OPEN, -OPEN, OPEN, OPEN], 9.0, [-1.0, -1.0, -1.0]),
            ("none is added", &[OPEN, OPEN, OPEN, -OPEN], 9.0, [0.0; 3]),
            ("nothing is shown", &[OPEN, OPEN, -OPEN, OPEN], 9.0, [0.0; 3]),
            ("what is not kept is added", &[OPEN, -OPEN, OPEN], 9.0, [1.0, 1.0, 1.0]),
            ("half and half", &[OPEN, 0.0, OPEN], 9.0, [0.5, 0.75, 0.875]),
        ] {
            for (y, expect) in steps(bias, limit).into_iter().zip(tanh(expect)) {
                assert!((y - expect).abs() < 1e-6, "{name}: {y} {expect}");
            }
        }
    }

    #[test]
    fn normalised_elements() {
        let mut elements = [1.0, 3.0, 5.0, 7.0];
        normalise(&mut elements);
        // The variance is 5.
        for (element, expect) in elements.into_iter().zip([-3.0, -1.0, 1.0, 3.0]) {
            assert!((element - expect / libm::sqrtf(5.0)).abs() < 1e-6, "{element}");
        }
        let mut equal = [2.0; 3];
        normalise(&mut equal);
        assert_eq!(equal, [0.0; 3]);
    }
}
