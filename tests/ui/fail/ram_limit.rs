// At the key that asks for too much; or at the model, when a file asks for it.
aot_macros::aot_model!("models/two_layers.json", ram_limit = 20, flash_limit = 32);
aot_macros::aot_model!("models/two_layers.json", config = "models/small.toml");

fn main() {}
