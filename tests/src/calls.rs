//! Kernels that are called by one signature, and bound by name.
#![expect(clippy::float_cmp, reason = "sums of small whole numbers are exact")]

use std::sync::atomic::{AtomicUsize, Ordering};

use aot_rt::kernels::{Kernel, Mode};
use aot_rt::{CallError, KernelEntry, KernelError, Tensor};

use super::{packed, registry};

const A: [i8; 4] = [3, 4, 5, 127];
const B: [i8; 4] = [3, 3, 4, 3];
const UNUSED: [i8; 4] = [0; 4];

fn inputs() -> registry::names::OddInputs<'static> {
    registry::names::OddInputs { input_type: &A, input_run: &B, input: &UNUSED, a_b_x_y: &UNUSED }
}

/// `a + b`, where 3 stands for 0, and twice that.
const SUMS: [[i8; 4]; 2] = [[3, 4, 6, 127], [3, 5, 9, 127]];

fn sums(outputs: &registry::names::OddOutputs<'_>) -> [[i8; 4]; 2] {
    [*outputs.output_type, *outputs.very_long_name_very_long_name_very_long_name_very]
}

#[test]
fn packed_kernels_compute_the_same() {
    let inputs = packed::names::OddInputs { input_type: &A, input_run: &B, input: &UNUSED, a_b_x_y: &UNUSED };
    let mut odd = packed::names::Odd::new();
    let outputs = odd.run(inputs);
    assert_eq!(outputs.output_type, &SUMS[0]);
    assert_eq!(outputs.very_long_name_very_long_name_very_long_name_very, &SUMS[1]);

    let mut states = packed::states::States::new();
    assert_eq!(states.run(&[1.0, 2.0]).next, &[1.0, 2.0]);
    assert_eq!(states.run(&[1.0, 2.0]).next, &[2.0, 4.0]);

    let (mut y, mut rest) = ([0.0; 4], [9; 4]);
    let inputs = packed::truth::TruthInputs { x: &X, mask: &MASK };
    packed::truth::Truth::new().run(inputs, packed::truth::TruthOutputs { y: &mut y, rest: &mut rest });
    assert_eq!((y, rest), (TURNED, REST));
}

#[test]
fn bound_kernels_compute_the_same() {
    let (mut y, mut rest) = ([0.0; 4], [9; 4]);
    let inputs = registry::truth::TruthInputs { x: &X, mask: &MASK };
    let outputs = registry::truth::TruthOutputs { y: &mut y, rest: &mut rest };
    let own = registry::truth::TruthKernels::default();
    registry::truth::Truth::new().run(&own, inputs, outputs).unwrap();
    assert_eq!((y, rest), (TURNED, REST));
}

const X: [f32; 4] = [-1.0, -1.0, 2.0, 2.0];
const MASK: [u8; 4] = [1, 0, 1, 0];
/// `x` is turned where it is negative and the mask is set, and in the last place.
const TURNED: [f32; 4] = [1.0, -1.0, 2.0, -2.0];
const REST: [u8; 4] = [0, 1, 1, 0];

#[test]
fn a_model_binds_its_own_kernels() {
    use registry::names::Odd;
    let names: Vec<_> = Odd::KERNELS.iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["add_i8"]);
    let kernels = Odd::bind(&[Odd::KERNELS]).unwrap();
    let mut odd = Odd::new();
    assert_eq!(sums(&odd.run(&kernels, inputs()).unwrap()), SUMS);
}

#[test]
fn all_missing_kernels_are_reported_at_once() {
    use registry::truth::Truth;
    let all: Vec<_> = Truth::KERNELS.iter().map(|entry| entry.name).collect();
    let missing = Truth::bind(&[]).unwrap_err();
    assert_eq!(missing.names().collect::<Vec<_>>(), all);
    assert!(all.len() > 3, "{all:?}");

    let (known, others) = Truth::KERNELS.split_at(1);
    let missing = Truth::bind(&[known, registry::names::Odd::KERNELS]).unwrap_err();
    let names: Vec<_> = others.iter().map(|entry| entry.name).collect();
    assert_eq!(missing.names().collect::<Vec<_>>(), names);
    assert_eq!(missing.to_string(), format!("no table has the kernels `{}`", names.join("`, `")));
}

