//! Devices whose kernels are called by one method, or bound by name.

use aot_rt::kernels::{Kernel, Mode};
use aot_rt::{
    BoundError, CallError, DeviceCall, DeviceEntry, DeviceError, KernelEntry, KernelError, PackedDevice,
    StepInfo, Tensor,
};

use crate::faults::{X, expected};
use crate::mock::{ACTIVATED, CALLS, DEACTIVATED, Fault, Log, Mock, mocks, product};
use crate::{bound, packed};

/// What the devices compute, for any step of the models.
fn compute(kernels: &[&'static Kernel], tensors: &mut [Tensor<'_>]) -> Result<(), KernelError> {
    match (kernels, tensors) {
        ([Kernel::FullyConnectedF32(params)], [x, y, weights, bias]) => {
            let (x, y) = (x.elements()?, y.elements_mut()?);
            assert_eq!((x.len(), y.len(), bias.bytes().len()), (params.inputs, params.outputs, 0));
            y.copy_from_slice(&product(x, weights.elements()?));
        }
        ([Kernel::AddF32(_), Kernel::NegF32(_)], [x, y, b]) => {
            let sums = x.elements::<f32>()?.iter().zip(b.elements::<f32>()?);
            for (y, (x, b)) in y.elements_mut::<f32>()?.iter_mut().zip(sums) {
                *y = -(x + b);
            }
        }
        ([Kernel::AddF32(_)], [x, y, b]) => {
            let sums = x.elements::<f32>()?.iter().zip(b.elements::<f32>()?);
            for (y, (x, b)) in y.elements_mut::<f32>()?.iter_mut().zip(sums) {
                *y = x + b;
            }
        }
        _ => return Err(KernelError::Kernel),
    }
    Ok(())
}

impl PackedDevice for Mock<'_> {
    fn call(
        &mut self,
        step: &'static StepInfo,
        kernels: &[&'static Kernel],
        tensors: &mut [Tensor<'_>],
    ) -> Result<(), Fault> {
        run(self, step, kernels, tensors)
    }
}

/// The same as a function.
pub(crate) fn run(
    device: &mut Mock<'_>,
    step: &'static StepInfo,
    kernels: &[&'static Kernel],
    tensors: &mut [Tensor<'_>],
) -> Result<(), Fault> {
    device.kernel(step)?;
    compute(kernels, tensors).expect("the tensors are those of the kernel");
    Ok(())
}

/// A run with the flag set.
fn whole_run() -> Vec<&'static str> {
    [&ACTIVATED[..], &CALLS, &DEACTIVATED].concat()
}

#[test]
fn one_method_runs_every_step() {
    let log = Log::default();
    let [left, right, dsp] = mocks(&log);
    let mut devices = packed::ThreeDevices::new(left, right, dsp);
    let mut net = packed::Three::new();
    for flag in [false, true] {
        log.restart(0..0);
        let inputs = packed::ThreeInputs { x: &X, flag: &[flag.into()] };
        assert_eq!(net.run(&mut devices, inputs).unwrap()[..], expected(flag));
    }
    assert_eq!(log.text(), whole_run());

    // A fault of the first kernel.
    log.restart(4..5);
    let inputs = packed::ThreeInputs { x: &X, flag: &[1] };
    let Err(packed::ThreeError::Left(error)) = net.run(&mut devices, inputs) else { panic!("no error") };
    assert_eq!((error.call, error.error), (DeviceCall::Kernel, Fault(4)));
    assert_eq!(error.step.map(|step| step.kernel), Some(Some("fully_connected_f32")));
}

type Table<'l> = [DeviceEntry<Mock<'l>>; 1];

fn tables<'l>() -> (Table<'l>, Table<'l>) {
    let npu = DeviceEntry { name: "fully_connected_f32", function: run };
    let dsp = DeviceEntry { name: "add_f32_then_neg_f32", function: run };
    ([npu], [dsp])
}

