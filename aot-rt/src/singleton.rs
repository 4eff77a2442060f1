//! A static that is handed out once.
#![expect(unsafe_code, reason = "hands out one exclusive reference to a static")]

use core::cell::UnsafeCell;

use crate::first::First;

/// A value in static memory that one caller may have exclusively, for good.
///
/// ```
/// # use aot_rt::Singleton;
/// static BUFFER: Singleton<[u8; 4]> = Singleton::new([0; 4]);
/// let buffer = BUFFER.take().unwrap();
/// buffer[0] = 1;
/// assert!(BUFFER.take().is_none());
/// ```
pub struct Singleton<T> {
    first: First,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached only through `take`, which gives it to one caller;
// that caller may be another thread, hence `Send`.
unsafe impl<T: Send> Sync for Singleton<T> {}

impl<T> Singleton<T> {
    /// Puts `value` into the static.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self { first: First::new(), value: UnsafeCell::new(value) }
    }

    #[expect(clippy::mut_from_ref, reason = "the flag lets one caller through")]
    /// The value on the first call, `None` on every later one.
    ///
    /// On processors that cannot swap a byte in one step (Cortex-M0, RISC-V without "A")
    /// nobody gets it where the first call is interrupted by another.
    pub fn take(&'static self) -> Option<&'static mut T> {
        if !self.first.is_first() {
            return None;
        }
        // SAFETY: `is_first` is true for this caller only, so no other reference to the
        // value exists or will exist.
        Some(unsafe { &mut *self.value.get() })
    }
}
