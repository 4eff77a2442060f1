// A private type, named after the file.
aot_macros::aot_model!("models/dense.json");

fn main() {
    let mut net = Dense::new();
    assert_eq!(net.run(&[1.0, 1.0, 1.0]), &[6.5, 14.5]);
}
