//! Loops over tensors: strided, and in chunks.
//!
//! The chunks of the standard library divide by their length, for which there is no
//! instruction on small processors, and keep a panic for the length 0 where a
//! compiler that optimises for size does not inline them.

/// Offsets of `N` tensors for every round of `LOOPS` nested loops.
pub(crate) struct Offsets<const LOOPS: usize, const N: usize> {
    extents: [usize; LOOPS],
    /// Elements that a tensor's offset grows by in one round, for each loop.
    strides: [[usize; N]; LOOPS],
    index: [usize; LOOPS],
    next: [usize; N],
    left: usize,
}

impl<const LOOPS: usize, const N: usize> Offsets<LOOPS, N> {
    /// Loops from the outermost to the innermost. A stride that leads backwards is given
    /// as the `usize` that it wraps to.
    #[inline(always)]
    pub(crate) fn new(extents: [usize; LOOPS], strides: [[usize; N]; LOOPS]) -> Self {
        let left = extents.iter().product();
        Self { extents, strides, index: [0; LOOPS], next: [0; N], left }
    }
}

impl<const LOOPS: usize, const N: usize> Iterator for Offsets<LOOPS, N> {
    type Item = [usize; N];

    #[inline(always)]
    fn next(&mut self) -> Option<[usize; N]> {
        self.left = self.left.checked_sub(1)?;
        let current = self.next;
        let loops = self.index.iter_mut().zip(&self.extents).zip(&self.strides);
        for ((index, &extent), strides) in loops.rev() {
            *index += 1;
            for (next, stride) in self.next.iter_mut().zip(strides) {
                *next = next.wrapping_add(*stride);
            }
            if *index < extent {
                break;
            }
            *index = 0;
            for (next, stride) in self.next.iter_mut().zip(strides) {
                *next = next.wrapping_sub(stride.wrapping_mul(extent));
            }
        }
        Some(current)
    }
}

/// The whole chunks of `len` elements; none when that is 0.
#[inline(always)]
pub(crate) fn chunks<T>(elements: &[T], len: usize) -> Chunks<'_, T> {
    Chunks { rest: elements, len }
}

/// See [`chunks`].
pub(crate) struct Chunks<'a, T> {
    /// What no chunk has been made of yet.
    pub(crate) rest: &'a [T],
    len: usize,
}

impl<'a, T> Iterator for Chunks<'a, T> {
    type Item = &'a [T];

    #[inline(always)]
    fn next(&mut self) -> Option<&'a [T]> {
        let (chunk, rest) = self.rest.split_at_checked(self.len)?;
        self.rest = rest;
        if chunk.is_empty() { None } else { Some(chunk) }
    }
}

/// The whole chunks of `len` elements, exclusively; none when that is 0.
#[inline(always)]
pub(crate) fn chunks_mut<T>(elements: &mut [T], len: usize) -> ChunksMut<'_, T> {
    ChunksMut { rest: elements, len }
}

/// See [`chunks_mut`].
pub(crate) struct ChunksMut<'a, T> {
    rest: &'a mut [T],
    len: usize,
}

impl<'a, T> Iterator for ChunksMut<'a, T> {
    type Item = &'a mut [T];

    #[inline(always)]
    fn next(&mut self) -> Option<&'a mut [T]> {
        let (chunk, rest) = core::mem::take(&mut self.rest).split_at_mut_checked(self.len)?;
        self.rest = rest;
        if chunk.is_empty() { None } else { Some(chunk) }
    }
}

/// `len` elements from `start` on, or none when there are fewer.
#[inline(always)]
pub(crate) fn part<T>(elements: &[T], start: usize, len: usize) -> &[T] {
    elements.get(start..).and_then(|elements| elements.get(..len)).unwrap_or(&[])
}

/// `len` elements from `start` on, exclusively, or none when there are fewer.
#[inline(always)]
pub(crate) fn part_mut<T>(elements: &mut [T], start: usize, len: usize) -> &mut [T] {
    elements.get_mut(start..).and_then(|elements| elements.get_mut(..len)).unwrap_or(&mut [])
}

/// Copies elements.
#[inline(always)]
pub(crate) fn copy<T: Copy>(from: &[T], to: &mut [T]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

/// Sets `y` to a slice of as many elements, or to zeros where there is none.
#[inline(always)]
pub(crate) fn copy_or_clear(slice: &[i8], y: &mut [i8]) {
    if slice.is_empty() {
        y.fill(0);
    }
    copy(slice, y);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_whole() {
        let mut elements = [1, 2, 3, 4, 5];
        let mut halves = chunks(&elements, 2);
        assert_eq!(
            (halves.next(), halves.next(), halves.next()),
            (Some(&[1, 2][..]), Some(&[3, 4][..]), None)
        );
        assert_eq!(halves.rest, [5]);
        assert_eq!(chunks(&elements, 0).next(), None);
        assert_eq!(chunks_mut(&mut elements, 3).count(), 1);
        assert_eq!(chunks_mut(&mut elements, 0).count(), 0);
    }

    #[test]
    fn offsets_follow_the_strides() {
        let mut offsets = Offsets::new([2, 1, 3], [[10, 0], [7, 7], [1, 2]]);
        for expect in [[0, 0], [1, 2], [2, 4], [10, 0], [11, 2], [12, 4]] {
            assert_eq!(offsets.next(), Some(expect));
        }
        assert_eq!(offsets.next(), None);
        assert_eq!(Offsets::new([2, 0], [[1], [1]]).next(), None);
        let backwards = Offsets::new([2, 2], [[10], [1_usize.wrapping_neg()]]);
        assert!(backwards.map(|[offset]| offset.wrapping_add(1)).eq([1, 0, 11, 10]));
    }
}
