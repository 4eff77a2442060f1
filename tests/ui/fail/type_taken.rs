// Names of types that generated code uses, and a keyword.
#![allow(non_camel_case_types)]
use aot_macros::aot_model;

aot_model!(struct bool = "models/dense.json");
aot_model!(struct steps = "models/dense.json");
aot_model!("models/dense.json", name = "match");
aot_model!("models/dense.json", name = "my net");

fn main() {}
