//! The models that are run step by step; `build.rs` compiles them.

use std::num::NonZeroU64;
use std::path::Path;

use aot_build::Builder;
use aot_build::config::{Calls, InputPlacement, Memory, Placement};

/// Layers that become several steps, with limits: the names of modules, and conformance cases.
const DIVIDED: [(&str, &str, &[u64]); 15] = [
    ("images", "conv_2d_i8_batch2_valid_stride2_relu", &[300, 432]),
    ("depthwise", "depthwise_conv_2d_f32_batch3", &[300, 1200]),
    ("transposed", "transpose_conv_f32_same_stride2_relu", &[1300, 1900]),
    ("transposed_images", "transpose_conv_i8_one_scale_batch2", &[2000, 4300]),
    ("transposed_odd", "transpose_conv_i16_same_odd_result", &[300]),
    ("volumes", "conv_3d_f32_same_stride", &[12000]),
    ("dilated_volumes", "conv_3d_f32_same_dilation_relu", &[2000, 3200]),
    ("lstm", "unidirectional_sequence_lstm_f32_time_major", &[160, 330]),
    ("lstm_sequences", "unidirectional_sequence_lstm_i8_batch2", &[350, 700, 1010]),
    ("lstm_backwards", "bidirectional_sequence_lstm_f32_merged", &[330]),
    ("rnn", "unidirectional_sequence_rnn_f32_batch2_relu", &[360, 750]),
    ("svdf", "svdf_f32_batch2_rank1_relu6", &[30, 40]),
    ("svdf_batch", "svdf_i8_batch2_rank1_relu", &[20, 80]),
    ("svdf_memory", "svdf_i8_memory_i8", &[45]),
    ("svdf_rank", "svdf_i8_rank2", &[80]),
];

/// Names of the modules, and what makes them.
pub(crate) fn models(workspace: &Path) -> Vec<(String, Builder)> {
    let digits = |file: &str| Builder::new(workspace.join("examples/digits/model").join(file));
    let case =
        |name: &str| Builder::new(workspace.join("tests/conformance/cases").join(name).join("model.tflite"));
    let int8 = || digits("digits.tflite");
    let nested = || Builder::new(workspace.join("tests/stepping/nested.json"));
    let mut models = vec![
        ("digits".to_owned(), int8()),
        ("digits_rows".to_owned(), int8().memory(Memory::Min)),
        (
            "digits_caller".to_owned(),
            int8().inputs(InputPlacement::Caller).outputs(Placement::Caller).memory(Memory::Min),
        ),
        ("digits_float".to_owned(), digits("digits.json")),
        ("digits_packed".to_owned(), int8().calls(Calls::Packed)),
        ("digits_registry".to_owned(), int8().calls(Calls::Registry).memory(Memory::Min)),
        ("branches".to_owned(), case("if_i8_both")),
        ("loops".to_owned(), case("while_f32_nested_while")),
        ("layer".to_owned(), case("fully_connected_i4_even_no_bias")),
        ("matrices".to_owned(), case("batch_matmul_f32_batch_of_heads")),
        ("nested".to_owned(), nested()),
    ];
    let mut divided = |name: &str, builder: Builder, most: u64| {
        models.push((format!("{name}_{most}"), builder.max_step_macs(NonZeroU64::new(most).expect("not 0"))));
    };
    // Rows of 18 432: one, two, and more than a layer has.
    for most in [18_432, 40_000, 147_455] {
        divided("digits", int8(), most);
    }
    divided("digits_rows", int8().memory(Memory::Min), 18_432);
    divided("digits_float", digits("digits.json"), 20_000);
    // Of 18 outputs of 64 inputs: one, and three.
    for most in [64, 200] {
        divided("layer", case("fully_connected_i4_even_no_bias"), most);
    }
    divided("matrices", case("batch_matmul_f32_batch_of_heads"), 10);
    // Rows of 216, and of 108.
    divided("nested", nested(), 216);
    divided("nested", nested(), 500);
    for (name, folder, limits) in DIVIDED {
        models.push((name.to_owned(), case(folder)));
        for most in limits {
            models.push((
                format!("{name}_{most}"),
                case(folder).max_step_macs(NonZeroU64::new(*most).expect("not 0")),
            ));
        }
    }
    models
}
