// Each unknown key is reported, at its own place.
aot_macros::aot_model! {
    struct Net = "models/dense.json" {
        optimise = "size",
        ram_limit = 1_000,
        colour = true,
    }
}

fn main() {}
