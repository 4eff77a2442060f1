//! The audio front end of TensorFlow Lite Micro: custom operators.

use aot_rt::DType;

use super::names;
use super::node::Node;
use super::operators::{Known, known};
use super::types::{F, I32, U32, U64, W};
use crate::error::OpError;
use crate::ops::{
    Op, SignalEnergy, SignalFftAutoScale, SignalFilterBank, SignalFilterBankLog,
    SignalFilterBankSpectralSubtraction, SignalFilterBankSquareRoot, SignalPcan, SignalRfft, SignalWindow,
};

pub(super) const OPERATORS: &[Known] = &[
    known("SignalEnergy", 1, [1, 1], &[&[W, U32]], energy),
    known("SignalFftAutoScale", 1, [1, 1], &[&[W, W], &[W, I32]], fft_auto_scale).with_results(),
    known("SignalFilterBank", 1, [6, 6], &[&[U32, W, W, W, W, W, U64]], filter_bank),
    known("SignalFilterBankLog", 1, [1, 1], &[&[U32, W]], filter_bank_log),
    known("SignalFilterBankSpectralSubtraction", 1, [1, 1], &[&[U32, U32]], spectral_subtraction)
        .with_results()
        .keeping(),
    known("SignalFilterBankSquareRoot", 1, [2, 2], &[&[U64, I32, U32]], square_root),
    known("SignalPCAN", 1, [3, 3], &[&[U32, U32, W, U32]], pcan),
    known("SignalRfft", 1, [1, 1], &[&[W, W], &[I32, I32], &[F, F]], rfft),
    known("SignalWindow", 1, [2, 2], &[&[W, W, W]], window),
];

/// An attribute of a type that does not hold every integer.
fn within<T: TryFrom<i64>>(name: &str, value: i64) -> Result<T, OpError> {
    T::try_from(value).map_err(|_| format!("{name} is {value}, which is out of range").into())
}

fn energy(node: &Node<'_>) -> Result<Op, OpError> {
    let [start, end] = node.attributes(["start_index", "end_index"])?;
    let (start_index, end_index) = (within("start_index", start)?, within("end_index", end)?);
    Ok(SignalEnergy { start_index, end_index }.into())
}

fn fft_auto_scale(node: &Node<'_>) -> Result<Op, OpError> {
    let [] = node.attributes([])?;
    Ok(SignalFftAutoScale {}.into())
}

fn filter_bank(node: &Node<'_>) -> Result<Op, OpError> {
    let [num_channels] = node.attributes(["num_channels"])?;
    Ok(SignalFilterBank { num_channels: within("num_channels", num_channels)? }.into())
}

fn filter_bank_log(node: &Node<'_>) -> Result<Op, OpError> {
    let [scale, bits] = node.attributes(["output_scale", "input_correction_bits"])?;
    let op = SignalFilterBankLog {
        output_scale: within("output_scale", scale)?,
        input_correction_bits: within("input_correction_bits", bits)?,
    };
    Ok(op.into())
}

fn spectral_subtraction(node: &Node<'_>) -> Result<Op, OpError> {
    let [smoothing, rest, alternate, alternate_rest, remaining, bits, weight_bits, clamping, channels] = node
        .attributes([
            "smoothing",
            "one_minus_smoothing",
            "alternate_smoothing",
            "alternate_one_minus_smoothing",
            "min_signal_remaining",
            "smoothing_bits",
            "spectral_subtraction_bits",
            "clamping",
            "num_channels",
        ])?;
    let channels_of_x = node.shape(0)?.elements();
    if usize::try_from(channels) != Ok(channels_of_x) {
        return Err(format!("num_channels is {channels}, operand 0 has {channels_of_x}").into());
    }
    let op = SignalFilterBankSpectralSubtraction {
        smoothing: within("smoothing", smoothing)?,
        one_minus_smoothing: within("one_minus_smoothing", rest)?,
        alternate_smoothing: within("alternate_smoothing", alternate)?,
        alternate_one_minus_smoothing: within("alternate_one_minus_smoothing", alternate_rest)?,
        min_signal_remaining: within("min_signal_remaining", remaining)?,
        smoothing_bits: within("smoothing_bits", bits)?,
        spectral_subtraction_bits: within("spectral_subtraction_bits", weight_bits)?,
        clamping: clamping != 0,
    };
    Ok(op.into())
}

fn square_root(node: &Node<'_>) -> Result<Op, OpError> {
    let [] = node.attributes([])?;
    Ok(SignalFilterBankSquareRoot {}.into())
}

fn pcan(node: &Node<'_>) -> Result<Op, OpError> {
    let [snr_shift] = node.attributes(["snr_shift"])?;
    Ok(SignalPcan { snr_shift: within("snr_shift", snr_shift)? }.into())
}

/// The type that attribute `T` says must be that of the operand.
fn check_type(node: &Node<'_>, code: i64) -> Result<(), OpError> {
    let expected = match node.result.dtype {
        DType::I16 => names::INT16,
        DType::I32 => names::INT32,
        _ => names::FLOAT32,
    };
    if code == i64::from(expected) {
        return Ok(());
    }
    Err(format!("T is {code}, expected {expected} ({})", names::type_name(expected)).into())
}

fn rfft(node: &Node<'_>) -> Result<Op, OpError> {
    let [ty, fft_length] = node.attributes(["T", "fft_length"])?;
    check_type(node, ty)?;
    Ok(SignalRfft { fft_length: within("fft_length", fft_length)? }.into())
}

fn window(node: &Node<'_>) -> Result<Op, OpError> {
    let [shift] = node.attributes(["shift"])?;
    Ok(SignalWindow { shift: within("shift", shift)? }.into())
}
