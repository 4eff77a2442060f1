//! What is called when, and what the caller is told.

use std::convert::Infallible;
use std::error::Error as _;

use aot_rt::{Action, Device, DeviceCall, Instrument, StepInfo};

use crate::faults::{X, expected};
use crate::mock::{Fault, Log, Mock, product, three_drivers};
use crate::weights::{FIRST, LAST};
use crate::{arrays, caller, first_use, per_run, sums};

three_drivers!(arrays);

pub(crate) fn mocks(log: &Log) -> [Mock<'_>; 3] {
    ["left", "right", "dsp"].map(|name| Mock { name, log })
}

const CALLS: [&str; 12] = [
    "left.open first",
    "left.kernel first",
    "left.close first",
    "dsp.open sum",
    "dsp.kernel sum",
    "dsp.close sum",
    "right.open within",
    "right.kernel within",
    "right.close within",
    "left.open last",
    "left.kernel last",
    "left.close last",
];
pub(crate) const ACTIVATED: [&str; 3] = ["left.activate", "right.activate", "dsp.activate"];
pub(crate) const DEACTIVATED: [&str; 3] = ["dsp.deactivate", "right.deactivate", "left.deactivate"];

#[test]
fn each_run_activates_and_deactivates() {
    let log = Log::default();
    let [left, right, dsp] = mocks(&log);
    let mut devices = per_run::ThreeDevices::new(left, right, dsp);
    let mut net = per_run::Three::new();
    for _ in 0..2 {
        log.restart(0..0);
        let y = net.run(&mut devices, per_run::ThreeInputs { x: &X, flag: &[1] }).unwrap();
        assert_eq!(y[..], expected(true));
        assert_eq!(log.text(), [&ACTIVATED[..], &CALLS, &DEACTIVATED].concat());
    }
    let (left, right, dsp) = devices.into_inner();
    assert_eq!([left.name, right.name, dsp.name], ["left", "right", "dsp"]);
}

#[test]
fn the_first_run_activates() {
    let log = Log::default();
    let [mut left, right, dsp] = mocks(&log);
    // References are devices, too.
    let mut devices = first_use::ThreeDevices::new(&mut left, right, dsp);
    let mut net = first_use::Three::new();
    let mut run = |devices: &mut first_use::ThreeDevices<_, _, _>| {
        let y = net.run(devices, first_use::ThreeInputs { x: &X, flag: &[1] });
        y.map(|y| assert_eq!(y[..], expected(true)))
    };
    run(&mut devices).unwrap();
    run(&mut devices).unwrap();
    devices.deactivate().unwrap();
    devices.deactivate().unwrap();
    assert_eq!(log.text(), [&ACTIVATED[..], &CALLS, &CALLS, &DEACTIVATED].concat());
    // After an error, all begins anew.
    log.restart(0..0);
    devices.activate().unwrap();
    assert_eq!(log.text(), ACTIVATED);
    log.restart(1..2);
    run(&mut devices).unwrap_err();
    assert_eq!(log.text(), [&CALLS[..3], &DEACTIVATED].concat());
    log.restart(0..0);
    run(&mut devices).unwrap();
    assert_eq!(log.text(), [&ACTIVATED[..], &CALLS].concat());
}

#[test]
fn the_caller_activates() {
    let log = Log::default();
    let [left, right, dsp] = mocks(&log);
    let mut devices = caller::ThreeDevices::new(left, right, dsp);
    let mut net = caller::Three::new();
    let inputs = || caller::ThreeInputs { x: &X, flag: &[1] };
    let error = net.run(&mut devices, inputs()).unwrap_err();
    assert_eq!(error, caller::ThreeError::Inactive("left"));
    assert_eq!(error.to_string(), "device `left` is not active");
    assert!(log.text().is_empty());
    devices.activate().unwrap();
    net.run(&mut devices, inputs()).unwrap();
    log.restart(1..2);
    net.run(&mut devices, inputs()).unwrap_err();
    // It is the caller who decides whether to go on.
    assert_eq!(log.text(), CALLS[..3]);
    log.restart(0..0);
    assert_eq!(net.run(&mut devices, inputs()).unwrap()[..], expected(true));
    devices.deactivate().unwrap();
    assert_eq!(log.text(), [&CALLS[..], &DEACTIVATED].concat());
}

