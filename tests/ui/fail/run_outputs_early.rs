// The outputs are there when the run is finished.
aot_macros::aot_model!("models/two_layers.json");

fn main() {
    let mut net = TwoLayers::new();
    let mut run = net.start(&[1.0, 1.0]);
    run.step();
    let output = net.y();
    run.step();
    assert_eq!(output, &[3.0, 7.0, 26.0]);
}
