//! Tells the first caller from all others, whatever threads, cores and interrupts they
//! are on: at most one is told that it is the first.

#[cfg(any(test, not(target_has_atomic = "8")))]
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::{AtomicBool, Ordering};

#[cfg(not(target_has_atomic = "8"))]
pub(crate) use Splitter as First;
#[cfg(target_has_atomic = "8")]
pub(crate) use Swap as First;

/// With an instruction that swaps: exactly one is.
#[cfg(target_has_atomic = "8")]
pub(crate) struct Swap(AtomicBool);

#[cfg(target_has_atomic = "8")]
impl Swap {
    pub(crate) const fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    pub(crate) fn is_first(&self) -> bool {
        !self.0.swap(true, Ordering::AcqRel)
    }
}

/// With loads and stores alone: the splitter of Lamport's "A Fast Mutual Exclusion
/// Algorithm" (1987), without its slow path. Where the first calls overlap, none may be.
///
/// Suppose two were. Take the one that wrote `last` earlier: it then read its own name
/// there, so the other wrote `last` after it had closed the door, and found it closed.
#[cfg(any(test, not(target_has_atomic = "8")))]
pub(crate) struct Splitter {
    /// Name of the caller that came last.
    last: AtomicUsize,
    closed: AtomicBool,
}

#[cfg(any(test, not(target_has_atomic = "8")))]
impl Splitter {
    pub(crate) const fn new() -> Self {
        Self { last: AtomicUsize::new(0), closed: AtomicBool::new(false) }
    }

    pub(crate) fn is_first(&self) -> bool {
        // Calls that overlap are on different stacks, or at different depths of one: an
        // address there is a name that no two of them share.
        let place = 0_u8;
        let name = (&raw const place).addr();
        self.last.store(name, Ordering::SeqCst);
        if self.closed.load(Ordering::SeqCst) {
            return false;
        }
        self.closed.store(true, Ordering::SeqCst);
        self.last.load(Ordering::SeqCst) == name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    extern crate std;

    #[test]
    fn the_first_caller_is_told_so_once() {
        let (swap, splitter) = (Swap::new(), Splitter::new());
        assert!(swap.is_first() && splitter.is_first());
        for _ in 0..3 {
            assert!(!swap.is_first() && !splitter.is_first());
        }
    }

    /// Callers that start together, many times over.
    #[test]
    fn of_threads_that_race_at_most_one_is_first() {
        for _ in 0..500 {
            let (swap, splitter) = (Swap::new(), Splitter::new());
            let start = std::sync::Barrier::new(3);
            let race = || {
                start.wait();
                [swap.is_first(), splitter.is_first()].map(usize::from)
            };
            let firsts = std::thread::scope(|scope| {
                [(); 3].map(|()| scope.spawn(race)).map(|thread| thread.join().unwrap())
            });
            let [swaps, splits] = [0, 1].map(|i| firsts.iter().map(|first| first[i]).sum::<usize>());
            assert_eq!(swaps, 1);
            assert!(splits <= 1);
        }
    }
}
