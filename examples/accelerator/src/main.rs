//! Reads digits with the convolutions on a second unit, and ends the unit in the middle of a
//! run: between two kernels, and within one.

use std::env;
use std::error::Error;
use std::io;
use std::thread;

use accelerator::driver::{Process, Unit};
use accelerator::{Digits, DigitsDevices, DigitsOnCpu, images, unit};
use aot_rt::{Action, Instrument, StepInfo};

fn main() -> Result<(), Box<dyn Error>> {
    if env::args().nth(1).as_deref() == Some("unit") {
        return Ok(unit::serve(io::stdin().lock(), io::stdout().lock())?);
    }
    for step in Digits::STEPS {
        println!("{:20} {:8} {:>7} MACs", step.name, step.device.unwrap_or("cpu"), step.macs);
    }
    let unit = Unit::new(env::current_exe()?);
    let process = unit.process();
    let mut devices = DigitsDevices::new(unit);
    let (mut digits, mut on_cpu) = (Digits::new(), DigitsOnCpu::new());

    let mut count = 0;
    for image in images() {
        assert_eq!(digits.run(&mut devices, &image)?, on_cpu.run(&image), "image {count}");
        count += 1;
    }
    println!("{count} images: the same bits as on the CPU");

    let Some(image) = images().next() else { return Err("there is no image".into()) };
    let last = Digits::STEPS.iter().rfind(|step| step.device.is_some()).map_or(0, |step| step.index);
    let mut end = EndBefore { step: last, process: process.clone() };
    match digits.run_with(&mut end, &mut devices, &image) {
        Ok(_) => return Err("the unit was ended, and the run did not fail".into()),
        Err(error) => println!("ended between kernels: {error}"),
    }
    assert_eq!(digits.run(&mut devices, &image)?, on_cpu.run(&image));
    println!("the next run started it again: the same bits");

    // It hangs, and a watchdog ends it.
    let hangs = devices.unit_mut().hang_in(last);
    let watchdog = thread::spawn(move || hangs.recv().map(|()| process.kill()));
    match digits.run(&mut devices, &image) {
        Ok(_) => return Err("the unit was ended, and the run did not fail".into()),
        Err(error) => println!("ended within a kernel: {error}"),
    }
    watchdog.join().map_err(|_| "the watchdog panicked")???;
    assert_eq!(digits.run(&mut devices, &image)?, on_cpu.run(&image));
    println!("the next run started it again: the same bits");
    Ok(devices.deactivate()?)
}

/// Ends the unit before a step.
struct EndBefore {
    step: usize,
    process: Process,
}

impl Instrument for EndBefore {
    fn before(&mut self, step: &'static StepInfo) -> Action {
        if step.index == self.step {
            self.process.kill().expect("our own process can be ended");
        }
        Action::Run
    }
}
