// Nodes and operators that the model does not have; names that the generated code cannot have.
aot_macros::aot_model!(
    "models/two_layers.json",
    name = "First",
    devices.npu = { operators = ["fully_conected", "relu"], nodes = ["frist"] },
    devices.dsp = { patterns = [["fully_connected", "relu"]], nodes = ["frist"] }
);

aot_macros::aot_model!("models/two_layers.json", name = "Net", devices.result.operators = ["*"]);

fn main() {}
