//! What recurrent layers share: the order of their steps, and sums that are added up.

use super::kernel_params;
use super::loops::{copy, part, part_mut};
use super::output::Quantized;
use super::requantize::{Finish, FinishF32};
use crate::fixed_point::{Multiplier, Rounding, Scaler};

kernel_params! {
    /// Rows of `x` and `y`, and in which order a recurrent layer runs through them.
    pub struct Sequence {
        /// Sequences, which do not depend on each other.
        pub batch: usize,
        /// Steps of each.
        pub steps: usize,
        /// The rows of a step stand together, not those of a sequence.
        pub time_major: bool,
        /// The last step comes first.
        pub reverse: bool,
        /// Elements of a row of `x`.
        pub inputs: usize,
        /// Elements of a row that the layer gives.
        pub outputs: usize,
        /// Elements of a row of `y`.
        pub row: usize,
        /// The first of these that the layer gives.
        pub first: usize,
    }
}

impl Sequence {
    /// The rows of sequence `batch`, in order.
    #[inline(always)]
    pub(crate) fn rows(self, batch: usize) -> impl Iterator<Item = usize> {
        (0..self.steps).map(move |step| {
            let step = if self.reverse { self.steps - 1 - step } else { step };
            if self.time_major { step * self.batch + batch } else { batch * self.steps + step }
        })
    }

    /// A row of `x`.
    #[inline(always)]
    pub(crate) fn input<T>(self, x: &[T], row: usize) -> &[T] {
        part(x, row * self.inputs, self.inputs)
    }

    /// Sets what the layer gives of a row of `y`.
    #[inline(always)]
    pub(crate) fn set<T: Copy>(self, y: &mut [T], row: usize, values: &[T]) {
        copy(values, part_mut(y, row * self.row + self.first, self.outputs));
    }
}

/// A float sum is added to what is there.
pub(crate) struct Added;

impl FinishF32 for Added {
    #[inline(always)]
    fn set(&self, y: &mut f32, sum: f32) {
        *y += sum;
    }
}

/// Sums of int8 products become int16: bias, factor.
pub(crate) struct Sums<'a> {
    /// One for each sum, or none.
    pub(crate) bias: &'a [i32],
    pub(crate) factor: Multiplier,
    pub(crate) rounding: Rounding,
}

impl Finish for Sums<'_> {
    type Y = i16;

    /// Compiled once: it would make a large part of every kernel.
    #[inline(never)]
    fn channels(&self, first: usize, sums: &mut [i32], y: &mut [i16]) {
        for (sum, bias) in sums.iter_mut().zip(self.bias.get(first..).unwrap_or_default()) {
            *sum = sum.wrapping_add(*bias);
        }
        let scaler = Scaler::new(self.factor, self.rounding);
        for (y, sum) in y.iter_mut().zip(sums) {
            *y = i16::saturate(scaler.apply(*sum));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_sequence() {
        for (time_major, reverse, expect) in [
            (false, false, [3, 4, 5]),
            (false, true, [5, 4, 3]),
            (true, false, [1, 3, 5]),
            (true, true, [5, 3, 1]),
        ] {
            let sequence =
                Sequence { batch: 2, steps: 3, time_major, reverse, inputs: 1, outputs: 1, row: 1, first: 0 };
            assert!(sequence.rows(1).eq(expect), "{time_major} {reverse}");
        }
    }
}
