//! The constants of a model: one aligned blob, read as typed arrays.
#![expect(unsafe_code, reason = "the blob's bytes are cast to element types")]

use crate::Element;
use crate::kernels::{CELLS, Filters, IN_BLOCKS};

/// Weights, biases and tables of a model, little-endian, aligned to 16 bytes.
#[repr(C, align(16))]
pub struct Constants<const BYTES: usize>([u8; BYTES]);

impl<const BYTES: usize> Constants<BYTES> {
    /// Takes the blob, normally `*include_bytes!(..)` or `*b"..."`.
    #[must_use]
    pub const fn new(bytes: [u8; BYTES]) -> Self {
        Self(bytes)
    }

    /// Takes the bytes of the blob from `start` on.
    ///
    /// # Panics
    ///
    /// When it has fewer: while rustc compiles, since this is for statics.
    #[must_use]
    pub const fn part(blob: &[u8], start: usize) -> Self {
        let (_, part) = blob.split_at(start);
        match part.first_chunk() {
            Some(bytes) => Self(*bytes),
            None => panic!("the blob has fewer bytes"),
        }
    }

    /// The constants with filters of int8 weights, one behind the other row by row, as this
    /// processor's kernels of blocked filters take them: those without vectors in blocks of four
    /// filters. `filters` are apart from each other.
    ///
    /// # Panics
    ///
    /// When filters are not aligned or out of bounds: while rustc compiles, since this is for
    /// statics.
    ///
    /// ```
    /// use aot_rt::kernels::Filters;
    /// const ROWS: aot_rt::Constants<12> = aot_rt::Constants::new([7; 12]);
    /// static BLOCKS: aot_rt::Constants<12> =
    ///     ROWS.with_blocks(&[Filters::new(0, 1, 4, 3)]);
    /// assert_eq!(BLOCKS.get::<i8, 0, 12>(), &[7; 12]);
    /// ```
    #[must_use]
    pub const fn with_blocks(self, filters: &[Filters]) -> Self {
        let mut blocks = self.0;
        let mut i = 0;
        while IN_BLOCKS && i < filters.len() {
            filters[i].arrange(CELLS, &self.0, &mut blocks);
            i += 1;
        }
        Self(blocks)
    }

    /// `LEN` elements from byte `OFFSET` on.
    ///
    /// Does not compile when they are out of bounds or misaligned.
    #[inline(always)]
    #[must_use]
    pub const fn get<T: Element, const OFFSET: usize, const LEN: usize>(&self) -> &[T; LEN] {
        const {
            let size = T::DTYPE.size();
            assert!(OFFSET <= BYTES && LEN <= (BYTES - OFFSET) / size, "a constant is out of bounds");
            assert!(OFFSET.is_multiple_of(size), "a constant is misaligned");
        }
        // SAFETY: in bounds and aligned as just proved (the blob is aligned to
        // 16), and `Element` admits every bit pattern.
        unsafe { &*self.0.as_ptr().add(OFFSET).cast() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_read_little_endian() {
        static BLOB: Constants<8> = Constants::new([1, 0, 0, 0, 0, 0, 128, 63]);
        assert_eq!(BLOB.get::<i32, 0, 1>(), &[1]);
        assert_eq!(BLOB.get::<f32, 4, 1>(), &[1.0]);
        assert_eq!(BLOB.get::<i8, 6, 2>(), &[-128, 63]);
        static PART: Constants<2> = Constants::part(&[1, 2, 3, 4], 1);
        assert_eq!(PART.get::<u8, 0, 2>(), &[2, 3]);
    }
}
