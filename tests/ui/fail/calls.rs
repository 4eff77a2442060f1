aot_macros::aot_model!("models/dense.json", calls = "vtable");
aot_macros::aot_model! { struct Bound = "models/two_layers.json" { calls = "registry" } }

fn main() {
    // A run needs kernels, and cannot do without looking at its result.
    Bound::new().run(&[1.0, -2.0]);
}
