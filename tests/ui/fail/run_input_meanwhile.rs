// Inputs stay as they are while a run holds them, in the workspace and with the caller.
aot_macros::aot_model!("models/two_layers.json");

mod caller {
    aot_macros::aot_model!(pub struct Caller = "models/two_layers.json" { inputs = "caller" });
}

fn main() {
    let mut net = TwoLayers::new();
    let mut run = net.start_in_place();
    net.x_mut().fill(1.0);
    run.step();

    let mut net = caller::Caller::new();
    let mut x = [1.0, 1.0];
    let mut run = net.start(&x);
    x[0] = 2.0;
    run.step();
}
