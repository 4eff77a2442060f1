// Where steps cannot be divided as far, and where runs do not go step by step.
aot_macros::aot_model!("models/two_layers.json", max_step_macs = 1);
aot_macros::aot_model!("models/two_layers.json", max_step_macs = 0);

fn main() {}
