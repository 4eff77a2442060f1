//! A static that is handed out once.
#![expect(unsafe_code, reason = "hands out one exclusive reference to a static")]

use crate::PlacedMemory;
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
    memory: PlacedMemory<T>,
}

impl<T> Singleton<T> {
    /// Puts `value` into the static.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self { first: First::new(), memory: PlacedMemory::new(value) }
    }

    /// The value on the first call, `None` on every later one.
    ///
    /// On processors that cannot swap a byte in one step (Cortex-M0, RISC-V without "A")
    /// nobody gets it where the first call is interrupted by another.
    #[expect(clippy::mut_from_ref, reason = "one caller gets it")]
    pub fn take(&'static self) -> Option<&'static mut T> {
        // SAFETY: the memory is this value's alone.
        unsafe { self.memory.take(&self.first) }
    }
}
