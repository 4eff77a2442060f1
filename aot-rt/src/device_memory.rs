//! Memory of devices that the CPU does not reach: tensors in it are named by numbers, and the
//! device copies them.

use crate::{DType, Device, DeviceCall, DeviceError, Element, ManagedDevice, StepInfo};

/// Where a tensor is in memory that the CPU does not reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceTensor {
    /// The pool, by its name in the configuration.
    pub pool: &'static str,
    /// First byte in the pool.
    pub offset: usize,
    /// Number of elements.
    pub len: usize,
    /// Type of the elements.
    pub dtype: DType,
}

impl DeviceTensor {
    /// `len` elements of `T`, from byte `offset` of the pool on.
    #[must_use]
    pub const fn of<T: Element>(pool: &'static str, offset: usize, len: usize) -> Self {
        Self { pool, offset, len, dtype: T::DTYPE }
    }

    /// Number of bytes.
    #[must_use]
    pub const fn bytes(self) -> usize {
        self.len.saturating_mul(self.dtype.size())
    }

    /// Its bytes in the pool.
    #[must_use]
    pub const fn range(self) -> core::ops::Range<usize> {
        self.offset..self.offset.saturating_add(self.bytes())
    }
}

/// An operand that some calls of a method have in memory that the CPU reaches, and others not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceOperand<S> {
    /// A slice: the CPU reaches it.
    Slice(S),
    /// A tensor in memory of the device.
    Tensor(DeviceTensor),
}

/// A device with memory that the CPU does not reach, to which and from which it copies.
///
/// What is copied in stays there until the end of the run. Copies are steps as kernels are:
/// [`Device::open`] comes before each and [`Device::close`] behind it.
///
/// ```
/// use aot_rt::{Device, DeviceMemory, DeviceTensor, StepInfo};
///
/// struct Npu { sram: [u8; 1024] }
///
/// #[derive(Debug)]
/// struct OutOfBounds;
///
/// impl Device for Npu {
///     type Error = OutOfBounds;
/// }
///
/// impl DeviceMemory for Npu {
///     fn copy_in(
///         &mut self,
///         _: &'static StepInfo,
///         to: DeviceTensor,
///         from: &[u8],
///     ) -> Result<(), OutOfBounds> {
///         self.sram.get_mut(to.range()).ok_or(OutOfBounds)?.copy_from_slice(from);
///         Ok(())
///     }
///
///     fn copy_out(
///         &mut self,
///         _: &'static StepInfo,
///         from: DeviceTensor,
///         to: &mut [u8],
///     ) -> Result<(), OutOfBounds> {
///         to.copy_from_slice(self.sram.get(from.range()).ok_or(OutOfBounds)?);
///         Ok(())
///     }
/// }
/// ```
pub trait DeviceMemory: Device {
    /// Copies `from` to the bytes `to`, which are as many.
    ///
    /// # Errors
    ///
    /// What keeps the device from it; the run ends with that.
    fn copy_in(&mut self, step: &'static StepInfo, to: DeviceTensor, from: &[u8]) -> Result<(), Self::Error>;

    /// Copies the bytes `from` to `to`, which are as many.
    ///
    /// # Errors
    ///
    /// What keeps the device from it; the run ends with that.
    fn copy_out(
        &mut self,
        step: &'static StepInfo,
        from: DeviceTensor,
        to: &mut [u8],
    ) -> Result<(), Self::Error>;
}

impl<D: DeviceMemory + ?Sized> DeviceMemory for &mut D {
    #[inline]
    fn copy_in(&mut self, step: &'static StepInfo, to: DeviceTensor, from: &[u8]) -> Result<(), Self::Error> {
        (**self).copy_in(step, to, from)
    }

    #[inline]
    fn copy_out(
        &mut self,
        step: &'static StepInfo,
        from: DeviceTensor,
        to: &mut [u8],
    ) -> Result<(), Self::Error> {
        (**self).copy_out(step, from, to)
    }
}

impl<D: DeviceMemory> ManagedDevice<D> {
    /// Opens it for `step`, has it copy `from` to its memory, and closes it.
    ///
    /// # Errors
    ///
    /// The first one of the device.
    #[inline]
    pub fn copy_in(
        &mut self,
        step: &'static StepInfo,
        to: DeviceTensor,
        from: &[u8],
    ) -> Result<(), DeviceError<D::Error>> {
        self.opened(step, DeviceCall::CopyIn, |device| device.copy_in(step, to, from))
    }

    /// Opens it for `step`, has it copy `from` its memory, and closes it.
    ///
    /// # Errors
    ///
    /// The first one of the device.
    #[inline]
    pub fn copy_out(
        &mut self,
        step: &'static StepInfo,
        from: DeviceTensor,
        to: &mut [u8],
    ) -> Result<(), DeviceError<D::Error>> {
        self.opened(step, DeviceCall::CopyOut, |device| device.copy_out(step, from, to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_tensor() {
        let tensor = DeviceTensor::of::<i32>("sram", 8, 3);
        assert_eq!((tensor.dtype, tensor.bytes(), tensor.range()), (DType::I32, 12, 8..20));
        let huge = DeviceTensor::of::<i32>("sram", 8, usize::MAX);
        assert_eq!(huge.range(), 8..usize::MAX);
    }
}
