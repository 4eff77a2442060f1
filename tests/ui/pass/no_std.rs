// Generated code names nothing of the standard library's prelude.
#![no_std]

extern crate std;

aot_macros::aot_model!("models/dense.json");

fn main() {
    std::assert_eq!(Dense::new().run(&[1.0, 1.0, 1.0]), &[6.5, 14.5]);
}
