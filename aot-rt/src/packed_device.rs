//! Devices that are called by one signature for all steps, and kernels of devices that are bound
//! by name.

use core::fmt;

use crate::kernels::Kernel;
use crate::registry::find_all;
use crate::{Device, Missing, StepInfo, Tensor};

/// A device that runs any step: the same method for every kernel and every model.
pub trait PackedDevice: Device {
    /// Runs a step: `kernels`, each on the result of the one before.
    ///
    /// The tensors lie apart. They are the first kernel's, in the order of
    /// [`Kernel::operands`], the result being that of the last one; then come the operands of
    /// the other kernels that the one before has not computed. Constants are as the model file
    /// has them: filters stand one after the other.
    ///
    /// # Errors
    ///
    /// What keeps the device from it; the run ends with that.
    fn call(
        &mut self,
        step: &'static StepInfo,
        kernels: &[&'static Kernel],
        tensors: &mut [Tensor<'_>],
    ) -> Result<(), Self::Error>;
}

impl<D: PackedDevice + ?Sized> PackedDevice for &mut D {
    #[inline]
    fn call(
        &mut self,
        step: &'static StepInfo,
        kernels: &[&'static Kernel],
        tensors: &mut [Tensor<'_>],
    ) -> Result<(), Self::Error> {
        (**self).call(step, kernels, tensors)
    }
}

/// A function that runs steps of one kind on a device: see [`PackedDevice::call`].
pub type DeviceKernel<D> =
    fn(&mut D, &'static StepInfo, &[&'static Kernel], &mut [Tensor<'_>]) -> Result<(), <D as Device>::Error>;

/// A [`DeviceKernel`] under its name, in a table from which devices are bound.
#[derive(Debug)]
pub struct DeviceEntry<D: Device> {
    /// The name that steps ask for: [`StepInfo::kernel`], such as `"conv2d_i8"`.
    pub name: &'static str,
    /// What runs.
    pub function: DeviceKernel<D>,
}

/// A device whose kernels are functions, bound by name.
#[derive(Debug)]
pub struct BoundDevice<D: Device, const N: usize> {
    device: D,
    kernels: [(&'static str, Option<DeviceKernel<D>>); N],
}

impl<D: Device, const N: usize> BoundDevice<D, N> {
    /// The kernels called `names`, each from the first of `tables` that has it; for generated
    /// code.
    ///
    /// # Errors
    ///
    /// When some are in no table: all of them.
    pub fn bind(
        device: D,
        names: [&'static str; N],
        tables: &[&[DeviceEntry<D>]],
    ) -> Result<Self, Missing<N>> {
        let find = |name| {
            let mut entries = tables.iter().copied().flatten();
            entries.find(|entry| entry.name == name).map(|entry| (name, Some(entry.function)))
        };
        let found = find_all(names, find)?;
        // All are there.
        Ok(Self { device, kernels: found.map(|found| found.unwrap_or(("", None))) })
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

    /// The device.
    #[must_use]
    pub fn into_inner(self) -> D {
        self.device
    }
}

/// Why a [`BoundDevice`] did not do what it was asked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundError<E> {
    /// The step's kernel is not among those that were bound: they are another model's.
    Unbound,
    /// What the device says.
    Device(E),
}

impl<E: fmt::Display> fmt::Display for BoundError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unbound => f.write_str("no kernel is bound for the step"),
            Self::Device(error) => error.fmt(f),
        }
    }
}

impl<E: core::error::Error + 'static> core::error::Error for BoundError<E> {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Unbound => None,
            Self::Device(error) => Some(error),
        }
    }
}

impl<D: Device, const N: usize> Device for BoundDevice<D, N> {
    type Error = BoundError<D::Error>;

    fn activate(&mut self) -> Result<(), Self::Error> {
        self.device.activate().map_err(BoundError::Device)
    }

    fn open(&mut self, step: &'static StepInfo) -> Result<(), Self::Error> {
        self.device.open(step).map_err(BoundError::Device)
    }

    fn close(&mut self, step: &'static StepInfo) -> Result<(), Self::Error> {
        self.device.close(step).map_err(BoundError::Device)
    }

    fn deactivate(&mut self) -> Result<(), Self::Error> {
        self.device.deactivate().map_err(BoundError::Device)
    }
}

impl<D: Device, const N: usize> PackedDevice for BoundDevice<D, N> {
    fn call(
        &mut self,
        step: &'static StepInfo,
        kernels: &[&'static Kernel],
        tensors: &mut [Tensor<'_>],
    ) -> Result<(), Self::Error> {
        let bound = self.kernels.iter().find(|(name, _)| step.kernel == Some(*name));
        let Some((_, Some(kernel))) = bound else { return Err(BoundError::Unbound) };
        kernel(&mut self.device, step, kernels, tensors).map_err(BoundError::Device)
    }
}
