aot_macros::aot_model!("models/absent.json");

fn main() {}
