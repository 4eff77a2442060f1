//! A fault at each hook, each kernel and each copy of devices with memory of their own, one at a
//! time.

use aot_rt::{DeviceCall, StepError, UntilError};

use crate::faults::{Failure, Subject, failure, inject, step_all};
use crate::memory::{Unit, X, expected, units};
use crate::mock::{Fault, Log, Mock};
use crate::sealed::{Sealed, SealedDevices, SealedError, SealedInputs};

struct Net<'l>(Sealed, SealedDevices<Unit<'l>, Unit<'l>, Mock<'l>>);

impl<'l> Net<'l> {
    fn new(log: &'l Log) -> Self {
        let (npu, dsp, aux) = units(log);
        Self(Sealed::new(), SealedDevices::new(npu, dsp, aux))
    }
}

fn failed(error: SealedError<Fault, Fault, Fault>) -> Failure {
    match error {
        SealedError::Npu(error) => failure("npu", error),
        SealedError::Dsp(error) => failure("dsp", error),
        SealedError::Aux(error) => failure("aux", error),
    }
}

impl Subject for Net<'_> {
    fn run(&mut self, flag: bool) -> Result<Vec<f32>, Failure> {
        let inputs = SealedInputs { x: &X, flag: &[flag.into()] };
        self.0.run(&mut self.1, inputs).map(|y| y.to_vec()).map_err(failed)
    }
}

/// The same step by step.
struct Stepped<'l>(Net<'l>);

impl Subject for Stepped<'_> {
    fn run(&mut self, flag: bool) -> Result<Vec<f32>, Failure> {
        let Net(net, devices) = &mut self.0;
        let inputs = SealedInputs { x: &X, flag: &[flag.into()] };
        step_all!(net.start(devices, inputs)).map_err(failed)
    }
}

/// Three devices to activate and to deactivate; six kernels and six copies.
const EVENTS: usize = 3 + 12 * 3 + 3;

#[test]
fn each_fault_unwinds() {
    let log = Log::default();
    for flag in [true, false] {
        assert_eq!(inject(&log, Net::new, flag, &expected(flag)), EVENTS);
    }
}

#[test]
fn each_fault_unwinds_step_by_step() {
    let log = Log::default();
    for flag in [true, false] {
        assert_eq!(inject(&log, |log| Stepped(Net::new(log)), flag, &expected(flag)), EVENTS);
    }
}

#[test]
fn errors_say_that_it_was_a_copy() {
    let log = Log::default();
    for (fault, call, text) in [
        (4, DeviceCall::CopyIn, "the copy to its memory failed"),
        (10, DeviceCall::CopyOut, "the copy from its memory failed"),
    ] {
        let Net(mut net, mut devices) = Net::new(&log);
        log.restart(fault..fault + 1);
        let error = net.run(&mut devices, SealedInputs { x: &X, flag: &[0] }).unwrap_err();
        let SealedError::Npu(inner) = error else { panic!("{error}") };
        let step = inner.step.unwrap();
        assert_eq!((inner.call, step.operator, step.device), (call, "copy", Some("npu")));
        let (name, node) = (step.name, step.node);
        let text = format!("device `npu`: step `{name}`, node `{node}`: {text}: fault at event {fault}");
        assert_eq!(error.to_string(), text);
    }
}
