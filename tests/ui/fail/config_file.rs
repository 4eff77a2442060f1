aot_macros::aot_model!("models/dense.json", config = "models/wrong.toml");
aot_macros::aot_model!("models/dense.json", config = "models/absent.toml");

fn main() {}
