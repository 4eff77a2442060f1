//! The calling convention that all kernels share: a context, a mode, and an array of tensor
//! descriptions.
#![expect(unsafe_code, reason = "bytes are cast to the elements that the description names")]

use crate::kernels::{Kernel, Mode};
use crate::{Access, DType, Element};

/// A kernel that is called with descriptions of its tensors: those in
/// [`kernels::packed`](crate::kernels::packed), and yours.
///
/// The first argument says which kernel is wanted, and with which parameters. The tensors are
/// those of [`Kernel::operands`], in that order, or with one for `x` and `y` together where
/// the [`Mode`] says so.
///
/// ```
/// use aot_rt::kernels::{Kernel, Mode};
/// use aot_rt::{KernelError, Tensor};
///
/// /// The rectifier, for tensors that lie apart.
/// fn relu(kernel: &Kernel, mode: Mode, tensors: &mut [Tensor<'_>]) -> Result<(), KernelError> {
///     let Kernel::ClampF32(limits) = kernel else { return Err(KernelError::Kernel) };
///     if mode != Mode::Apart || limits.range.min != 0.0 || limits.range.max != f32::INFINITY {
///         return Err(KernelError::Unsupported);
///     }
///     let [x, y] = tensors else { return Err(KernelError::Count) };
///     for (y, x) in y.elements_mut::<f32>()?.iter_mut().zip(x.elements::<f32>()?) {
///         *y = if *x > 0.0 { *x } else { 0.0 };
///     }
///     Ok(())
/// }
/// ```
pub type PackedKernel = fn(&Kernel, Mode, &mut [Tensor<'_>]) -> Result<(), KernelError>;

/// A tensor as a [`PackedKernel`] is given it: element type, access and memory.
///
/// Names are the kernel's: [`Kernel::operands`]. Extents are among its parameters.
#[derive(Debug)]
pub struct Tensor<'a>(Memory<'a>);

/// The bytes, and what they hold. The type stands in both variants, since that is smaller
/// than beside them.
#[derive(Debug)]
enum Memory<'a> {
    Read(DType, &'a [u8]),
    Write(DType, &'a mut [u8]),
}

/// Why a kernel did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelError {
    /// The parameters are another kernel's.
    Kernel,
    /// The kernel does not know the mode, or has no room on the stack for a cell.
    Mode,
    /// The kernel takes another number of tensors.
    Count,
    /// A tensor is to be written, and only readable.
    Access,
    /// A tensor holds other elements, or its bytes are not whole, aligned elements.
    Type,
    /// The kernel cannot do what the parameters ask for.
    Unsupported,
}

impl<'a> Tensor<'a> {
    /// Elements to read.
    #[must_use]
    pub const fn read<T: Element>(elements: &'a [T]) -> Self {
        // SAFETY: the bytes of the slice; an `Element` has no padding.
        let bytes = unsafe { core::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) };
        Self(Memory::Read(T::DTYPE, bytes))
    }

    /// Elements to write.
    pub const fn write<T: Element>(elements: &'a mut [T]) -> Self {
        // SAFETY: the bytes of the slice, borrowed exclusively; an `Element` has no padding
        // and lets them have every pattern.
        let bytes =
            unsafe { core::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), size_of_val(elements)) };
        Self(Memory::Write(T::DTYPE, bytes))
    }

    /// Little-endian elements of the type `dtype`, to read.
    #[must_use]
    pub const fn read_bytes(dtype: DType, bytes: &'a [u8]) -> Self {
        Self(Memory::Read(dtype, bytes))
    }

    /// Little-endian elements of the type `dtype`, to write.
    pub const fn write_bytes(dtype: DType, bytes: &'a mut [u8]) -> Self {
        Self(Memory::Write(dtype, bytes))
    }

    /// Type of the elements.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        let (Memory::Read(dtype, _) | Memory::Write(dtype, _)) = self.0;
        dtype
    }

    /// Whether it may be written.
    #[must_use]
    pub const fn access(&self) -> Access {
        match self.0 {
            Memory::Read(..) => Access::Read,
            Memory::Write(..) => Access::Write,
        }
    }

    /// The memory.
    #[must_use]
    pub const fn bytes(&self) -> &[u8] {
        match &self.0 {
            Memory::Read(_, bytes) => bytes,
            Memory::Write(_, bytes) => bytes,
        }
    }

    /// The elements.
    ///
    /// # Errors
    ///
    /// When they are others, or the bytes are not whole, aligned elements.
    pub fn elements<T: Element>(&self) -> Result<&[T], KernelError> {
        let bytes = self.bytes();
        let start = bytes.as_ptr().cast::<T>();
        if !holds::<T>(self.dtype(), start, bytes.len()) {
            return Err(KernelError::Type);
        }
        // SAFETY: aligned, as many elements as fill the bytes, which `Element` lets
        // have every pattern. Unlike `align_to`, this cannot panic.
        Ok(unsafe { core::slice::from_raw_parts(start, bytes.len() / size_of::<T>()) })
    }

    /// The elements, to be written.
    ///
    /// # Errors
    ///
    /// As for [`elements`](Self::elements), and when they are readable only.
    pub fn elements_mut<T: Element>(&mut self) -> Result<&mut [T], KernelError> {
        let Memory::Write(dtype, bytes) = &mut self.0 else { return Err(KernelError::Access) };
        let start = bytes.as_mut_ptr().cast::<T>();
        if !holds::<T>(*dtype, start, bytes.len()) {
            return Err(KernelError::Type);
        }
        // SAFETY: aligned, as many elements as fill the bytes, which `Element` lets
        // have every pattern and no padding. The bytes are borrowed exclusively.
        Ok(unsafe { core::slice::from_raw_parts_mut(start, bytes.len() / size_of::<T>()) })
    }
}