#[test]
fn errors_say_where() {
    let log = Log::default();
    let [left, right, dsp] = mocks(&log);
    let mut devices = per_run::ThreeDevices::new(left, right, dsp);
    log.restart(7..8);
    let mut net = per_run::Three::new();
    let error = net.run(&mut devices, per_run::ThreeInputs { x: &X, flag: &[1] }).unwrap_err();
    let per_run::ThreeError::Dsp(inner) = error else { panic!("{error}") };
    assert_eq!((inner.call, inner.error), (DeviceCall::Kernel, Fault(7)));
    let step = inner.step.unwrap();
    assert_eq!((step.device, step.kernel), (Some("dsp"), Some("add_f32_then_neg_f32")));
    assert_eq!(
        error.to_string(),
        "device `dsp`: step `add_1`, node `sum`: the kernel failed: fault at event 7"
    );
    assert_eq!(error.source().unwrap().to_string(), "fault at event 7");
}

#[test]
fn the_callers_arrays() {
    let log = Log::default();
    let [left, right, dsp] = mocks(&log);
    let mut devices = arrays::ThreeDevices::new(left, right, dsp);
    let mut net = arrays::Three::new();
    for flag in [true, false] {
        let mut y = [0.0; 2];
        net.run(&mut devices, arrays::ThreeInputs { x: &X, flag: &[flag.into()] }, &mut y).unwrap();
        assert_eq!(y[..], expected(flag));
    }
}

/// Leaves out the calls of a device, and notes the others.
struct Without(&'static str, Vec<&'static str>);

impl Instrument for Without {
    fn before(&mut self, step: &'static StepInfo) -> Action {
        if step.device == Some(self.0) { Action::Skip } else { Action::Run }
    }

    fn after(&mut self, step: &'static StepInfo, _: &[aot_rt::Elements<'_>]) {
        self.1.push(step.node);
    }
}

#[test]
fn a_skipped_step_is_not_opened() {
    let log = Log::default();
    let [left, right, dsp] = mocks(&log);
    let mut devices = per_run::ThreeDevices::new(left, right, dsp);
    let mut instrument = Without("left", Vec::new());
    let inputs = per_run::ThreeInputs { x: &X, flag: &[1] };
    per_run::Three::new().run_with(&mut instrument, &mut devices, inputs).unwrap();
    assert_eq!(log.text(), [&ACTIVATED[..], &CALLS[3..9], &DEACTIVATED].concat());
    assert_eq!(instrument.1, ["sum", "within", "choice"]);
    assert_eq!(per_run::Three::STEPS.iter().filter(|step| step.device.is_some()).count(), 4);
}

impl sums::SumsNpu for Mock<'_> {
    fn fully_connected_f32(
        &mut self,
        step: &'static StepInfo,
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

/// A run that fails would leave the state half changed.
#[test]
fn an_error_resets_the_state() {
    let log = Log::default();
    let mut devices = sums::SumsDevices::new(Mock { name: "npu", log: &log });
    let mut net = sums::Sums::new();
    let first = product(&X, &FIRST.concat());
    let expected = |runs: f32| {
        let squares: Vec<f32> = first.iter().map(|x| (x * runs) * (x * runs)).collect();
        product(&squares, &LAST.concat())
    };
    for runs in [1.0, 2.0] {
        assert_eq!(net.run(&mut devices, &X).unwrap()[..], expected(runs));
    }
    for fault in 0..8 {
        log.restart(fault..fault + 1);
        net.run(&mut devices, &X).unwrap_err();
        log.restart(0..0);
        for runs in [1.0, 2.0] {
            assert_eq!(net.run(&mut devices, &X).unwrap()[..], expected(runs), "fault {fault}");
        }
    }
}

/// Without a driver's own methods, nothing is done.
#[test]
fn hooks_are_optional() {
    struct Idle;
    impl Device for Idle {
        type Error = Infallible;
    }
    let step = &per_run::Three::STEPS[0];
    let Ok(()) = Idle.activate();
    let Ok(()) = Idle.open(step);
    let Ok(()) = Idle.close(step);
    let Ok(()) = Idle.deactivate();
}
