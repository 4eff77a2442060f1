//! A fault at each hook and each kernel, one at a time: the order of calls is as specified, the
//! first error is kept, nothing is left open, and the next run gives the right numbers.

use aot_rt::{DeviceCall, DeviceError, StepError, UntilError};

use crate::mock::{Event, Fault, Log, Mock, product, three_drivers};
use crate::weights::{FIRST, LAST, WITHIN};

three_drivers!(per_run);
three_drivers!(first_use);
three_drivers!(caller);

pub(crate) const X: [f32; 4] = [1.0, -2.0, 3.0, 5.0];

/// Where a run failed.
#[derive(Debug, PartialEq, Eq)]
struct Failure {
    event: Event,
    fault: Fault,
}

fn failure(device: &'static str, error: DeviceError<Fault>) -> Failure {
    let node = error.step.map(|step| step.node);
    Failure { event: Event { device, call: error.call, node }, fault: error.error }
}

/// A model and its devices: runs once, with all that has to be done before and afterwards.
trait Subject {
    fn run(&mut self, flag: bool) -> Result<Vec<f32>, Failure>;
}

/// What the model computes, said plainly.
pub(crate) fn expected(flag: bool) -> Vec<f32> {
    let first = product(&X, &FIRST.concat());
    let turned: Vec<f32> = first.iter().zip(&X).map(|(a, b)| -(a + b)).collect();
    let chosen =
        if flag { product(&turned, &WITHIN.concat()) } else { turned.iter().map(|t| t.abs()).collect() };
    product(&chosen, &LAST.concat())
}

/// What has to follow when the last of `events` fails.
fn unwinding(events: &[Event]) -> Vec<Event> {
    let Some((failed, before)) = events.split_last() else { return Vec::new() };
    let mut rest = Vec::new();
    if failed.call == DeviceCall::Kernel {
        rest.push(Event { call: DeviceCall::Close, ..*failed });
    }
    let of =
        |call: DeviceCall| before.iter().filter(move |event| event.call == call).map(|event| event.device);
    let mut gone: Vec<_> = of(DeviceCall::Deactivate).collect();
    if failed.call == DeviceCall::Deactivate {
        gone.push(failed.device);
    }
    let active: Vec<_> = of(DeviceCall::Activate).filter(|device| !gone.contains(device)).collect();
    let deactivate = |device| Event { device, call: DeviceCall::Deactivate, node: None };
    rest.extend(active.into_iter().rev().map(deactivate));
    rest
}

/// Injects a fault at each event of a run; and again with all that follows failing, too.
fn inject<'l, S: Subject + 'l>(
    log: &'l Log,
    new: impl Fn(&'l Log) -> S,
    flag: bool,
    expected: &[f32],
) -> usize {
    log.restart(0..0);
    assert_eq!(new(log).run(flag).as_deref(), Ok(expected));
    let usual = log.events();
    for (i, event) in usual.iter().enumerate() {
        for last in [i + 1, usize::MAX] {
            let mut subject = new(log);
            log.restart(i..last);
            let failure = subject.run(flag).unwrap_err();
            assert_eq!(failure, Failure { event: *event, fault: Fault(i) });
            let order = [&usual[..=i], &unwinding(&usual[..=i])].concat();
            assert_eq!(log.events(), order, "a fault at event {i}: {:?}", log.text());
            // Nothing is left of the fault.
            log.restart(0..0);
            assert_eq!(subject.run(flag).as_deref(), Ok(expected));
            assert_eq!(log.events(), usual);
        }
    }
    usual.len()
}

macro_rules! three {
    ($name:ident, $module:ident, $test:ident, |$net:ident, $devices:ident, $inputs:ident| $run:expr) => {
        mod $name {
            use super::*;
            use crate::$module::{Three, ThreeDevices, ThreeError, ThreeInputs};

            struct Net<'l>(Three, ThreeDevices<Mock<'l>, Mock<'l>, Mock<'l>>);

            impl<'l> Net<'l> {
                fn new(log: &'l Log) -> Self {
                    let [left, right, dsp] = ["left", "right", "dsp"].map(|name| Mock { name, log });
                    Self(Three::new(), ThreeDevices::new(left, right, dsp))
                }
            }

            impl Subject for Net<'_> {
                fn run(&mut self, flag: bool) -> Result<Vec<f32>, Failure> {
                    let Self($net, $devices) = self;
                    let $inputs = ThreeInputs { x: &X, flag: &[flag.into()] };
                    let result: Result<Vec<f32>, ThreeError<Fault, Fault, Fault>> = $run;
                    result.map_err(|error| match error {
                        ThreeError::Left(error) => failure("left", error),
                        ThreeError::Right(error) => failure("right", error),
                        ThreeError::Dsp(error) => failure("dsp", error),
                        #[allow(unreachable_patterns, reason = "only callers can forget")]
                        _ => unreachable!("all devices are active"),
                    })
                }
            }

            #[test]
            fn $test() {
                let log = Log::default();
                // Three devices to activate and to deactivate, and three calls or four.
                assert_eq!(inject(&log, Net::new, true, &expected(true)), 3 + 3 * 4 + 3);
                assert_eq!(inject(&log, Net::new, false, &expected(false)), 3 + 3 * 3 + 3);
            }
        }
    };
}

