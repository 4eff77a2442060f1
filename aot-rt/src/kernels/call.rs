//! Calls of kernels with descriptions of their tensors: what the functions in
//! [`packed`](super::packed) do.

use super::{Kernel, Mode};
use crate::{KernelError, PackedKernel, Tensor};

/// Which [`Mode`]s a program calls its kernels in; code for the others is left out.
///
/// Kernels that know one mode only are always there in that one. For
/// [`Mode::Overlapping`] kernels are told how many channels there is room for on the stack.
pub trait Modes {
    /// [`Mode::Apart`].
    const APART: bool;
    /// [`Mode::InPlace`].
    const IN_PLACE: bool;
    /// [`Mode::Row`].
    const ROWS: bool;
}

/// All of them.
#[derive(Clone, Copy, Debug)]
pub struct AllModes;

impl Modes for AllModes {
    const APART: bool = true;
    const IN_PLACE: bool = true;
    const ROWS: bool = true;
}

/// Channels of a cell that [`Kernel::run`] has room for on the stack.
pub(super) const CELL: usize = 1024;

/// Whether the channels of a kernel's result fit into `cell` elements.
#[inline]
pub(super) const fn has_room(kernel: &Kernel, cell: usize) -> bool {
    match kernel.window() {
        Some((_, [_, channels])) => channels <= cell,
        None => false,
    }
}

/// The elements of a tensor, as the kernel takes them.
macro_rules! elements {
    ($tensor:ident: $ty:ident) => {
        $tensor.elements::<$ty>()?
    };
    ($tensor:ident: $ty:ident mut) => {
        $tensor.elements_mut::<$ty>()?
    };
}
pub(super) use elements;

/// Calls a kernel of a kind with its tensors, in the modes that the kind knows.
macro_rules! call {
    (plain $function:ident($kernel:ident, $params:ident, $mode:ident, $tensors:ident)
        ($x:ty, $y:ty; $($rest:ident: $(&$mut:ident)? $ty:ident),*)) => {{
        let Mode::Apart = $mode else { return Err(KernelError::Mode) };
        let [x, y, $($rest),*] = $tensors else { return Err(KernelError::Count) };
        let (x, y) = (x.elements::<$x>()?, y.elements_mut::<$y>()?);
        super::$function($params, x, y, $(elements!($rest: $ty $($mut)?)),*);
    }};
    (elementwise $function:ident($kernel:ident, $params:ident, $mode:ident, $tensors:ident)
        ($x:ty, $y:ty; $($rest:ident: $(&$mut:ident)? $ty:ident),*)) => {{
        match $mode {
            Mode::Apart if M::APART => {
                let [x, y, $($rest),*] = $tensors else { return Err(KernelError::Count) };
                let apart = Apart { x: x.elements::<$x>()?, y: y.elements_mut::<$y>()? };
                super::$function($params, apart, $(elements!($rest: $ty $($mut)?)),*);
            }
            Mode::InPlace if M::IN_PLACE => {
                let [y, $($rest),*] = $tensors else { return Err(KernelError::Count) };
                let in_place = InPlace(y.elements_mut::<$y>()?);
                super::$function($params, in_place, $(elements!($rest: $ty $($mut)?)),*);
            }
            _ => return Err(KernelError::Mode),
        }
    }};
    (reducing $function:ident($kernel:ident, $params:ident, $mode:ident, $tensors:ident)
        ($x:ty, $y:ty;)) => {{
        let Mode::Row { rings, row } = $mode else { return Err(KernelError::Mode) };
        let [x, y] = $tensors else { return Err(KernelError::Count) };
        let (x, y) = (x.elements::<$x>()?, y.elements_mut::<$y>()?);
        super::$function($params, Row { x, y, rings, row });
    }};
    (accumulating $function:ident($kernel:ident, $params:ident, $mode:ident, $tensors:ident)
        ($x:ty, $y:ty; $($rest:ident: $(&$mut:ident)? $ty:ident),*)) => {{
        let [x, y, $($rest),*] = $tensors else { return Err(KernelError::Count) };
        let (x, y) = (x.elements::<$x>()?, y.elements_mut::<$y>()?);
        match $mode {
            Mode::Apart if M::APART => {
                super::$function($params, Apart { x, y }, $(elements!($rest: $ty $($mut)?)),*);
            }
            Mode::Row { rings, row } if M::ROWS => {
                super::$function($params, Row { x, y, rings, row }, $(elements!($rest: $ty $($mut)?)),*);
            }
            _ => return Err(KernelError::Mode),
        }
    }};
    (widening $($call:tt)*) => {
        call!(accumulating $($call)*)
    };
    (window $function:ident($kernel:ident, $params:ident, $mode:ident, $tensors:ident)
        ($x:ty, $y:ty; $($rest:ident: $(&$mut:ident)? $ty:ident),*)) => {{
        if let Mode::Overlapping(overlap) = $mode {
            if CELL == 0 || !has_room($kernel, CELL) {
                return Err(KernelError::Mode);
            }
            let [memory, $($rest),*] = $tensors else { return Err(KernelError::Count) };
            let images = Overlapping::<$y, CELL>::new(memory.elements_mut::<$y>()?, overlap);
            super::$function($params, images, $(elements!($rest: $ty $($mut)?)),*);
            return Ok(());
        }
        call!(accumulating $function($kernel, $params, $mode, $tensors)
            ($x, $y; $($rest: $(&$mut)? $ty),*));
    }};
}
pub(super) use call;

