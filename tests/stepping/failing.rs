//! Runs whose steps may fail: here, of kernels that are bound by name.

use std::cell::Cell;

use aot_rt::kernels::{Kernel, Mode};
use aot_rt::{CallError, KernelEntry, KernelError, StepError, Tensor, UntilError};

use super::digits_registry::{Runner, RunnerKernels};
use super::{Log, values};

thread_local! {
    /// Calls until one fails.
    static LEFT: Cell<usize> = const { Cell::new(0) };
}

/// The kernel itself, until a call fails.
fn failing(kernel: &Kernel, mode: Mode, tensors: &mut [Tensor<'_>]) -> Result<(), KernelError> {
    let left = LEFT.get();
    LEFT.set(left.saturating_sub(1));
    if left == 0 {
        return Err(KernelError::Unsupported);
    }
    let entry = Runner::KERNELS.iter().find(|entry| entry.name == kernel.name()).unwrap();
    (entry.function)(kernel, mode, tensors)
}

/// The model's kernels, any of which may fail.
fn kernels() -> RunnerKernels {
    let entries: Vec<_> =
        Runner::KERNELS.iter().map(|entry| KernelEntry { name: entry.name, function: failing }).collect();
    Runner::bind(&[&entries]).unwrap()
}

#[test]
fn the_order_is_that_of_a_run() {
    let mut runner = Runner::new();
    let (kernels, log) = (RunnerKernels::default(), Log::default());
    let expected = *runner.run_with(&mut &log, &kernels, &values()).unwrap();
    let events = log.take();
    let mut run = runner.start_with(&log, &kernels, &values());
    while let Some(next) = run.next_step() {
        assert_eq!(run.step(), Ok(Some(next)));
    }
    assert_eq!(run.step(), Ok(None));
    assert_eq!(run.finish(), Ok(&expected));
    assert_eq!(log.take(), events);
}

/// Every call fails once.
#[test]
fn a_step_that_fails_ends_the_run() {
    let mut runner = Runner::new();
    let expected = *runner.run(&RunnerKernels::default(), &values()).unwrap();
    let kernels = kernels();
    for fails in 0.. {
        LEFT.set(fails);
        let mut run = runner.start(&kernels, &values());
        let mut next = run.next_step();
        let mut failed = None;
        while let Some(step) = next {
            match run.step() {
                Ok(ran) => assert_eq!(ran, Some(step)),
                Err(error) => failed = Some((step, error)),
            }
            next = run.next_step();
        }
        let Some((step, error)) = failed else {
            assert!(fails > Runner::STEPS.len());
            assert_eq!(run.finish(), Ok(&expected));
            return;
        };
        let refused = CallError { step, error: KernelError::Unsupported };
        assert_eq!(error, StepError::Failed(refused));
        assert_eq!(run.step(), Err(StepError::Ended));
        assert_eq!(run.run_until("softmax_6"), Err(UntilError::Step(StepError::Ended)));
        assert_eq!(run.run_until("no such step"), Err(UntilError::Step(StepError::Ended)));
        assert_eq!(run.finish(), Err(StepError::Ended));
        // The next run works.
        LEFT.set(usize::MAX);
        assert_eq!(runner.start(&kernels, &values()).finish(), Ok(&expected));
        LEFT.set(fails);
        assert_eq!(runner.start(&kernels, &values()).finish(), Err(StepError::Failed(refused)));
        LEFT.set(fails);
        let mut run = runner.start(&kernels, &values());
        assert_eq!(run.run_until("no such step"), Err(UntilError::NoSuchStep));
        let until = run.run_until("softmax_6");
        if step.name != "softmax_6" {
            assert_eq!(until, Err(UntilError::Step(StepError::Failed(refused))));
        }
    }
}
