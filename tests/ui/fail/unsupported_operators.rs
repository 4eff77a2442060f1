// All of a model's problems come together.
aot_macros::aot_model!("models/unsupported.json");
aot_macros::aot_model!("models/unsupported.tflite");

fn main() {}
