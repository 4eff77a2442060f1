//! Runs with devices that go step by step, and are given up.

use aot_rt::StepError;

use crate::faults::{X, expected};
use crate::mock::Log;
use crate::order::{ACTIVATED, DEACTIVATED, mocks};
use crate::{arrays, caller, first_use, per_run};

#[test]
fn devices_are_active_from_the_first_step_to_the_last() {
    let log = Log::default();
    let [left, right, dsp] = mocks(&log);
    let mut devices = per_run::ThreeDevices::new(left, right, dsp);
    let mut net = per_run::Three::new();
    let mut run = net.start(&mut devices, per_run::ThreeInputs { x: &X, flag: &[1] });
    assert_eq!(log.text(), [""; 0]);
    run.step().unwrap();
    assert_eq!(log.text()[..4], [&ACTIVATED[..], &["left.open first"]].concat());
    run.run_until("last").unwrap();
    assert!(!log.text().contains(&DEACTIVATED[0].to_owned()));
    run.step().unwrap();
    assert!(log.text().ends_with(&DEACTIVATED.map(str::to_owned)));
    let events = log.events();
    assert_eq!(run.finish().map(|y| y.to_vec()), Ok(expected(true)));
    assert_eq!(log.events(), events);
}

#[test]
fn a_dropped_run_deactivates() {
    let log = Log::default();
    let [left, right, dsp] = mocks(&log);
    let mut devices = per_run::ThreeDevices::new(left, right, dsp);
    let mut net = per_run::Three::new();
    for steps in 0..per_run::Three::STEPS.len() {
        log.restart(0..0);
        let mut run = net.start(&mut devices, per_run::ThreeInputs { x: &X, flag: &[1] });
        for _ in 0..steps {
            run.step().unwrap();
        }
        drop(run);
        let text = log.text();
        if steps == 0 {
            assert_eq!(text, [""; 0]);
        } else {
            assert!(text.starts_with(&ACTIVATED.map(str::to_owned)), "{text:?}");
            assert!(text.ends_with(&DEACTIVATED.map(str::to_owned)), "{text:?}");
        }
        let y = net.run(&mut devices, per_run::ThreeInputs { x: &X, flag: &[0] });
        assert_eq!(y.map(|y| y.to_vec()), Ok(expected(false)));
    }
}

#[test]
fn a_dropped_run_leaves_active_what_stays_so() {
    let log = Log::default();
    let [left, right, dsp] = mocks(&log);
    let mut devices = first_use::ThreeDevices::new(left, right, dsp);
    let mut net = first_use::Three::new();
    let mut run = net.start(&mut devices, first_use::ThreeInputs { x: &X, flag: &[1] });
    run.step().unwrap();
    drop(run);
    devices.deactivate().unwrap();
    assert_eq!(log.text()[..3], ACTIVATED);
    assert!(log.text().ends_with(&DEACTIVATED.map(str::to_owned)));
}

#[test]
fn devices_that_the_caller_forgot_are_named() {
    let log = Log::default();
    let [left, right, dsp] = mocks(&log);
    let mut devices = caller::ThreeDevices::new(left, right, dsp);
    let mut net = caller::Three::new();
    let mut run = net.start(&mut devices, caller::ThreeInputs { x: &X, flag: &[1] });
    assert_eq!(run.step(), Err(StepError::Failed(caller::ThreeError::Inactive("left"))));
    assert_eq!(run.step(), Err(StepError::Ended));
    assert_eq!(run.finish(), Err(StepError::Ended));
    assert_eq!(log.text(), [""; 0]);
}

#[test]
fn arrays_are_the_callers() {
    let log = Log::default();
    let [left, right, dsp] = mocks(&log);
    let mut devices = arrays::ThreeDevices::new(left, right, dsp);
    let mut y = expected(true);
    y.fill(0.0);
    let y: &mut [f32] = &mut y;
    let inputs = arrays::ThreeInputs { x: &X, flag: &[1] };
    let mut net = arrays::Three::new();
    net.start(&mut devices, inputs, y.try_into().unwrap()).finish().unwrap();
    assert_eq!(*y, *expected(true));
}
