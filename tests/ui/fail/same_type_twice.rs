// `Net` is the name of two types, and `OddInputs` is that of the struct of the inputs of `Odd`.
use aot_macros::aot_model;

aot_model!(struct Net = "models/dense.json");
aot_model!(struct Net = "models/two_layers.json");

aot_model!(struct Odd = "models/odd_names.json");
aot_model!(struct OddInputs = "models/dense.json");

fn main() {}
