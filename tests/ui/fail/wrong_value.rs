aot_macros::aot_model!(
    "models/dense.json",
    optimize = "fast",
    ram_limit = "32 kB",
    flash_limit = -1,
    inputs = ["caller"],
    name = "3d net",
    config = 7
);

fn main() {}
