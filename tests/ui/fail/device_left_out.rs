// A model that calls devices is run with them, and may fail.
aot_macros::aot_model!("models/two_layers.json", name = "Net", devices.npu.nodes = ["first"]);

fn main() {
    Net::new().run(&[1.0, 2.0]);
}
