//! Integers of four bits, two in a byte: the first in its lower half, as TensorFlow Lite
//! packs them. Of an odd number, the upper half of the last byte is 0.

use core::iter::once;

/// Packs `elements`, each -8 to 7. Of others, the lower four bits count.
///
/// ```
/// let mut bytes = [0; 2];
/// aot_rt::pack_i4(&[1, -1, 7], &mut bytes);
/// assert_eq!(bytes, [0xf1, 0x07]);
/// ```
pub fn pack_i4(elements: &[i8], bytes: &mut [u8]) {
    debug_assert_eq!(bytes.len(), elements.len().div_ceil(2));
    let (pairs, last) = elements.as_chunks::<2>();
    let last = last.first().map(|&low| [low, 0]);
    for (byte, [low, high]) in bytes.iter_mut().zip(pairs.iter().copied().chain(last)) {
        *byte = (low & 15 | high << 4).cast_unsigned();
    }
}

/// Unpacks as many elements as there is room for.
///
/// ```
/// let mut elements = [0; 3];
/// aot_rt::unpack_i4(&[0xf1, 0x07], &mut elements);
/// assert_eq!(elements, [1, -1, 7]);
/// ```
pub fn unpack_i4(bytes: &[u8], elements: &mut [i8]) {
    debug_assert_eq!(bytes.len(), elements.len().div_ceil(2));
    let halves = bytes
        .iter()
        .map(|byte| byte.cast_signed())
        .flat_map(|byte| once(lower(byte)).chain(once(upper(byte))));
    for (element, half) in elements.iter_mut().zip(halves) {
        *element = half;
    }
}

/// The element in the lower half of a byte.
pub(crate) const fn lower(byte: i8) -> i8 {
    byte << 4 >> 4
}

/// The element in the upper half of a byte.
pub(crate) const fn upper(byte: i8) -> i8 {
    byte >> 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked() {
        for (elements, packed) in [
            (&[][..], &[][..]),
            (&[-8], &[0x08]),
            (&[7, -8], &[0x87]),
            (&[0, 1, 2, -1, -2], &[0x10, 0xf2, 0x0e]),
        ] {
            let (mut bytes, mut found) = ([0; 3], [0; 5]);
            let (bytes, found) = (&mut bytes[..packed.len()], &mut found[..elements.len()]);
            pack_i4(elements, bytes);
            assert_eq!(bytes, packed);
            unpack_i4(bytes, found);
            assert_eq!(found, elements);
        }
        let mut byte = [0];
        pack_i4(&[16 + 3, -16 - 1], &mut byte);
        assert_eq!(byte, [0xf3], "the lower four bits count");
    }
}
