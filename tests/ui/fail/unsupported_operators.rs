aot_macros::aot_model!("models/unsupported.json");

fn main() {}
