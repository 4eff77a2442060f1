//! `rnn`: a layer that sees its own last result, over sequences.

use super::filters::products_f32;
use super::loops::chunks_mut;
use super::recurrent::Added;
use super::{RangeF32, Sequence, kernel_params};
use crate::Params;

kernel_params! {
    /// Parameters of [`rnn_f32`].
    pub struct RnnF32 {
        /// The steps.
        pub sequence: Sequence,
        /// The result is the hyperbolic tangent.
        pub tanh: bool,
        /// Limits of the result.
        pub range: RangeF32,
    }
}

/// Recurrent layer, f32.
///
/// `x`: `[rows, inputs]`, `y`: `[rows, row]`, `hidden`: `[batch, outputs]`, `weights`:
/// `[outputs, inputs]` and `recurrent`: `[outputs, outputs]`, both
/// [packed](super::packed_filters), `bias`: `[outputs]`.
pub fn rnn_f32(
    params: &impl Params<RnnF32>,
    x: &[f32],
    y: &mut [f32],
    hidden: &mut [f32],
    sums: &mut [f32],
    weights: &[f32],
    recurrent: &[f32],
    bias: &[f32],
) {
    let p = params.get();
    let sequence = p.sequence;
    for (batch, hidden) in chunks_mut(hidden, sequence.outputs).enumerate() {
        for row in sequence.rows(batch) {
            products_f32(sequence.input(x, row), (weights, sequence.inputs), bias, &RangeF32::ALL, sums);
            products_f32(&*hidden, (recurrent, sequence.outputs), &[], &Added, sums);
            for (hidden, sum) in hidden.iter_mut().zip(&*sums) {
                *hidden = p.range.limit(if p.tanh { libm::tanhf(*sum) } else { *sum });
            }
            sequence.set(y, row, hidden);
        }
    }
}
