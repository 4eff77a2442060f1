// A device has to compute what the model calls on it.
use std::convert::Infallible;

aot_macros::aot_model!("models/two_layers.json", name = "Net", devices.npu.nodes = ["first"]);

struct Npu;

impl aot_rt::Device for Npu {
    type Error = Infallible;
}

fn main() {
    let _ = Net::new().run(&mut NetDevices::new(Npu), &[1.0, 2.0]);
}