/// Declares the packed function of a kernel. Where the kernel knows several modes, the
/// function is compiled for those that a program uses, and for its largest cell.
macro_rules! packed {
    (plain $($kernel:tt)*) => {
        packed!(@function [] plain $($kernel)*);
    };
    (reducing $($kernel:tt)*) => {
        packed!(@function [] reducing $($kernel)*);
    };
    (window $($kernel:tt)*) => {
        packed!(@function [<M: Modes, const CELL: usize>] window $($kernel)*);
    };
    (@function [$($generics:tt)*] $kind:ident $variant:ident $function:ident $operands:tt) => {
        #[doc = concat!("[`", stringify!($function), "`](super::", stringify!($function), ").")]
        ///
        /// # Errors
        ///
        /// When the kernel is another, the mode is none that it is compiled for, or number,
        /// type or access of the tensors is not as it should be.
        pub fn $function $($generics)* (
            kernel: &Kernel,
            mode: Mode,
            tensors: &mut [Tensor<'_>],
        ) -> Result<(), KernelError> {
            let Kernel::$variant(params) = kernel else { return Err(KernelError::Kernel) };
            call!($kind $function(kernel, params, mode, tensors) $operands);
            Ok(())
        }
    };
    ($kind:ident $($kernel:tt)*) => {
        packed!(@function [<M: Modes>] $kind $($kernel)*);
    };
}
pub(super) use packed;

/// The packed function of a kernel, for all modes.
macro_rules! packed_for_all {
    (plain $function:ident) => {
        packed::$function
    };
    (reducing $function:ident) => {
        packed::$function
    };
    (window $function:ident) => {
        packed::$function::<AllModes, CELL>
    };
    ($kind:ident $function:ident) => {
        packed::$function::<AllModes>
    };
}
pub(super) use packed_for_all;

impl Kernel {
    /// Runs the kernel on `tensors`, which are those of [`Kernel::operands`], or with one for
    /// `x` and `y` together where the mode says so.
    ///
    /// # Errors
    ///
    /// When number, type or access of the tensors is not as it should be, or the kernel does
    /// not know the mode.
    pub fn run(&self, mode: Mode, tensors: &mut [Tensor<'_>]) -> Result<(), KernelError> {
        self.packed()(self, mode, tensors)
    }

    /// Calls `function` on this kernel's parameters, for generated code: it cannot refuse what
    /// the compiler has written down. Debug builds assert that.
    #[inline(always)]
    pub fn call(&self, function: PackedKernel, mode: Mode, tensors: &mut [Tensor<'_>]) {
        let called = function(self, mode, tensors);
        debug_assert!(called.is_ok(), "a kernel refuses its tensors");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{ClampF32, MaxPool2dI8, Overlap, RangeF32, RangeI8, Window2d, packed};

    /// A program whose tensors all lie apart.
    struct Apart;

    impl Modes for Apart {
        const APART: bool = true;
        const IN_PLACE: bool = false;
        const ROWS: bool = false;
    }

    const CLAMP: Kernel = Kernel::ClampF32(ClampF32 { len: 2, range: RangeF32 { min: 0.0, max: 6.0 } });

    #[test]
    fn descriptions_are_checked() {
        let (x, mut y, mut other) = ([-1.0, 7.0], [0.0; 2], [0_i32; 2]);
        let clamp = packed::clamp_f32::<AllModes>;
        let tensors = &mut [Tensor::read(&x), Tensor::write(&mut y)];
        assert_eq!(clamp(&CLAMP, Mode::Apart, tensors), Ok(()));
        assert_eq!(clamp(&CLAMP, Mode::InPlace, tensors), Err(KernelError::Count));
        assert_eq!(clamp(&CLAMP, Mode::Row { rings: [1; 2], row: 0 }, tensors), Err(KernelError::Mode));
        assert_eq!(packed::clamp_f32::<Apart>(&CLAMP, Mode::InPlace, tensors), Err(KernelError::Mode));
        assert_eq!(packed::copy_i8(&CLAMP, Mode::Apart, tensors), Err(KernelError::Kernel));
        tensors.swap(0, 1);
        assert_eq!(clamp(&CLAMP, Mode::Apart, tensors), Err(KernelError::Access));
        assert_eq!(clamp(&CLAMP, Mode::Apart, &mut tensors[..1]), Err(KernelError::Count));
        assert_eq!(y, [0.0, 6.0]);
        let tensors = &mut [Tensor::read(&x), Tensor::write(&mut other)];
        assert_eq!(clamp(&CLAMP, Mode::Apart, tensors), Err(KernelError::Type));
    }

    /// The largest of two neighbours, of three channels.
    fn pool() -> Kernel {
        let window = Window2d {
            batch: 1,
            input: [1, 3],
            output: [1, 2],
            kernel: [1, 2],
            stride: [1; 2],
            dilation: [1; 2],
            padding: [0; 2],
        };
        Kernel::MaxPool2dI8(MaxPool2dI8 { window, channels: 3, range: RangeI8 { min: -128, max: 127 } })
    }

    #[test]
    fn cells_need_room_on_the_stack() {
        let pool = pool();
        let mode = Mode::Overlapping(Overlap::of(&pool, 0, 0));
        let expected = [4, 5, 6, 7, 8, 9, 7, 8, 9];
        for (function, expect) in [
            (packed::max_pool2d_i8::<Apart, 3> as PackedKernel, Ok(())),
            (packed::max_pool2d_i8::<Apart, 2>, Err(KernelError::Mode)),
            (packed::max_pool2d_i8::<Apart, 0>, Err(KernelError::Mode)),
        ] {
            let mut memory = [1_i8, 2, 3, 4, 5, 6, 7, 8, 9];
            assert_eq!(function(&pool, mode, &mut [Tensor::write(&mut memory)]), expect);
            assert_eq!(memory == expected, expect.is_ok());
        }
    }
}
