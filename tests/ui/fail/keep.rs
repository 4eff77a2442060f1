// Names of no tensor, each with the nearest; at the key.
aot_macros::aot_model! {
    struct Typo = "models/two_layers.json" { keep = ["hiden", "y", "nothing like it"] }
}
aot_macros::aot_model!("models/two_layers.json", keep = ["hidden", "hidden"]);
aot_macros::aot_model!("models/two_layers.json", keep = "hidden");

fn main() {}
