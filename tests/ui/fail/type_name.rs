aot_macros::aot_model!("models/3d-net!.json");

fn main() {}
