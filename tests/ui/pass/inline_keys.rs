// Keys after the short form; inline ones go over those of the file.
aot_macros::aot_model!("models/dense.json", config = "models/aot.toml", ram_limit = 1_024, name = "Other");
aot_macros::aot_model!("models/dense.json", name = "Third", config = "models/aot.toml", ram_limit = 1_025,);

fn main() {
    assert_eq!(Other::new().run(&[1.0, 1.0, 1.0]), Third::new().run(&[1.0, 1.0, 1.0]));
}
