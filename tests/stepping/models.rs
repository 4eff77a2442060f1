//! The models that are run step by step; `build.rs` compiles them.

use std::num::NonZeroU64;
use std::path::Path;

use aot_build::Builder;
use aot_build::config::{Calls, InputPlacement, Memory, Placement};

/// Names of the modules, and what makes them.
pub(crate) fn models(workspace: &Path) -> Vec<(String, Builder)> {
    let digits = |file: &str| Builder::new(workspace.join("examples/digits/model").join(file));
    let case =
        |name: &str| Builder::new(workspace.join("tests/conformance/cases").join(name).join("model.tflite"));
    let int8 = || digits("digits.tflite");
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
    models
}
