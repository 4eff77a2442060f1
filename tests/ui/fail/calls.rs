aot_macros::aot_model!("models/dense.json", calls = "vtable");

fn main() {}
