//! Models that must be refused, each for the stated reason.

use std::collections::BTreeMap;
use std::path::Path;

use aot_build::{Config, compile, import};
use serde::Deserialize;

/// For each file, parts of the message that say what is wrong.
const SAYS: &[(&str, &[&str])] = &[
    ("add_f32_fused_tanh", &["fused activation TANH is not supported"]),
    ("add_i8_shapes", &["[2, 3]", "[2, 4]", "cannot be broadcast"]),
    ("arg_max_output_type", &["output_type 4 is not supported"]),
    (
        "average_pool_2d_i16_unequal_quantization",
        &["scale 0.1 and zero point 0", "scale 0.2 and zero point 0", "equal"],
    ),
    (
        "average_pool_2d_i8_unequal_quantization",
        &["scale 0.1 and zero point -3", "scale 0.2 and zero point 4", "equal"],
    ),
    ("batch_matmul_hybrid", &["types are f32, i8 → f32"]),
    ("conv_2d_hybrid_batch", &["is a batch of 2, and weights are i8"]),
    ("conv_2d_i8_channel_mismatch", &["2 channels", "[2, 3, 3, 3]"]),
    ("conv_2d_i8_no_output_quantization", &["without scale"]),
    ("conv_2d_i8_scale_count", &["3 scales"]),
    ("conv_2d_i8_stale_output_shape", &["[1, 1, 1, 1]", "[1, 4, 4, 2]"]),
    ("conv_2d_i8_weight_zero_point", &["zero point other than 0"]),
    ("cumsum_f32_axis_not_constant", &["`axis`", "is not constant"]),
    ("depthwise_conv_2d_hybrid", &["1 scale for 2 channels", "a scale for each channel"]),
    ("embedding_lookup_zero_point", &["`table`", "zero point other than 0"]),
    ("fully_connected_i8_bias_scale", &["scale 0.5", "expected 0.002"]),
    ("fully_connected_i8_depth_mismatch", &["no rows of 12"]),
    ("greater_i16_unequal_scales", &["scale 0.1 and zero point 0", "scale 0.2 and zero point 0", "equal"]),
    ("gather_nd_f32_axes", &["indices [1, 3] are for 3 axes", "[2, 3]"]),
    ("gather_nd_f32_index", &["index 3", "3 elements"]),
    ("l2_normalization_i8_output_quantization", &["scale 0.2 and zero point 4", "0.0078125 and 0"]),
    ("log_softmax_i8_output_quantization", &["scale 0.2 and zero point 4", "0.0625 and 127"]),
    ("if_i8_condition_type", &["the condition is i32 []", "expected one bool"]),
    ("if_i8_recursion", &["subgraphs run each other without end: 1 → 1"]),
    ("if_i8_shapes", &["i8 [1, 2, 3, 1]", "the operand i8 [1, 2, 3, 2]"]),
    (
        "if_i8_unequal_quantization",
        &["scale 0.031 and zero point 7", "the operand", "scale 0.0235 and zero point -11"],
    ),
    ("logistic_i8_output_quantization", &["scale 0.2 and zero point 4", "0.00390625 and -128"]),
    (
        "max_pool_2d_i8_unequal_quantization",
        &["scale 0.1 and zero point -3", "scale 0.2 and zero point 4", "equal"],
    ),
    ("mean_f32_axis_out_of_range", &["axis 4", "-3..3"]),
    ("mul_i16_zero_point", &["`x0` is i16 with a zero point other than 0"]),
    ("one_hot_negative_depth", &["depth is -4"]),
    ("pad_i8_unequal_quantization", &["scale 0.1 and zero point -3", "scale 0.2 and zero point 4", "equal"]),
    (
        "reduce_max_i8_unequal_quantization",
        &["scale 0.1 and zero point -3", "scale 0.2 and zero point 4", "equal"],
    ),
    (
        "reduce_min_i8_unequal_quantization",
        &["scale 0.1 and zero point -3", "scale 0.2 and zero point 4", "equal"],
    ),
    ("reduce_prod_i8_overflow", &["12 elements can overflow 32 bits"]),
    ("reshape_f32_element_count", &["another number of elements"]),
    (
        "reshape_i8_unequal_quantization",
        &["scale 0.1 and zero point -3", "scale 0.2 and zero point 4", "equal"],
    ),
    (
        "resize_bilinear_i8_unequal_quantization",
        &["scale 0.1 and zero point -3", "scale 0.2 and zero point 4", "equal"],
    ),
    ("transpose_conv_i8_impossible_shape", &["8×4 comes from 4×2 cells"]),
    ("transpose_conv_i8_stale_output_shape", &["[1, 3, 4, 1]", "[1, 4, 4, 1]"]),
    ("svdf_f32_state_not_variable", &["operand 4", "`state`", "no variable"]),
    ("svdf_hybrid", &["operand 1, `weights_feature`, is i8 [4, 3], expected f32 [4, 3]"]),
    ("unidirectional_sequence_lstm_f32_one_peephole", &["operand 10 is left out, and operand 9 is not"]),
    ("unidirectional_sequence_lstm_f32_relu", &["fused_activation_function 1"]),
    ("unidirectional_sequence_lstm_i8_cell_scale", &["`cell_state` has scale 0.001", "power of two"]),
    ("unidirectional_sequence_lstm_i8_peephole", &["operand 9, `peephole0`, is a peephole", "f32 only"]),
    ("softmax_i16_output_quantization", &["scale 0.2 and zero point 0", "0.000030517578 and 0"]),
    ("signal_energy_bins", &["bins 0 to 5", "no part of 4"]),
    ("signal_filter_bank_bins", &["band 1 has 4 bins from 5 on", "there are 8"]),
    ("signal_filter_bank_log_missing_attribute", &["attribute `output_scale` is missing"]),
    ("signal_pcan_gains", &["operand 2 is i16 [121]", "expected 125 elements"]),
    ("signal_rfft_length", &["fft_length is 12", "expected a power of two"]),
    ("signal_rfft_type", &["T is 0", "expected 7 (int16)"]),
    ("signal_window_shift", &["shift is 32", "expected at most 31"]),
    ("signal_window_unknown_attribute", &["attribute \"rounding\" is not known", "shift"]),
    ("softmax_i8_output_quantization", &["scale 0.2 and zero point 4", "0.00390625 and -128"]),
    ("space_to_batch_nd_f32_stale_output_shape", &["[1, 1, 1, 1]", "[2, 1, 6, 1]"]),
    ("sum_f32_axis_out_of_range", &["axis -3", "-2..2"]),
];

