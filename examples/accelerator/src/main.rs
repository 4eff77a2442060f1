//! Reads digits with the convolutions on a second unit, and ends the unit in the middle of a
//! run.

use std::env;
use std::error::Error;
use std::io;

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
    match digits.run_with(&mut EndBefore { step: last, process }, &mut devices, &image) {
        Ok(_) => return Err("the unit was ended, and the run did not fail".into()),
        Err(error) => println!("ended in a run: {error}"),
    }
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
