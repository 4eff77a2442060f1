// A device with memory that the CPU does not reach has to copy.
use std::convert::Infallible;

use aot_rt::DeviceTensor;
use aot_rt::kernels::FullyConnectedF32;

aot_macros::aot_model! {
    struct Net = "models/two_layers.json" {
        devices.npu.nodes = ["first"],
        pools = { ram = { reach = ["cpu"] }, npu_sram = { reach = ["npu"] } },
    }
}

struct Npu;

impl aot_rt::Device for Npu {
    type Error = Infallible;
}

impl NetNpu for Npu {
    fn fully_connected_f32(
        &mut self,
        _: &'static aot_rt::StepInfo,
        _: &'static FullyConnectedF32,
        _: DeviceTensor,
        _: DeviceTensor,
        _: &[f32],
        _: &[f32],
    ) -> Result<(), Infallible> {
        Ok(())
    }
}

fn main() {
    let _ = Net::new().run(&mut NetDevices::new(Npu), &[1.0, 2.0]);
}
