//! Devices with memory of their own whose kernels are called by one method, or bound by name.

use aot_rt::kernels::Kernel;
use aot_rt::{DeviceEntry, KernelError, PackedDevice, StepInfo, Tensor};

use crate::conventions;
use crate::memory::{Memory, Unit, X, expected, order, units};
use crate::mock::{Fault, Log, product};
use crate::{sealed_bound, sealed_packed};

/// What the devices compute.
fn compute(memory: &mut Memory, kernels: &[&'static Kernel], tensors: &mut [Tensor<'_>]) {
    let ([Kernel::FullyConnectedF32(_)], [x, y, weights, _]) = (kernels, tensors) else {
        panic!("{kernels:?}")
    };
    assert_eq!(x.elements::<f32>(), Err(KernelError::Unreached));
    assert!(weights.device().is_none());
    let (Some(x), Some(y)) = (x.device(), y.device()) else { panic!("the CPU reaches {x:?} or {y:?}") };
    let result = product(&memory.load(x), weights.elements().expect("weights are slices"));
    memory.store(y, &result);
}

fn run(
    unit: &mut Unit<'_>,
    step: &'static StepInfo,
    kernels: &[&'static Kernel],
    tensors: &mut [Tensor<'_>],
) -> Result<(), Fault> {
    unit.mock.kernel(step)?;
    compute(&mut unit.memory, kernels, tensors);
    Ok(())
}

impl PackedDevice for Unit<'_> {
    fn call(
        &mut self,
        step: &'static StepInfo,
        kernels: &[&'static Kernel],
        tensors: &mut [Tensor<'_>],
    ) -> Result<(), Fault> {
        run(self, step, kernels, tensors)
    }
}

#[test]
fn one_method_runs_every_step() {
    let log = Log::default();
    let (npu, dsp, aux) = units(&log);
    let mut devices = sealed_packed::SealedDevices::new(npu, dsp, aux);
    let mut net = sealed_packed::Sealed::new();
    for flag in [false, true] {
        log.restart(0..0);
        let inputs = sealed_packed::SealedInputs { x: &X, flag: &[flag.into()] };
        assert_eq!(net.run(&mut devices, inputs).unwrap()[..], expected(flag));
    }
    assert_eq!(log.text(), order());
}

#[test]
fn kernels_are_bound_by_name() {
    let log = Log::default();
    let (npu, dsp, aux) = units(&log);
    let products = [DeviceEntry { name: "fully_connected_f32", function: run }];
    let sums = [DeviceEntry { name: "add_f32", function: conventions::run }];
    let mut devices = sealed_bound::SealedDevices::new(
        sealed_bound::SealedDevices::bind_npu(npu, &[&products]).unwrap(),
        sealed_bound::SealedDevices::bind_dsp(dsp, &[&products]).unwrap(),
        sealed_bound::SealedDevices::bind_aux(aux, &[&sums]).unwrap(),
    );
    let kernels = sealed_bound::SealedKernels::default();
    let mut net = sealed_bound::Sealed::new();
    for flag in [false, true] {
        log.restart(0..0);
        let inputs = sealed_bound::SealedInputs { x: &X, flag: &[flag.into()] };
        assert_eq!(net.run(&mut devices, &kernels, inputs).unwrap()[..], expected(flag));
    }
    assert_eq!(log.text(), order());
}
