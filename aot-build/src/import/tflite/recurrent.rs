//! Recurrent layers: their state is in variable tensors.

use super::node::{Node, Options, kind};
use super::operators::{Known, known};
use super::types::{ONE_F, ONE_F_I, ONE_F_I_W};
use crate::error::OpError;
use crate::ops::{Activation, BidirectionalLstm, Lstm, Op, Rnn, Svdf};

/// The types are those of `x` and the result; those of the others follow from them.
pub(super) const OPERATORS: &[Known] = &[
    known("BIDIRECTIONAL_SEQUENCE_LSTM", 3, [48, 48], ONE_F, bidirectional_sequence_lstm)
        .recurrent(39, &[35, 36, 37, 38])
        .with_results(),
    known("LSTM", 4, [20, 24], ONE_F_I_W, lstm).recurrent(24, &[18, 19]),
    known("RNN", 3, [5, 5], ONE_F, rnn).recurrent(5, &[4]),
    known("SVDF", 4, [5, 5], ONE_F_I, svdf).recurrent(5, &[4]),
    known("UNIDIRECTIONAL_SEQUENCE_LSTM", 4, [20, 24], ONE_F_I_W, unidirectional_sequence_lstm)
        .recurrent(24, &[18, 19]),
    known("UNIDIRECTIONAL_SEQUENCE_RNN", 3, [5, 5], ONE_F, unidirectional_sequence_rnn).recurrent(5, &[4]),
];

fn svdf(node: &Node<'_>) -> Result<Op, OpError> {
    const RANK: usize = 0;
    const ACTIVATION: usize = 1;
    let options = node.options(kind(6, "SVDFOptions", 3))?;
    let op = Svdf { rank: options.count(RANK, 0, "rank")?, activation: options.activation(ACTIVATION)? };
    Ok(op.into())
}

fn unidirectional_sequence_rnn(node: &Node<'_>) -> Result<Op, OpError> {
    const TIME_MAJOR: usize = 0;
    const ACTIVATION: usize = 1;
    sequences(node)?;
    let options = node.options(kind(31, "SequenceRNNOptions", 3))?;
    let (tanh, activation) = function(&options, ACTIVATION)?;
    Ok(Rnn { time_major: options.flag(TIME_MAJOR)?, tanh, activation }.into())
}

fn rnn(node: &Node<'_>) -> Result<Op, OpError> {
    const ACTIVATION: usize = 0;
    one_step(node)?;
    let options = node.options(kind(7, "RNNOptions", 2))?;
    let (tanh, activation) = function(&options, ACTIVATION)?;
    Ok(Rnn { time_major: false, tanh, activation }.into())
}

/// The fused activation of a layer that may have a hyperbolic tangent as well.
fn function(options: &Options<'_>, slot: usize) -> Result<(bool, Activation), OpError> {
    if options.only(slot, &[TANH], "").is_ok() {
        return Ok((true, Activation::None));
    }
    Ok((false, options.activation(slot)?))
}

/// `ActivationFunctionType`.
const TANH: i8 = 4;

fn unidirectional_sequence_lstm(node: &Node<'_>) -> Result<Op, OpError> {
    const ACTIVATION: usize = 0;
    const CELL_CLIP: usize = 1;
    const PROJ_CLIP: usize = 2;
    const TIME_MAJOR: usize = 3;
    const DIAGONAL_RECURRENT_TENSORS: usize = 5;
    sequences(node)?;
    let options = node.options(kind(71, "UnidirectionalSequenceLSTMOptions", 6))?;
    options.only(ACTIVATION, &[TANH], "fused_activation_function")?;
    if options.flag(DIAGONAL_RECURRENT_TENSORS)? {
        return Err("diagonal_recurrent_tensors is not supported".into());
    }
    let op = Lstm {
        time_major: options.flag(TIME_MAJOR)?,
        cell_clip: options.f32(CELL_CLIP)?,
        projection_clip: options.f32(PROJ_CLIP)?,
    };
    Ok(op.into())
}

fn lstm(node: &Node<'_>) -> Result<Op, OpError> {
    const ACTIVATION: usize = 0;
    const CELL_CLIP: usize = 1;
    const PROJ_CLIP: usize = 2;
    const KERNEL_TYPE: usize = 3;
    one_step(node)?;
    let options = node.options(kind(14, "LSTMOptions", 5))?;
    options.only(ACTIVATION, &[TANH], "fused_activation_function")?;
    options.only(KERNEL_TYPE, &[0], "kernel_type")?;
    let op = Lstm {
        time_major: false,
        cell_clip: options.f32(CELL_CLIP)?,
        projection_clip: options.f32(PROJ_CLIP)?,
    };
    Ok(op.into())
}

fn bidirectional_sequence_lstm(node: &Node<'_>) -> Result<Op, OpError> {
    const ACTIVATION: usize = 0;
    const CELL_CLIP: usize = 1;
    const PROJ_CLIP: usize = 2;
    const MERGE_OUTPUTS: usize = 3;
    const TIME_MAJOR: usize = 4;
    /// The first operand that is auxiliary.
    const AUXILIARY: usize = 39;
    sequences(node)?;
    let auxiliary = node.operator.inputs.iter().enumerate().skip(AUXILIARY);
    if let Some((i, _)) = auxiliary.into_iter().find(|(_, index)| **index != -1) {
        return Err(
            format!("operand {i} is an auxiliary input or its weights, which is not supported").into()
        );
    }
    let options = node.options(kind(69, "BidirectionalSequenceLSTMOptions", 6))?;
    options.only(ACTIVATION, &[TANH], "fused_activation_function")?;
    let op = BidirectionalLstm {
        merge: options.flag(MERGE_OUTPUTS)?,
        time_major: options.flag_unless_cleared(TIME_MAJOR)?,
        cell_clip: options.f32(CELL_CLIP)?,
        projection_clip: options.f32(PROJ_CLIP)?,
    };
    Ok(op.into())
}

/// Checks that `x` has an axis of steps.
fn sequences(node: &Node<'_>) -> Result<(), OpError> {
    node.shape(0)?.array::<3>()?;
    Ok(())
}

/// Checks that `x` has no axis of steps.
fn one_step(node: &Node<'_>) -> Result<(), OpError> {
    node.shape(0)?.array::<2>()?;
    Ok(())
}
