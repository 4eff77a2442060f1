// Two models in one module, and the same one again in another and in a function.
use aot_macros::aot_model;

aot_model!("models/dense.json");
aot_model!("models/two_layers.json");

mod other {
    aot_macros::aot_model!(pub struct Dense = "models/dense.json";);
}

fn inside() -> [f32; 2] {
    aot_model!(struct Dense = "models/dense.json");
    *Dense::new().run(&[1.0, 1.0, 1.0])
}

fn main() {
    let expect = [6.5, 14.5];
    assert_eq!(Dense::new().run(&[1.0, 1.0, 1.0]), &expect);
    assert_eq!(other::Dense::new().run(&[1.0, 1.0, 1.0]), &expect);
    assert_eq!(inside(), expect);
    assert_eq!(TwoLayers::new().run(&[1.0, 1.0]), &[3.0, 7.0, 26.0]);
}