static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Counts its calls, and subtracts where 3 stands for 0: other numbers than the model's own.
fn subtract(kernel: &Kernel, mode: Mode, tensors: &mut [Tensor<'_>]) -> Result<(), KernelError> {
    let Kernel::AddI8(_) = kernel else { return Err(KernelError::Kernel) };
    CALLS.fetch_add(1, Ordering::Relaxed);
    match (mode, tensors) {
        (Mode::Apart, [x, y, b]) => {
            let (x, b) = (x.elements::<i8>()?, b.elements::<i8>()?);
            for (y, (x, b)) in y.elements_mut::<i8>()?.iter_mut().zip(x.iter().zip(b)) {
                *y = x.saturating_sub(*b).saturating_add(3);
            }
            Ok(())
        }
        (Mode::InPlace, [y, b]) => {
            for (y, b) in y.elements_mut::<i8>()?.iter_mut().zip(b.elements::<i8>()?) {
                *y = y.saturating_sub(*b).saturating_add(3);
            }
            Ok(())
        }
        _ => Err(KernelError::Mode),
    }
}

#[test]
fn a_kernel_in_an_earlier_table_replaces_the_models_own() {
    use registry::names::Odd;
    const MINE: &[KernelEntry] = &[KernelEntry { name: "add_i8", function: subtract }];
    let mut odd = Odd::new();
    let kernels = Odd::bind(&[MINE, Odd::KERNELS]).unwrap();
    assert_eq!(sums(&odd.run(&kernels, inputs()).unwrap()), [[3, 4, 4, 127], [3; 4]]);
    assert_eq!(CALLS.load(Ordering::Relaxed), 2);
    // Behind the model's own, it is not used.
    let kernels = Odd::bind(&[Odd::KERNELS, MINE]).unwrap();
    assert_eq!(sums(&odd.run(&kernels, inputs()).unwrap()), SUMS);
    assert_eq!(CALLS.load(Ordering::Relaxed), 2);
}

/// Refuses.
fn refuse(_: &Kernel, _: Mode, _: &mut [Tensor<'_>]) -> Result<(), KernelError> {
    Err(KernelError::Unsupported)
}

#[test]
fn a_kernel_that_refuses_gives_an_error_with_the_step() {
    use registry::names::Odd;
    let mut odd = Odd::new();
    let refusing = [KernelEntry { name: "add_i8", function: refuse }];
    let kernels = Odd::bind(&[&refusing]).unwrap();
    let error = odd.run(&kernels, inputs()).unwrap_err();
    assert_eq!(error, CallError { step: &Odd::STEPS[0], error: KernelError::Unsupported });
    assert_eq!(error.to_string(), "step `add_0`: the kernel does not support the parameters");
    // The next run is right.
    assert_eq!(sums(&odd.run(&registry::names::OddKernels::default(), inputs()).unwrap()), SUMS);
}

#[test]
fn a_kernel_under_another_name_refuses() {
    use registry::truth::{Truth, TruthInputs, TruthOutputs};
    // Under each name, the function of the next.
    let next = Truth::KERNELS.iter().cycle().skip(1);
    let shifted: Vec<_> = Truth::KERNELS
        .iter()
        .zip(next)
        .map(|(entry, next)| KernelEntry { name: entry.name, function: next.function })
        .collect();
    let kernels = Truth::bind(&[&shifted]).unwrap();
    let inputs = TruthInputs { x: &[0.0; 4], mask: &[0; 4] };
    let outputs = TruthOutputs { y: &mut [0.0; 4], rest: &mut [0; 4] };
    let error = Truth::new().run(&kernels, inputs, outputs).unwrap_err();
    assert_eq!(error, CallError { step: &Truth::STEPS[0], error: KernelError::Kernel });
}

#[test]
fn a_failed_run_forgets_the_state() {
    use registry::states::{States, StatesKernels};
    let own = StatesKernels::default();
    let mut states = States::new();
    assert_eq!(states.run(&own, &[1.0, 2.0]).unwrap().next, &[1.0, 2.0]);
    assert_eq!(states.run(&own, &[1.0, 2.0]).unwrap().next, &[2.0, 4.0]);

    let last = States::KERNELS.iter().find(|entry| entry.name != "add_f32").unwrap();
    let refusing = [KernelEntry { name: last.name, function: refuse }];
    let kernels = States::bind(&[&refusing, States::KERNELS]).unwrap();
    let error = states.run(&kernels, &[1.0, 2.0]).unwrap_err();
    assert_eq!(error.error, KernelError::Unsupported);
    assert_eq!(error.step.kernel, Some(last.name));
    assert_eq!(states.run(&own, &[1.0, 2.0]).unwrap().next, &[1.0, 2.0]);
}

#[test]
fn copies_are_kernels_too() {
    let (mut first, mut seven, mut second) = ([0.0; 3], [0; 2], [0.0; 3]);
    let outputs =
        registry::copies::CopiesOutputs { output_x: &mut first, seven: &mut seven, output_x_2: &mut second };
    let own = registry::copies::CopiesKernels::default();
    registry::copies::Copies::new().run(&own, &[1.0, 2.0, 3.0], outputs).unwrap();
    assert_eq!((first, seven, second), ([1.0, 2.0, 3.0], [7, -7], [1.0, 2.0, 3.0]));

    let outputs =
        packed::copies::CopiesOutputs { output_x: &mut second, seven: &mut seven, output_x_2: &mut first };
    packed::copies::Copies::new().run(&[4.0, 5.0, 6.0], outputs);
    assert_eq!((first, seven, second), ([4.0, 5.0, 6.0], [7, -7], [4.0, 5.0, 6.0]));
}
