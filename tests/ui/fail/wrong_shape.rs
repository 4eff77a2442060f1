aot_macros::aot_model!("models/wrong_shape.json");

fn main() {}