#[derive(Deserialize)]
struct Refused {
    file: String,
    reason: String,
}

#[test]
fn refused() {
    let folder = crate::workspace().join("tests/conformance/refused");
    let list = std::fs::read(folder.join("refused.json")).expect("the list is there");
    let list: Vec<Refused> = serde_json::from_slice(&list).expect("the list is right");
    let mut says = BTreeMap::from_iter(SAYS.iter().copied());
    let mut wrong = Vec::new();
    for Refused { file, reason } in &list {
        let Some(parts) = says.remove(file.trim_end_matches(".tflite")) else {
            wrong.push(format!("{file}: the test does not say what the message is to say: {reason}"));
            continue;
        };
        let Some(message) = refusal(&folder.join(file)) else {
            wrong.push(format!("{file}: is compiled, though {reason}"));
            continue;
        };
        println!("{reason}\n    {message}");
        for missing in parts.iter().filter(|part| !message.contains(**part)) {
            wrong.push(format!("{file}: the message does not say `{missing}`:\n    {message}"));
        }
    }
    println!("refused: {} models", list.len());
    assert!(says.is_empty(), "not in the list: {says:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Why the model at `path` is refused; `None` when it is compiled.
fn refusal(path: &Path) -> Option<String> {
    match import::import(path, &Config::default()) {
        Err(error) => Some(error.to_string()),
        Ok(imported) => {
            let problems = compile(imported.graph, &Config::default()).err()?;
            Some(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
        }
    }
}
