//! Units that run steps beside the CPU: what a driver is asked to do, and in which order.
//!
//! ```text
//! activate a, activate b,  (open a, kernel, close a), (open b, kernel, close b), ..,  deactivate b, deactivate a
//! ```
//!
//! When anything fails, what was opened is closed and what was activated is deactivated, in
//! reverse; the first error is kept.

use core::error::Error;
use core::fmt;

use crate::StepInfo;

/// A unit that runs steps, as its driver shows it to a model.
///
/// Generated code has a trait for each kind of device, with a method for each kernel that
/// the model calls on it, of which this one is the base. The methods here do nothing unless
/// a driver needs them.
pub trait Device {
    /// What can go wrong; [`Infallible`](core::convert::Infallible) for nothing.
    type Error;

    /// Makes the device ready for calls: clocks, power, firmware.
    ///
    /// # Errors
    ///
    /// When it cannot be made ready; it counts as inactive then.
    #[inline]
    fn activate(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Prepares for the kernel of `step`.
    ///
    /// # Errors
    ///
    /// When the step cannot run; [`close`](Self::close) is not called then.
    #[inline]
    fn open(&mut self, step: &'static StepInfo) -> Result<(), Self::Error> {
        let _ = step;
        Ok(())
    }

    /// Ends what [`open`](Self::open) began, also where the kernel failed.
    ///
    /// # Errors
    ///
    /// When the results of the step cannot be relied on.
    #[inline]
    fn close(&mut self, step: &'static StepInfo) -> Result<(), Self::Error> {
        let _ = step;
        Ok(())
    }

    /// Ends what [`activate`](Self::activate) began, also where a step failed.
    ///
    /// # Errors
    ///
    /// When the device cannot be put to rest; it counts as inactive all the same.
    #[inline]
    fn deactivate(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

impl<D: Device + ?Sized> Device for &mut D {
    type Error = D::Error;

    #[inline]
    fn activate(&mut self) -> Result<(), Self::Error> {
        (**self).activate()
    }

    #[inline]
    fn open(&mut self, step: &'static StepInfo) -> Result<(), Self::Error> {
        (**self).open(step)
    }

    #[inline]
    fn close(&mut self, step: &'static StepInfo) -> Result<(), Self::Error> {
        (**self).close(step)
    }

    #[inline]
    fn deactivate(&mut self) -> Result<(), Self::Error> {
        (**self).deactivate()
    }
}

/// What a device was asked to do when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceCall {
    /// [`Device::activate`].
    Activate,
    /// [`Device::open`].
    Open,
    /// A kernel.
    Kernel,
    /// [`Device::close`].
    Close,
    /// [`Device::deactivate`].
    Deactivate,
}

impl DeviceCall {
    const fn name(self) -> &'static str {
        match self {
            Self::Activate => "cannot be activated",
            Self::Open => "cannot be opened",
            Self::Kernel => "the kernel failed",
            Self::Close => "cannot be closed",
            Self::Deactivate => "cannot be deactivated",
        }
    }
}

/// The error of a device, and where it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceError<E> {
    /// The step, unless the device was activated or deactivated.
    pub step: Option<&'static StepInfo>,
    /// What the device was asked to do.
    pub call: DeviceCall,
    /// What the device says.
    pub error: E,
}

/// `` step `conv2d_0`, node `conv/Conv2D`: the kernel failed: .. ``
impl<E: fmt::Display> fmt::Display for DeviceError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(step) = self.step {
            write!(f, "step `{}`, node `{}`: ", step.name, step.node.escape_debug())?;
        }
        write!(f, "{}: {}", self.call.name(), self.error)
    }
}

impl<E: Error + 'static> Error for DeviceError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}

/// When a device is activated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Activate {
    /// By each run, which deactivates it.
    #[default]
    PerRun,
    /// By the first run that finds it inactive; it stays active until a run fails, or until
    /// it is deactivated.
    FirstUse,
    /// By the caller, who deactivates it; no run does either.
    Caller,
}

/// A device of a runner, and whether it is active. Generated code holds one for each.
#[derive(Debug)]
pub struct ManagedDevice<D> {
    device: D,
    activate: Activate,
    active: bool,
}

impl<D> ManagedDevice<D> {
    /// An inactive device.
    #[must_use]
    pub const fn new(device: D, activate: Activate) -> Self {
        Self { device, activate, active: false }
    }

    /// Whether it is active.
    #[must_use]
    pub const fn is_active(&self) -> bool {
        self.active
    }

    /// The device.
    #[must_use]
    pub const fn get(&self) -> &D {
        &self.device
    }

    /// The device, to be changed.
    #[must_use]
    pub const fn get_mut(&mut self) -> &mut D {
        &mut self.device
    }

    /// The device, as active as it is.
    #[must_use]
    pub fn into_inner(self) -> D {
        self.device
    }
}

impl<D: Device> ManagedDevice<D> {
    /// Activates it at the beginning of a run, unless it is, or the caller has to.
    ///
    /// # Errors
    ///
    /// That of the device.
    #[inline]
    pub fn begin(&mut self) -> Result<(), DeviceError<D::Error>> {
        match self.activate {
            Activate::PerRun | Activate::FirstUse => self.activate(),
            Activate::Caller => Ok(()),
        }
    }

    /// Deactivates it at the end of a run, where it is not to stay active.
    ///
    /// # Errors
    ///
    /// That of the device.
    #[inline]
    pub fn end(&mut self, failed: bool) -> Result<(), DeviceError<D::Error>> {
        match self.activate {
            Activate::PerRun => self.deactivate(),
            Activate::FirstUse if failed => self.deactivate(),
            Activate::FirstUse | Activate::Caller => Ok(()),
        }
    }

    /// Activates it, unless it is.
    ///
    /// # Errors
    ///
    /// That of the device.
    #[inline]
    pub fn activate(&mut self) -> Result<(), DeviceError<D::Error>> {
        if !self.active {
            self.device.activate().map_err(error(None, DeviceCall::Activate))?;
            self.active = true;
        }
        Ok(())
    }

    /// Deactivates it, if it is active.
    ///
    /// # Errors
    ///
    /// That of the device.
    #[inline]
    pub fn deactivate(&mut self) -> Result<(), DeviceError<D::Error>> {
        if !core::mem::take(&mut self.active) {
            return Ok(());
        }
        self.device.deactivate().map_err(error(None, DeviceCall::Deactivate))
    }

    /// Opens it for `step`, calls `kernel`, and closes it.
    ///
    /// # Errors
    ///
    /// The first one of the device.
    #[inline]
    pub fn call(
        &mut self,
        step: &'static StepInfo,
        kernel: impl FnOnce(&mut D) -> Result<(), D::Error>,
    ) -> Result<(), DeviceError<D::Error>> {
        self.device.open(step).map_err(error(Some(step), DeviceCall::Open))?;
        let result = kernel(&mut self.device).map_err(error(Some(step), DeviceCall::Kernel));
        let closed = self.device.close(step).map_err(error(Some(step), DeviceCall::Close));
        result.and(closed)
    }
}

fn error<E>(step: Option<&'static StepInfo>, call: DeviceCall) -> impl FnOnce(E) -> DeviceError<E> {
    move |error| DeviceError { step, call, error }
}
