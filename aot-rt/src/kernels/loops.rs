//! Nested loops over strided tensors.

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
    /// Loops from the outermost to the innermost.
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
                *next += stride;
            }
            if *index < extent {
                break;
            }
            *index = 0;
            for (next, stride) in self.next.iter_mut().zip(strides) {
                *next = next.wrapping_sub(stride * extent);
            }
        }
        Some(current)
    }
}

/// `len` elements from `start` on, or none when there are fewer.
#[inline(always)]
pub(crate) fn part<T>(elements: &[T], start: usize, len: usize) -> &[T] {
    elements.get(start..).and_then(|elements| elements.get(..len)).unwrap_or(&[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_follow_the_strides() {
        let mut offsets = Offsets::new([2, 1, 3], [[10, 0], [7, 7], [1, 2]]);
        for expect in [[0, 0], [1, 2], [2, 4], [10, 0], [11, 2], [12, 4]] {
            assert_eq!(offsets.next(), Some(expect));
        }
        assert_eq!(offsets.next(), None);
        assert_eq!(Offsets::new([2, 0], [[1], [1]]).next(), None);
    }
}
