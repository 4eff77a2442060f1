//! Parts of the caller's arrays, as other element types.
//!
//! Where inputs or outputs are the caller's, a step may read a part of one, or
//! copy it as bytes. Generated code knows types, offsets and lengths, so they are
//! checked while rustc compiles.
#![expect(unsafe_code, reason = "arrays of numbers are cast to arrays of numbers")]

use crate::Element;

/// `LEN` elements of `U` from byte `OFFSET` of `array` on.
///
/// Does not compile when they are out of bounds or misaligned.
///
/// ```
/// assert_eq!(aot_rt::part::<f32, u8, 4, 3, 2>(&[0.0, 1.0]), &[0, 0, 128]);
/// ```
#[inline(always)]
#[must_use]
pub const fn part<T: Element, U: Element, const OFFSET: usize, const LEN: usize, const N: usize>(
    array: &[T; N],
) -> &[U; LEN] {
    const { check::<T, U>(OFFSET, LEN, N) };
    // SAFETY: in bounds and aligned as just proved, and `Element` admits every bit
    // pattern.
    unsafe { &*array.as_ptr().cast::<u8>().add(OFFSET).cast() }
}

/// `LEN` elements of `U` from byte `OFFSET` of `array` on, exclusively.
///
/// Does not compile when they are out of bounds or misaligned.
#[inline(always)]
pub const fn part_mut<T: Element, U: Element, const OFFSET: usize, const LEN: usize, const N: usize>(
    array: &mut [T; N],
) -> &mut [U; LEN] {
    const { check::<T, U>(OFFSET, LEN, N) };
    // SAFETY: as in `part`; `Element` has no padding, so any `U` leaves valid `T`.
    unsafe { &mut *array.as_mut_ptr().cast::<u8>().add(OFFSET).cast() }
}

const fn check<T: Element, U: Element>(offset: usize, len: usize, array_len: usize) {
    let bytes = array_len * size_of::<T>();
    assert!(offset <= bytes && len <= (bytes - offset) / size_of::<U>(), "a part is out of bounds");
    // The array is aligned for `T` only.
    let aligned = align_of::<U>() <= align_of::<T>() && offset.is_multiple_of(align_of::<U>());
    assert!(aligned, "a part is misaligned for its element type");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_little_endian() {
        let mut array = [0x0403_0201, 0x0807_0605];
        assert_eq!(part::<i32, i8, 3, 3, 2>(&array), &[4, 5, 6]);
        assert_eq!(part::<i32, i16, 2, 1, 2>(&array), &[0x0403]);
        *part_mut::<i32, f32, 4, 1, 2>(&mut array) = [1.0];
        assert_eq!(array, [0x0403_0201, 0x3f80_0000]);
    }
}