/// Whether memory of the type `dtype` is whole, aligned elements of `T`.
fn holds<T: Element>(dtype: DType, start: *const T, bytes: usize) -> bool {
    dtype == T::DTYPE && start.is_aligned() && bytes.is_multiple_of(size_of::<T>())
}

impl core::fmt::Display for KernelError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Kernel => "the parameters are another kernel's",
            Self::Mode => "the kernel cannot work on tensors that lie like that",
            Self::Count => "the kernel takes another number of tensors",
            Self::Access => "a tensor must be writable",
            Self::Type => "a tensor holds elements of another type",
            Self::Unsupported => "the kernel does not support the parameters",
        })
    }
}

impl core::error::Error for KernelError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_give_what_they_hold() {
        let mut words = [1_i32, -2];
        let mut tensor = Tensor::write(&mut words);
        assert_eq!((tensor.dtype(), tensor.access(), tensor.bytes().len()), (DType::I32, Access::Write, 8));
        tensor.elements_mut::<i32>().unwrap()[0] = 0x0403_0201;
        assert_eq!(tensor.elements::<i32>(), Ok(&[0x0403_0201, -2][..]));
        assert_eq!(tensor.bytes()[..4], [1, 2, 3, 4]);
        assert_eq!(tensor.elements::<f32>(), Err(KernelError::Type));
        assert_eq!(tensor.elements_mut::<u8>(), Err(KernelError::Type));

        let mut tensor = Tensor::read(&[1_i8, 2]);
        assert_eq!((tensor.dtype(), tensor.access()), (DType::I8, Access::Read));
        assert_eq!(tensor.elements::<i8>(), Ok(&[1, 2][..]));
        assert_eq!(tensor.elements_mut::<i8>(), Err(KernelError::Access));
    }

    #[test]
    fn bytes_are_whole_aligned_elements() {
        #[repr(align(4))]
        struct Aligned([u8; 9]);
        let mut bytes = Aligned([0, 0, 128, 63, 0, 0, 128, 63, 0]);
        let floats = |bytes| Tensor::read_bytes(DType::F32, bytes).elements::<f32>().map(<[f32]>::len);
        assert_eq!(floats(&bytes.0[..8]), Ok(2));
        assert_eq!(floats(&bytes.0[..7]), Err(KernelError::Type));
        assert_eq!(floats(&bytes.0[1..5]), Err(KernelError::Type));
        let mut tensor = Tensor::write_bytes(DType::F32, &mut bytes.0[1..5]);
        assert_eq!(tensor.elements_mut::<f32>(), Err(KernelError::Type));
    }
}
