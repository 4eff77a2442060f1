// A model may have the name of a type that generated code uses.
mod option {
    aot_macros::aot_model!(pub struct Option = "models/dense.json");
}
mod result {
    aot_macros::aot_model!(pub struct Result = "models/two_layers.json");
}
mod workspace {
    aot_macros::aot_model!(pub struct Workspace = "models/dense.json" { inputs = "caller" });
}

fn main() {
    assert!(option::Option::take().is_some());
    assert_eq!(result::Result::new().run(&[1.0, 1.0]), &[3.0, 7.0, 26.0]);
    assert_eq!(workspace::Workspace::new().run(&[1.0, 1.0, 1.0]), &[6.5, 14.5]);
}
