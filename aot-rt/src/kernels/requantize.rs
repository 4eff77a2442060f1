//! From the sums of a layer's output channels to int8.

use super::OutputI8;
use crate::fixed_point::{Multiplier, Scaler};

/// Bias, factor and limits of a layer's output channels.
#[derive(Clone, Copy)]
pub(crate) struct Requantize<'a> {
    /// One for each channel, or none.
    pub(crate) bias: &'a [i32],
    /// One for each channel, or one for all.
    pub(crate) multipliers: &'a [i32],
    /// As many.
    pub(crate) shifts: &'a [i8],
    /// Subtracted from every sum.
    pub(crate) offset: i32,
    /// Zero point and limits.
    pub(crate) output: OutputI8,
}

impl<'a> Requantize<'a> {
    /// The channels from `first` on.
    #[inline(always)]
    pub(crate) fn skip(self, first: usize) -> Self {
        let one = self.multipliers.len() == 1;
        Self {
            bias: self.bias.get(first..).unwrap_or_default(),
            multipliers: if one {
                self.multipliers
            } else {
                self.multipliers.get(first..).unwrap_or_default()
            },
            shifts: if one { self.shifts } else { self.shifts.get(first..).unwrap_or_default() },
            ..self
        }
    }

    /// Sets `y` to the results of as many channels from `first` on.
    ///
    /// Compiled once: it would make a large part of every kernel.
    #[inline(never)]
    pub(crate) fn channels(&self, first: usize, sums: &mut [i32], y: &mut [i8]) {
        for (sum, bias) in sums.iter_mut().zip(self.bias.get(first..).unwrap_or_default()) {
            *sum = sum.wrapping_add(*bias);
        }
        let rounding = self.output.rounding();
        let outputs = y.iter_mut().zip(sums.iter().map(|sum| sum.wrapping_sub(self.offset)));
        if let (&[multiplier], &[shift]) = (self.multipliers, self.shifts) {
            let scaler = Scaler::new(Multiplier { multiplier, shift: shift.into() }, rounding);
            for (y, sum) in outputs {
                *y = self.output.limit(scaler.apply(sum));
            }
        } else {
            let multipliers = self.multipliers.get(first..).unwrap_or_default();
            let shifts = self.shifts.get(first..).unwrap_or_default();
            for ((y, sum), (&multiplier, &shift)) in outputs.zip(multipliers.iter().zip(shifts)) {
                let factor = Multiplier { multiplier, shift: shift.into() };
                *y = self.output.limit(factor.apply(sum, rounding));
            }
        }
    }
}
