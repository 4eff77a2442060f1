aot_macros::aot_model!("models/dense.json", optimize = "size", optimize = "speed");

aot_macros::aot_model! {
    struct Net = "models/dense.json" {
        name = "Other",
    }
}

fn main() {}
