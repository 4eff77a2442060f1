aot_macros::aot_model!("models/broken.json");
aot_macros::aot_model!("models/garbage.tflite");

fn main() {}
