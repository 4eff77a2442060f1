//! Devices in the macro's braces, as in `aot.toml`: as a table, and key by key.

use std::convert::Infallible;

use aot_rt::{Device, StepInfo, kernels};

aot_macros::aot_model! {
    pub struct Net = "models/two_layers.json" {
        devices = {
            npu = { nodes = ["first"], kind = "matrix", activate = "first_use" },
        },
        devices.dsp.kind = "matrix",
        devices.dsp.operators = ["fully_connected"],
    }
}

struct Matrix;

impl Device for Matrix {
    type Error = Infallible;
}

impl NetMatrix for Matrix {
    fn fully_connected_f32(
        &mut self,
        step: &'static StepInfo,
        params: &'static kernels::FullyConnectedF32,
        x: &[f32],
        y: &mut [f32],
        weights: &[f32],
        _: &[f32],
    ) -> Result<(), Infallible> {
        assert_eq!(step.device, Some(if step.node == "first" { "npu" } else { "dsp" }));
        for (y, filter) in y.iter_mut().zip(weights.chunks(params.inputs)) {
            *y = filter.iter().zip(x).map(|(w, x)| w * x).sum();
        }
        Ok(())
    }
}

fn main() {
    let mut devices = NetDevices::new(Matrix, Matrix);
    let mut net = Net::new();
    let Ok(y) = net.run(&mut devices, &[1.0, 10.0]);
    assert_eq!(y, &[21.0, 43.0, 65.0 + 87.0]);
    devices.deactivate().unwrap();
}
