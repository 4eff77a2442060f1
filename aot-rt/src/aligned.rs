//! Values that start at a multiple of more bytes than their type asks for.

use core::ops::{Deref, DerefMut};

/// A value that is aligned as `A` is, one of [`Align32`] to [`Align4096`].
///
/// ```
/// # use aot_rt::{Align64, Aligned, Workspace};
/// static MEMORY: Aligned<Align64, Workspace<100>> = Aligned::new(Workspace::new());
/// assert!(core::ptr::from_ref(&MEMORY).addr().is_multiple_of(64));
/// ```
#[derive(Debug, Default)]
#[repr(C)]
pub struct Aligned<A, T> {
    alignment: [A; 0],
    value: T,
}

impl<A, T> Aligned<A, T> {
    /// Takes a value.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self { alignment: [], value }
    }
}

impl<A, T> Deref for Aligned<A, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<A, T> DerefMut for Aligned<A, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

macro_rules! alignments {
    ($($name:ident $bytes:literal)+) => {
        $(
            #[doc = concat!("Aligned to ", $bytes, " bytes.")]
            #[derive(Clone, Copy, Debug, Default)]
            #[repr(align($bytes))]
            pub struct $name;
        )+

        #[cfg(test)]
        #[test]
        fn values_are_aligned_and_as_large_as_that_makes_them() {
            $(
                let value = Aligned::<$name, [u8; 3]>::new([1, 2, 3]);
                assert!((&raw const value).addr().is_multiple_of($bytes));
                assert_eq!((size_of_val(&value), (&raw const *value).addr()), ($bytes, (&raw const value).addr()));
            )+
        }
    };
}

alignments! {
    Align32 32
    Align64 64
    Align128 128
    Align256 256
    Align512 512
    Align1024 1024
    Align2048 2048
    Align4096 4096
}