three!(per_run, per_run, activated_by_each_run, |net, devices, inputs| {
    net.run(devices, inputs).map(|y| y.to_vec())
});

three!(first_use, first_use, activated_by_the_first_run, |net, devices, inputs| {
    let result = net.run(devices, inputs).map(|y| y.to_vec());
    // Where the run failed, nothing is active any more.
    let released = devices.deactivate();
    result.and_then(|y| released.map(|()| y))
});

three!(caller, caller, activated_by_the_caller, |net, devices, inputs| {
    devices.activate().and_then(|()| {
        let result = net.run(devices, inputs).map(|y| y.to_vec());
        let released = devices.deactivate();
        result.and_then(|y| released.map(|()| y))
    })
});

/// Runs step by step; behind an error, nothing runs.
macro_rules! step_all {
    ($run:expr) => {{
        let mut run = $run;
        loop {
            match run.step() {
                Ok(Some(_)) => (),
                Ok(None) => break run.finish().map(|y| y.to_vec()).map_err(|_| unreachable!("all have run")),
                Err(StepError::Failed(error)) => {
                    assert!(run.next_step().is_none());
                    assert!(matches!(run.step(), Err(StepError::Ended)));
                    assert!(matches!(run.run_until("first"), Err(UntilError::Step(StepError::Ended))));
                    assert!(matches!(run.finish(), Err(StepError::Ended)));
                    break Err(error);
                }
                Err(StepError::Ended) => unreachable!("no step has failed"),
            }
        }
    }};
}

three!(per_run_by_steps, per_run, activated_by_each_run, |net, devices, inputs| {
    step_all!(net.start(devices, inputs))
});

three!(first_use_by_steps, first_use, activated_by_the_first_run, |net, devices, inputs| {
    let result = step_all!(net.start(devices, inputs));
    let released = devices.deactivate();
    result.and_then(|y| released.map(|()| y))
});

three!(caller_by_steps, caller, activated_by_the_caller, |net, devices, inputs| {
    devices.activate().and_then(|()| {
        let result = step_all!(net.start(devices, inputs));
        let released = devices.deactivate();
        result.and_then(|y| released.map(|()| y))
    })
});

mod loops {
    use super::*;
    use crate::loops::{Loops, LoopsDevices, LoopsError, LoopsNpu};

    impl LoopsNpu for Mock<'_> {
        fn fully_connected_f32(
            &mut self,
            step: &'static aot_rt::StepInfo,
            _: &'static aot_rt::kernels::FullyConnectedF32,
            x: &[f32],
            y: &mut [f32],
            weights: &[f32],
            _: &[f32],
        ) -> Result<(), Fault> {
            self.kernel(step)?;
            y.copy_from_slice(&product(x, weights));
            Ok(())
        }
    }

    struct Net<'l>(Loops, LoopsDevices<Mock<'l>>);

    impl Subject for Net<'_> {
        fn run(&mut self, _: bool) -> Result<Vec<f32>, Failure> {
            let result = self.0.run(&mut self.1, &X).map(|y| y.to_vec());
            result.map_err(|LoopsError::Npu(error)| failure("npu", error))
        }
    }

    /// The same step by step.
    struct Stepped<'l>(Net<'l>);

    impl Subject for Stepped<'_> {
        fn run(&mut self, _: bool) -> Result<Vec<f32>, Failure> {
            let Net(net, devices) = &mut self.0;
            step_all!(net.start(devices, &X)).map_err(|LoopsError::Npu(error)| failure("npu", error))
        }
    }

    #[test]
    fn errors_leave_loops() {
        let log = Log::default();
        let expected = (0..3).fold(X.to_vec(), |x, _| product(&x, &FIRST.concat()));
        let new = |log| Net(Loops::new(), LoopsDevices::new(Mock { name: "npu", log }));
        assert_eq!(inject(&log, new, true, &expected), 1 + 3 * 3 + 1);
        assert_eq!(inject(&log, |log| Stepped(new(log)), true, &expected), 1 + 3 * 3 + 1);
    }
}
