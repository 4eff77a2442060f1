// What is wrong with a device is said at the key.
aot_macros::aot_model!(
    "models/two_layers.json",
    devices.npu = { operator = ["conv2d"], activate = "never" },
    devices.NPU.operators = ["conv2d"],
    devices.dsp.patterns = [["relu"]],
    devices.dsp.patterns = [["relu", "relu"]]
);

fn main() {}
