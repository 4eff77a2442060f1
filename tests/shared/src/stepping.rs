//! Models that share a workspace, step by step: each run has the runner, and with that the memory.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use aot_rt::kernels::{self, FullyConnectedI8};
use aot_rt::{Action, Device, Instrument, StepInfo, UntilError};

use crate::alone::{AloneDigits, AloneFilter};
use crate::stepped::{
    BoundKernels, Helped, HelpedDevices, HelpedNpu, Loops, LoopsInputs, LoopsOutputs, Stepped,
};
use crate::tests::{POISON, digit, filter};
use crate::{fed, placed, three};

fn images() -> Vec<[i8; 64]> {
    (0..3).map(|i| digit(i).0.try_into().expect("an image")).collect()
}

fn frames() -> Vec<[i8; AloneFilter::X_LEN]> {
    filter().0.as_chunks().0.to_vec()
}

/// Names of the steps that ran.
#[derive(Default)]
struct Names(Vec<&'static str>);

impl Instrument for Names {
    fn before(&mut self, step: &'static StepInfo) -> Action {
        self.0.push(step.name);
        Action::Run
    }
}

/// Runs three models in turns, step by step; `$shared` is their memory.
macro_rules! take_turns {
    ($shared:expr) => {{
        let shared = $shared;
        shared.fill_workspace(POISON);
        let (mut digits, mut filter) = (AloneDigits::new(), AloneFilter::new());
        for image in &images() {
            let expected = *digits.run(image);
            let mut run = shared.digits().start(image);
            assert_eq!(run.run_until(AloneDigits::STEPS[2].name), Ok(()));
            assert_eq!(run.run_until("no such step"), Err(UntilError::NoSuchStep));
            assert_eq!(run.finish(), &expected);
            for frame in &frames() {
                assert_eq!(shared.filter().start(frame).finish(), filter.run(frame));
            }
            // The caller's arrays.
            let (mut names, mut found) = (Names::default(), [0; 10]);
            let mut run = shared.twin().start_with(&mut names, image, &mut found);
            while let Some(next) = run.next_step() {
                assert_eq!(run.step(), Some(next));
            }
            run.finish();
            assert_eq!(found, expected);
            assert_eq!(names.0, AloneDigits::STEPS.each_ref().map(|step| step.name));
            let mut runner = shared.digits();
            *runner.image_mut() = *image;
            assert_eq!(runner.start_in_place().finish(), &expected);
        }
        // A run that is given up takes the state along, and nothing else.
        drop(shared.filter().start(&frames()[0]));
        filter.reset();
        for frame in &frames() {
            assert_eq!(shared.filter().start(frame).finish(), filter.run(frame));
        }
    }};
}

#[test]
fn models_take_turns() {
    take_turns!(&mut three::Three::new());
}

#[test]
fn models_take_turns_in_pools() {
    let mut placed = placed::Placed::new(
        Box::leak(Box::new(placed::PlacedDtcm::new())),
        Box::leak(Box::new(placed::PlacedSram::new(aot_rt::Workspace::new()))),
        Box::leak(Box::new(placed::PlacedHot::new())),
    );
    take_turns!(&mut placed);
}

/// A run that an interrupt would go on with.
static RUN: Mutex<Option<fed::OtherRun<'static>>> = Mutex::new(None);

#[test]
fn a_run_is_kept_in_static_memory() {
    let frame = frames()[0];
    *RUN.lock().unwrap() = Some(fed::Fed::take().unwrap().other().start(&frame));
    let mut steps = 0;
    while RUN.lock().unwrap().as_mut().unwrap().step().is_some() {
        steps += 1;
    }
    assert_eq!(steps, fed::Other::STEPS.len());
    let run = RUN.lock().unwrap().take().unwrap();
    assert_eq!(run.finish(), AloneFilter::new().run(&frame));
}

#[test]
fn an_awaited_run_yields_after_each_step() {
    let mut three = three::Three::new();
    let image = &images()[0];
    let mut pending = 0;
    let found = {
        let mut future = pin!(three.digits().run_async(image));
        let mut context = Context::from_waker(Waker::noop());
        loop {
            match future.as_mut().poll(&mut context) {
                Poll::Ready(found) => break found,
                Poll::Pending => pending += 1,
            }
        }
    };
    assert_eq!(found, AloneDigits::new().run(image));
    assert_eq!(pending, AloneDigits::STEPS.len());
}

/// Our own kernel; counts its calls, and whether it is active.
#[derive(Default)]
struct Npu {
    calls: usize,
    active: bool,
}

impl Device for Npu {
    type Error = Infallible;

    fn activate(&mut self) -> Result<(), Infallible> {
        self.active = true;
        Ok(())
    }

    fn deactivate(&mut self) -> Result<(), Infallible> {
        self.active = false;
        Ok(())
    }
}

impl HelpedNpu for Npu {
    fn fully_connected_i8(
        &mut self,
        _: &'static StepInfo,
        params: &'static FullyConnectedI8,
        x: &[i8],
        y: &mut [i8],
        weights: &[i8],
        bias: &[i32],
        multipliers: &[i32],
        shifts: &[i8],
    ) -> Result<(), Infallible> {
        assert!(self.active);
        self.calls += 1;
        kernels::fully_connected_i8(params, x, y, weights, bias, multipliers, shifts);
        Ok(())
    }
}

#[test]
fn steps_call_devices() {
    let mut shared = Stepped::new();
    shared.fill_workspace(POISON);
    let mut devices = HelpedDevices::new(Npu::default());
    for image in &images() {
        let mut run = shared.helped().start(&mut devices, image);
        let mut steps = 0;
        while let Ok(Some(_)) = run.step() {
            steps += 1;
        }
        assert!(steps > Helped::STEPS.len(), "{steps}: there are rows");
        assert_eq!(run.finish(), Ok(AloneDigits::new().run(image)));
    }
    let npu = devices.into_inner();
    let called = Helped::STEPS.iter().filter(|step| step.device.is_some()).count();
    assert!(called > 0);
    assert_eq!((npu.calls, npu.active), (images().len() * called, false));
}

/// What the loop works on.
const X: [f32; 12] = [1.0, -2.0, 3.0, -4.0, 0.5, 0.25, -1.5, 2.5, 1.0, -1.0, 2.0, -2.0];

#[test]
fn steps_call_kernels_that_are_bound_by_name() {
    let mut shared = Stepped::new();
    let (kernels, mut filter) = (BoundKernels::default(), AloneFilter::new());
    for frame in &frames() {
        shared.loops().run(LoopsInputs { i: &[0], x: &X });
        assert_eq!(shared.bound().start(&kernels, frame).finish(), Ok(filter.run(frame)));
    }
}

#[test]
fn loops_are_steps() {
    let mut shared = Stepped::new();
    let inputs = LoopsInputs { i: &[0], x: &X };
    let mut whole = shared.loops();
    let LoopsOutputs { n, y } = whole.run(inputs);
    let expected = (*n, *y);
    let mut run = shared.loops().start(inputs);
    let mut steps = 0;
    while run.step().is_some() {
        steps += 1;
    }
    assert!(steps > Loops::STEPS.len(), "{steps}: they run again");
    let LoopsOutputs { n, y } = run.finish();
    assert_eq!((*n, *y), expected);
}
