//! Statics in link sections of the user's choice.
#![expect(unsafe_code, reason = "hands out one exclusive reference to a static")]

use core::cell::UnsafeCell;

use crate::first::First;

/// A static in the link section that the string names.
///
/// ```
/// aot_rt::in_section! { ".tables", static TABLE: [u8; 4] = [1, 2, 3, 4]; }
/// aot_rt::in_section! { ".bss.dtcm", static mut BUFFER: [u8; 64] = [0; 64]; }
///
/// let buffer: &'static mut [u8; 64] = BUFFER.take().unwrap();
/// buffer[0] = TABLE[0];
/// assert!(BUFFER.take().is_none());
/// ```
///
/// The second form is memory that one caller may have for good: a [`Placed`] value. Whether it
/// has been taken is kept elsewhere, so that the section may be one that nothing initialises, if
/// nobody relies on what the value is at first.
///
/// There are no such sections where programs are in the formats of Apple's systems or in
/// WebAssembly: there, the linker chooses.
#[macro_export]
macro_rules! in_section {
    ($section:literal, static mut $name:ident: $ty:ty = $value:expr;) => {
        static $name: $crate::Placed<$ty> = {
            #[cfg_attr(not(any(target_vendor = "apple", target_family = "wasm")), unsafe(link_section = $section))]
            static MEMORY: $crate::PlacedMemory<$ty> = $crate::PlacedMemory::new($value);
            // Beside the value that refers to it: so this is zeros at first, and that a constant.
            static FLAG: $crate::PlacedFlag = $crate::PlacedFlag::new();
            // SAFETY: nothing else can name these statics.
            unsafe { $crate::Placed::new(&MEMORY, &FLAG) }
        };
    };
    ($section:literal, static $name:ident: $ty:ty = $value:expr;) => {
        #[cfg_attr(not(any(target_vendor = "apple", target_family = "wasm")), unsafe(link_section = $section))]
        static $name: $ty = $value;
    };
}

/// The memory behind a [`Placed`] value, or a [`Singleton`](crate::Singleton).
#[repr(transparent)]
pub struct PlacedMemory<T>(UnsafeCell<T>);

// SAFETY: the value is reached only through `take`, which gives it to one caller; that caller
// may be another thread, hence `Send`.
unsafe impl<T: Send> Sync for PlacedMemory<T> {}

impl<T> PlacedMemory<T> {
    /// Puts `value` into the static.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// The value for the caller that is the `first`.
    ///
    /// # Safety
    ///
    /// The memory is never taken with another `first`.
    #[expect(clippy::mut_from_ref, reason = "one caller gets it")]
    pub(crate) unsafe fn take(&'static self, first: &First) -> Option<&'static mut T> {
        // SAFETY: `is_first` is true for this caller only, so that no other reference to the
        // value exists or will exist.
        first.is_first().then(|| unsafe { &mut *self.0.get() })
    }
}

/// A value in static memory that one caller may have exclusively, for good; see
/// [`in_section!`](crate::in_section).
pub struct Placed<T: 'static> {
    memory: &'static PlacedMemory<T>,
    flag: &'static PlacedFlag,
}

/// Whether a [`Placed`] value has been taken.
pub struct PlacedFlag(First);

impl PlacedFlag {
    /// It has not.
    #[expect(clippy::new_without_default, reason = "a default is no constant")]
    #[must_use]
    pub const fn new() -> Self {
        Self(First::new())
    }
}

impl<T> Placed<T> {
    /// The value in `memory`, which has been taken when `flag` says so.
    ///
    /// # Safety
    ///
    /// No other `Placed` value has this memory.
    #[must_use]
    pub const unsafe fn new(memory: &'static PlacedMemory<T>, flag: &'static PlacedFlag) -> Self {
        Self { memory, flag }
    }

    /// The value on the first call, `None` on every later one; see
    /// [`Singleton::take`](crate::Singleton::take).
    #[expect(clippy::mut_from_ref, reason = "one caller gets it")]
    pub fn take(&'static self) -> Option<&'static mut T> {
        // SAFETY: the memory is this value's alone.
        unsafe { self.memory.take(&self.flag.0) }
    }
}
