// Generated code does not depend on what the user's names mean.
#![allow(dead_code)]

struct Option;
struct Some;
struct Result;
struct Default;
struct Model;
mod core {}
mod std {}
mod aot_rt {}

aot_macros::aot_model!("models/dense.json");

fn main() {
    ::std::assert_eq!(Dense::new().run(&[1.0, 1.0, 1.0]), &[6.5, 14.5]);
}
