//! Devices that note what they are asked to do, compute it plainly, and fail where they are
//! told to.

use std::cell::{Cell, RefCell};
use std::ops::Range;

use aot_rt::{Device, DeviceCall, StepInfo};

/// What a device was asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) device: &'static str,
    pub(crate) call: DeviceCall,
    /// Node of the step; of a call of several, the first one.
    pub(crate) node: Option<&'static str>,
}

/// The events of all devices, and which of them fail.
#[derive(Default)]
pub(crate) struct Log {
    events: RefCell<Vec<Event>>,
    faults: Cell<Range<usize>>,
}

/// A device failed since it was told to: at this event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault(pub(crate) usize);

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "fault at event {}", self.0)
    }
}

impl std::error::Error for Fault {}

impl Log {
    /// Forgets the events; those at the positions `faults` fail from now on.
    pub(crate) fn restart(&self, faults: Range<usize>) {
        self.events.borrow_mut().clear();
        self.faults.set(faults);
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.events.borrow().clone()
    }

    /// `left.open first`, …
    pub(crate) fn text(&self) -> Vec<String> {
        let text = |event: &Event| {
            let node = event.node.map(|node| format!(" {node}")).unwrap_or_default();
            format!("{}.{:?}{node}", event.device, event.call).to_lowercase()
        };
        self.events.borrow().iter().map(text).collect()
    }

    fn note(&self, event: Event) -> Result<(), Fault> {
        let mut events = self.events.borrow_mut();
        let position = events.len();
        events.push(event);
        let faults = self.faults.take();
        let fails = faults.contains(&position);
        self.faults.set(faults);
        if fails { Err(Fault(position)) } else { Ok(()) }
    }
}

/// A device.
#[derive(Clone, Copy)]
pub(crate) struct Mock<'l> {
    pub(crate) name: &'static str,
    pub(crate) log: &'l Log,
}

impl Mock<'_> {
    fn note(&self, call: DeviceCall, step: Option<&'static StepInfo>) -> Result<(), Fault> {
        assert!(step.is_none_or(|step| step.device == Some(self.name)), "{step:?} is not for {}", self.name);
        self.log.note(Event { device: self.name, call, node: step.map(|step| step.node) })
    }

    pub(crate) fn kernel(&self, step: &'static StepInfo) -> Result<(), Fault> {
        self.note(DeviceCall::Kernel, Some(step))
    }
}

impl Device for Mock<'_> {
    type Error = Fault;

    fn activate(&mut self) -> Result<(), Fault> {
        self.note(DeviceCall::Activate, None)
    }

    fn open(&mut self, step: &'static StepInfo) -> Result<(), Fault> {
        self.note(DeviceCall::Open, Some(step))
    }

    fn close(&mut self, step: &'static StepInfo) -> Result<(), Fault> {
        self.note(DeviceCall::Close, Some(step))
    }

    fn deactivate(&mut self) -> Result<(), Fault> {
        self.note(DeviceCall::Deactivate, None)
    }
}

/// Each filter times `x`, in the order of the model file.
pub(crate) fn product(x: &[f32], weights: &[f32]) -> Vec<f32> {
    weights.chunks(x.len()).map(|filter| filter.iter().zip(x).map(|(w, x)| w * x).sum()).collect()
}

/// The drivers of the model in the module `$module`, with three devices.
macro_rules! three_drivers {
    ($module:ident) => {
        impl crate::$module::ThreeNpu for crate::mock::Mock<'_> {
            fn fully_connected_f32(
                &mut self,
                step: &'static aot_rt::StepInfo,
                params: &'static aot_rt::kernels::FullyConnectedF32,
                x: &[f32],
                y: &mut [f32],
                weights: &[f32],
                bias: &[f32],
            ) -> Result<(), crate::mock::Fault> {
                self.kernel(step)?;
                assert_eq!((x.len(), y.len(), bias.len()), (params.inputs, params.outputs, 0));
                y.copy_from_slice(&crate::mock::product(x, weights));
                Ok(())
            }
        }

        impl crate::$module::ThreeDsp for crate::mock::Mock<'_> {
            fn add_f32_then_neg_f32(
                &mut self,
                step: &'static aot_rt::StepInfo,
                _: &'static aot_rt::kernels::BinaryF32,
                _: &'static aot_rt::kernels::UnaryF32,
                x: &[f32],
                y: &mut [f32],
                b: &[f32],
            ) -> Result<(), crate::mock::Fault> {
                self.kernel(step)?;
                for ((y, x), b) in y.iter_mut().zip(x).zip(b) {
                    *y = -(x + b);
                }
                Ok(())
            }
        }
    };
}
pub(crate) use three_drivers;
