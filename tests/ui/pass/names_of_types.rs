// Types whose names differ in capitals only, and one that has a name of the generated code.
#![deny(warnings)]
#![allow(non_camel_case_types)]
use aot_macros::aot_model;

aot_model!(struct Kws = "models/dense.json");
aot_model!(struct KWS = "models/two_layers.json");
aot_model!(struct kws = "models/dense.json");
aot_model!(struct K_W_S = "models/two_layers.json");
aot_model!(struct Workspace = "models/dense.json");

fn main() {
    assert_eq!(Kws::new().run(&[1.0, 1.0, 1.0]), &[6.5, 14.5]);
    assert_eq!(KWS::new().run(&[1.0, 1.0]), &[3.0, 7.0, 26.0]);
    assert_eq!(kws::new().run(&[1.0, 1.0, 1.0]), &[6.5, 14.5]);
    assert_eq!(K_W_S::new().run(&[1.0, 1.0]), &[3.0, 7.0, 26.0]);
    assert_eq!(Workspace::new().run(&[1.0, 1.0, 1.0]), &[6.5, 14.5]);
}
