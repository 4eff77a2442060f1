//! The models, each in the configurations that make other code of it.

use aot_macros::aot_model;

aot_model! { pub struct Digits = "../../examples/digits/model/digits.tflite"; }
aot_model! { pub struct DigitsMin = "../../examples/digits/model/digits.tflite" { memory = "min" } }
aot_model! {
    pub struct DigitsCaller = "../../examples/digits/model/digits.tflite" {
        optimize = "size", inputs = "caller", outputs = "caller",
    }
}
aot_model! { pub struct IfBoth = "../conformance/cases/if_i8_both/model.tflite"; }
aot_model! { pub struct WhileWeights = "../conformance/cases/while_f32_weights/model.tflite"; }
aot_model! { pub struct Layers = "models/layers.json"; }
aot_model! { pub struct LayersDamaged = "models/layers_damaged.json"; }
aot_model! { pub struct DoubleI8 = "models/double_i8.json"; }
aot_model! { pub struct DoubleI16 = "models/double_i16.json"; }
