// What no operator computes: tensors without elements where elements are needed, integers of
// four bits, half precision.
use aot_macros::aot_model;

aot_model!("models/edges.json");
aot_model!("models/half.json");

fn main() {}