#[test]
fn kernels_of_devices_are_bound_by_name() {
    let log = Log::default();
    let [left, right, dsp] = mocks(&log);
    let (npu_table, dsp_table) = tables();
    let mut devices = bound::ThreeDevices::new(
        bound::ThreeDevices::bind_left(left, &[&npu_table]).unwrap(),
        bound::ThreeDevices::bind_right(right, &[&dsp_table, &npu_table]).unwrap(),
        bound::ThreeDevices::bind_dsp(dsp, &[&dsp_table]).unwrap(),
    );
    let kernels = bound::Three::bind(&[bound::Three::KERNELS]).unwrap();
    let mut net = bound::Three::new();
    for flag in [false, true] {
        log.restart(0..0);
        let inputs = bound::ThreeInputs { x: &X, flag: &[flag.into()] };
        assert_eq!(net.run(&mut devices, &kernels, inputs).unwrap()[..], expected(flag));
    }
    assert_eq!(log.text(), whole_run());

    log.restart(7..8);
    let inputs = bound::ThreeInputs { x: &X, flag: &[1] };
    let Err(bound::ThreeError::Dsp(error)) = net.run(&mut devices, &kernels, inputs) else {
        panic!("no error")
    };
    assert_eq!((error.call, error.error), (DeviceCall::Kernel, BoundError::Device(Fault(7))));
}

#[test]
fn missing_kernels_of_a_device_are_reported() {
    let log = Log::default();
    let (npu_table, _) = tables();
    let dsp = Mock { name: "dsp", log: &log };
    let missing = bound::ThreeDevices::bind_dsp(dsp, &[&npu_table]).map(|_| ()).unwrap_err();
    assert_eq!(missing.to_string(), "no table has the kernels `add_f32_then_neg_f32`");
}

/// A device that was bound for other steps does not compute anything.
#[test]
fn a_device_refuses_steps_that_it_was_not_bound_for() {
    let log = Log::default();
    let [left, right, dsp] = mocks(&log);
    let (npu_table, _) = tables();
    let mut devices = bound::ThreeDevices::new(
        bound::ThreeDevices::bind_left(left, &[&npu_table]).unwrap(),
        bound::ThreeDevices::bind_right(right, &[&npu_table]).unwrap(),
        bound::ThreeDevices::bind_left(dsp, &[&npu_table]).unwrap(),
    );
    let inputs = bound::ThreeInputs { x: &X, flag: &[1] };
    let own = bound::ThreeKernels::default();
    let Err(bound::ThreeError::Dsp(DeviceError { call, error, .. })) =
        bound::Three::new().run(&mut devices, &own, inputs)
    else {
        panic!("no error")
    };
    assert_eq!((call, error), (DeviceCall::Kernel, BoundError::Unbound));
}

/// Refuses.
fn refuse(_: &Kernel, _: Mode, _: &mut [Tensor<'_>]) -> Result<(), KernelError> {
    Err(KernelError::Unsupported)
}

#[test]
fn devices_are_put_to_rest_when_a_kernel_on_the_cpu_refuses() {
    let log = Log::default();
    let [left, right, dsp] = mocks(&log);
    let (npu_table, dsp_table) = tables();
    let mut devices = bound::ThreeDevices::new(
        bound::ThreeDevices::bind_left(left, &[&npu_table]).unwrap(),
        bound::ThreeDevices::bind_right(right, &[&npu_table]).unwrap(),
        bound::ThreeDevices::bind_dsp(dsp, &[&dsp_table]).unwrap(),
    );
    let refusing = [KernelEntry { name: "abs_f32", function: refuse }];
    let kernels = bound::Three::bind(&[&refusing, bound::Three::KERNELS]).unwrap();
    let inputs = || bound::ThreeInputs { x: &X, flag: &[0] };
    let mut net = bound::Three::new();
    let Err(bound::ThreeError::Kernel(CallError { step, error })) = net.run(&mut devices, &kernels, inputs())
    else {
        panic!("no error")
    };
    assert_eq!((step.node, error), ("flat", KernelError::Unsupported));
    assert_eq!(log.text(), [&ACTIVATED[..], &CALLS[..6], &DEACTIVATED].concat());
    // The next run is right.
    let own = bound::ThreeKernels::default();
    assert_eq!(net.run(&mut devices, &own, inputs()).unwrap()[..], expected(false));
}
