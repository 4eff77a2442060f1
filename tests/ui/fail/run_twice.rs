// A runner has one run at a time.
aot_macros::aot_model!("models/two_layers.json");

fn main() {
    let mut net = TwoLayers::new();
    let mut first = net.start(&[1.0, 1.0]);
    let mut second = net.start(&[2.0, 2.0]);
    first.step();
    second.step();
}
