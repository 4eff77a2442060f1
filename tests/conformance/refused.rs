//! Models that must be refused, each for the stated reason.

use std::collections::BTreeMap;
use std::path::Path;

use aot_build::{Config, compile, import};
use serde::Deserialize;

/// For each file, parts of the message that say what is wrong.
const SAYS: [(&str, &[&str]); 22] = [
    ("add_i8_shapes", &["[2, 3]", "[2, 4]", "cannot be broadcast"]),
    (
        "average_pool_2d_i8_unequal_quantization",
        &["scale 0.1 and zero point -3", "scale 0.2 and zero point 4", "equal"],
    ),
    ("conv_2d_hybrid_per_channel", &["a scale for each channel", "not supported with f32 activations"]),
    ("conv_2d_i8_channel_mismatch", &["2 channels", "[2, 3, 3, 3]"]),
    ("conv_2d_i8_no_output_quantization", &["without scale"]),
    ("conv_2d_i8_scale_count", &["3 scales"]),
    ("conv_2d_i8_stale_output_shape", &["[1, 1, 1, 1]", "[1, 4, 4, 2]"]),
    ("conv_2d_i8_weight_zero_point", &["zero point other than 0"]),
    ("depthwise_conv_2d_hybrid", &["f32", "i8", "dynamic-range quantization is not supported"]),
    ("fully_connected_i8_bias_scale", &["scale 0.5", "expected 0.002"]),
    ("fully_connected_i8_depth_mismatch", &["no rows of 12"]),
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
    ("pad_i8_unequal_quantization", &["scale 0.1 and zero point -3", "scale 0.2 and zero point 4", "equal"]),
    ("reshape_f32_element_count", &["another number of elements"]),
    (
        "reshape_i8_unequal_quantization",
        &["scale 0.1 and zero point -3", "scale 0.2 and zero point 4", "equal"],
    ),
    ("softmax_i8_output_quantization", &["scale 0.2 and zero point 4", "0.00390625 and -128"]),
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
    let mut says = BTreeMap::from(SAYS);
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
    match import::import(path) {
        Err(error) => Some(error.to_string()),
        Ok(imported) => {
            let problems = compile(imported.graph, &Config::default()).err()?;
            Some(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
        }
    }
}
