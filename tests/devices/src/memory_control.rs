//! Devices with memory of their own within branches and loops, and in models that share memory.

use aot_rt::kernels::{BinaryF32, UnaryF32};
use aot_rt::{DeviceCall, StepError, StepInfo, UntilError};

use crate::faults::{Failure, Subject, expected, failure, inject, step_all};
use crate::memory::{Unit, X, products};
use crate::mock::{Fault, Log, Mock, product};
use crate::weights::FIRST;
use crate::{sealed_branches, sealed_loops, sealed_shared};

products!(sealed_branches::ThreeNpu sealed_loops::LoopsNpu sealed_shared::FirstNpu sealed_shared::BothNpu);

impl sealed_branches::ThreeDsp for Mock<'_> {
    fn add_f32_then_neg_f32(
        &mut self,
        step: &'static StepInfo,
        _: &'static BinaryF32,
        _: &'static UnaryF32,
        x: &[f32],
        y: &mut [f32],
        b: &[f32],
    ) -> Result<(), Fault> {
        self.kernel(step)?;
        for ((y, x), b) in y.iter_mut().zip(x).zip(b) {
            *y = -(x + b);
        }
        Ok(())
    }
}

mod branches {
    use super::*;
    use crate::sealed_branches::{Three, ThreeDevices, ThreeError, ThreeInputs};

    struct Net<'l>(Three, ThreeDevices<Unit<'l>, Unit<'l>, Mock<'l>>);

    impl<'l> Net<'l> {
        fn new(log: &'l Log) -> Self {
            let left = Unit::new("left", "left_sram", Three::LEFT_SRAM_BYTES, log);
            let right = Unit::new("right", "right_sram", Three::RIGHT_SRAM_BYTES, log);
            Self(Three::new(), ThreeDevices::new(left, right, Mock { name: "dsp", log }))
        }
    }

    fn failed(error: ThreeError<Fault, Fault, Fault>) -> Failure {
        match error {
            ThreeError::Left(error) => failure("left", error),
            ThreeError::Right(error) => failure("right", error),
            ThreeError::Dsp(error) => failure("dsp", error),
        }
    }

    impl Subject for Net<'_> {
        fn run(&mut self, flag: bool) -> Result<Vec<f32>, Failure> {
            let inputs = ThreeInputs { x: &X, flag: &[flag.into()] };
            self.0.run(&mut self.1, inputs).map(|y| y.to_vec()).map_err(failed)
        }
    }

    struct Stepped<'l>(Net<'l>);

    impl Subject for Stepped<'_> {
        fn run(&mut self, flag: bool) -> Result<Vec<f32>, Failure> {
            let Net(net, devices) = &mut self.0;
            let inputs = ThreeInputs { x: &X, flag: &[flag.into()] };
            step_all!(net.start(devices, inputs)).map_err(failed)
        }
    }

    /// Where a branch is on the CPU, its device copies nothing.
    #[test]
    fn a_branch_copies_for_itself() {
        let log = Log::default();
        // Around the branch: a copy in and out for each of two layers, and the sum.
        let around = 3 + 3 * (3 + 3 + 1) + 3;
        for (flag, events) in [(true, around + 3 * 3), (false, around)] {
            assert_eq!(inject(&log, Net::new, flag, &expected(flag)), events);
            assert_eq!(inject(&log, |log| Stepped(Net::new(log)), flag, &expected(flag)), events);
        }
    }
}

mod loops {
    use super::*;
    use crate::sealed_loops::{Loops, LoopsDevices, LoopsError};

    struct Net<'l>(Loops, LoopsDevices<Unit<'l>>);

    impl<'l> Net<'l> {
        fn new(log: &'l Log) -> Self {
            let npu = Unit::new("npu", "npu_sram", Loops::NPU_SRAM_BYTES, log);
            Self(Loops::new(), LoopsDevices::new(npu))
        }
    }

    impl Subject for Net<'_> {
        fn run(&mut self, _: bool) -> Result<Vec<f32>, Failure> {
            let result = self.0.run(&mut self.1, &X).map(|y| y.to_vec());
            result.map_err(|LoopsError::Npu(error)| failure("npu", error))
        }
    }

    struct Stepped<'l>(Net<'l>);

    impl Subject for Stepped<'_> {
        fn run(&mut self, _: bool) -> Result<Vec<f32>, Failure> {
            let Net(net, devices) = &mut self.0;
            step_all!(net.start(devices, &X)).map_err(|LoopsError::Npu(error)| failure("npu", error))
        }
    }

    #[test]
    fn each_iteration_copies() {
        let log = Log::default();
        let expected = (0..3).fold(X.to_vec(), |x, _| product(&x, &FIRST.concat()));
        // In each of three: a copy in, the layer, a copy out.
        assert_eq!(inject(&log, Net::new, true, &expected), 1 + 3 * 3 * 3 + 1);
        assert_eq!(inject(&log, |log| Stepped(Net::new(log)), true, &expected), 1 + 3 * 3 * 3 + 1);
    }
}

/// The runners take turns, and so do their devices.
#[test]
fn models_share_memory_of_a_device() {
    use crate::sealed_shared::{BothDevices, FirstDevices, Memory};

    let log = Log::default();
    // What the first layer works on, or what both do.
    assert_eq!(Memory::NPU_SRAM_BYTES, (4 + 3) * 4);
    assert_eq!(Memory::ARENA_BYTES, Memory::RAM_BYTES);
    let mut unit = Unit::new("npu", "npu_sram", Memory::NPU_SRAM_BYTES, &log);
    let mut memory = Memory::new();
    let expected = [21.0, 43.0, 65.0 + 87.0];
    for _ in 0..2 {
        let y = memory.first().run(&mut FirstDevices::new(&mut unit), &[1.0, 10.0]).copied();
        assert_eq!(y.unwrap()[..], expected);
        let y = memory.both().run(&mut BothDevices::new(&mut unit), &[1.0, 10.0]).copied();
        assert_eq!(y.unwrap()[..], expected);
        assert_eq!(memory.neither().run(&[1.0, 10.0])[..], expected);
    }
    let copies =
        |calls: &[DeviceCall]| log.events().iter().filter(|event| calls.contains(&event.call)).count();
    assert_eq!(copies(&[DeviceCall::CopyIn, DeviceCall::CopyOut]), 2 * (2 + 2));
}
