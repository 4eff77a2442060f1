//! Numbers that look random and are the same on every machine.

/// A small generator of pseudo-random numbers (xorshift64), for repeatable
/// noise.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new() -> Self {
        Self(88_172_645_463_325_252)
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    /// A random part of `percent` percent of a number.
    pub(super) fn share(&mut self, of: i64, percent: u64) -> i64 {
        if percent == 0 {
            return 0;
        }
        (of as f64 * (percent as f64 / 100.0) * (self.below(1_000) as f64 / 1_000.0)) as i64
    }
}
