aot_macros::aot_model! {
    struct Dense = "models/dense.json" { inputs = "rows" }
}

fn main() {}
