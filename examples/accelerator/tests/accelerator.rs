//! The unit as a process of its own: the same bits as the CPU, and what happens when it dies.

use accelerator::driver::{Process, Unit, UnitError};
use accelerator::{Digits, DigitsDevices, DigitsError, DigitsOnCpu, images};
use aot_rt::{Action, DeviceCall, DeviceError, Instrument, StepInfo};

fn unit() -> Unit {
    Unit::new(env!("CARGO_BIN_EXE_accelerator"))
}

#[test]
fn the_unit_gives_the_bits_of_the_cpu() {
    assert!(Digits::STEPS.iter().any(|step| step.device == Some("unit")));
    let mut devices = DigitsDevices::new(unit());
    let (mut digits, mut on_cpu) = (Digits::new(), DigitsOnCpu::new());
    for image in images().take(100) {
        assert_eq!(digits.run(&mut devices, &image).unwrap(), on_cpu.run(&image));
    }
    devices.deactivate().unwrap();
}

/// Ends the unit before a step.
struct EndBefore {
    step: usize,
    process: Process,
}

impl Instrument for EndBefore {
    fn before(&mut self, step: &'static StepInfo) -> Action {
        if step.index == self.step {
            self.process.kill().unwrap();
        }
        Action::Run
    }
}

#[test]
fn a_unit_that_dies_in_a_run_is_an_error_and_starts_again() {
    let unit = unit();
    let process = unit.process();
    let mut devices = DigitsDevices::new(unit);
    let (mut digits, mut on_cpu) = (Digits::new(), DigitsOnCpu::new());
    let image = images().next().unwrap();
    for step in Digits::STEPS.iter().filter(|step| step.device.is_some()) {
        let mut instrument = EndBefore { step: step.index, process: process.clone() };
        let error = digits.run_with(&mut instrument, &mut devices, &image).unwrap_err();
        let DigitsError::Unit(DeviceError { step: failed, call, error }) = error;
        assert_eq!((failed, call), (Some(step), DeviceCall::Open));
        assert!(matches!(error, UnitError::Ended(_)), "{error}");
        assert_eq!(digits.run(&mut devices, &image).unwrap(), on_cpu.run(&image));
    }
}

#[test]
fn a_unit_that_does_not_start_is_an_error() {
    let mut devices = DigitsDevices::new(Unit::new("/no/such/program"));
    let image = images().next().unwrap();
    let error = Digits::new().run(&mut devices, &image).unwrap_err().to_string();
    assert!(error.starts_with("device `unit`: cannot be activated: the unit does not start: "), "{error}");
}
