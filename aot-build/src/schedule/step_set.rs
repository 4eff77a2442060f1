//! Sets of steps.

/// A set of steps of a section, by position.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct StepSet(Box<[u64]>);

const BITS: usize = u64::BITS as usize;

impl StepSet {
    /// The empty set of steps out of `steps`.
    pub(super) fn new(steps: usize) -> Self {
        Self(vec![0; steps.div_ceil(BITS)].into())
    }

    pub(super) fn insert(&mut self, step: usize) {
        self.0[step / BITS] |= 1 << (step % BITS);
    }

    pub(super) fn remove(&mut self, step: usize) {
        self.0[step / BITS] &= !(1 << (step % BITS));
    }

    pub(super) fn contains(&self, step: usize) -> bool {
        self.0[step / BITS] & (1 << (step % BITS)) != 0
    }

    /// Adds the steps of `other`, a set out of as many.
    pub(super) fn extend(&mut self, other: &Self) {
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.fill(0);
    }

    /// The first step that is not before `from`.
    pub(super) fn next(&self, from: usize) -> Option<usize> {
        let mut word = from / BITS;
        let mut bits = self.0.get(word)? & (u64::MAX << (from % BITS));
        while bits == 0 {
            word += 1;
            bits = *self.0.get(word)?;
        }
        Some(word * BITS + bits.trailing_zeros() as usize)
    }

    /// The steps, in ascending order.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        std::iter::successors(self.next(0), |step| self.next(step + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_come_in_ascending_order() {
        let mut set = StepSet::new(200);
        for step in [199, 0, 64, 63, 128, 7] {
            set.insert(step);
        }
        set.remove(7);
        assert!(set.contains(63) && !set.contains(7));
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 128, 199]);
        let mut more = StepSet::new(200);
        more.insert(1);
        more.extend(&set);
        assert_eq!((more.next(1), more.next(2), more.next(200)), (Some(1), Some(63), None));
        assert_eq!(StepSet::new(0).next(0), None);
    }
}
