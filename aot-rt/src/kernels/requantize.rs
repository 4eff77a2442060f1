//! From the sums of a layer's output channels to its results.

use super::{OutputI8, RangeF32, RangeI16};
use crate::fixed_point::{Multiplier, NARROW, Scaler};

/// Outputs that are requantized together.
pub(crate) const OUTPUTS: usize = 16;

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

/// The factors of the channels from `first` on; one for all stays.
#[inline(always)]
pub(crate) fn factors<T>(all: &[T], first: usize) -> &[T] {
    if all.len() == 1 { all } else { all.get(first..).unwrap_or_default() }
}

/// What becomes of the integer sums of a layer's output channels.
pub(crate) trait Finish {
    /// A result.
    type Y;
    /// Sets `y` to the results of as many channels from `first` on.
    fn channels(&self, first: usize, sums: &mut [i32], y: &mut [Self::Y]);
}

/// What becomes of a float sum.
pub(crate) trait FinishF32 {
    /// Sets `y` to the result.
    fn set(&self, y: &mut f32, sum: f32);
}

impl FinishF32 for RangeF32 {
    #[inline(always)]
    fn set(&self, y: &mut f32, sum: f32) {
        *y = self.limit(sum);
    }
}

impl<'a> Requantize<'a> {
    /// The channels from `first` on, whose sums are to be less by `offset`.
    #[inline(always)]
    pub(crate) fn skip(self, first: usize, offset: i32) -> Self {
        Self {
            bias: self.bias.get(first..).unwrap_or_default(),
            multipliers: factors(self.multipliers, first),
            shifts: factors(self.shifts, first),
            offset,
            ..self
        }
    }
}

impl Finish for Requantize<'_> {
    type Y = i8;

    /// Compiled once: it would make a large part of every kernel.
    #[inline(never)]
    fn channels(&self, first: usize, sums: &mut [i32], y: &mut [i8]) {
        for (sum, bias) in sums.iter_mut().zip(self.bias.get(first..).unwrap_or_default()) {
            *sum = sum.wrapping_add(*bias);
        }
        let rounding = self.output.rounding();
        let outputs = y.iter_mut().zip(sums.iter().map(|sum| sum.wrapping_sub(self.offset)));
        if let (&[multiplier], &[shift]) = (self.multipliers, self.shifts) {
            let factor = Multiplier { multiplier, shift: shift.into() };
            let scaler = Scaler::new(factor, rounding);
            for (y, sum) in outputs {
                let scaled = if NARROW { factor.apply(sum, rounding) } else { scaler.apply(sum) };
                *y = self.output.limit(scaled);
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

/// Bias, factor and limits of the output channels of a layer that computes in int16.
#[derive(Clone, Copy)]
pub(crate) struct RequantizeI16<'a> {
    /// One for each channel, or none.
    pub(crate) bias: &'a [i64],
    /// One for each channel, or one for all: 15 bits of the factor.
    pub(crate) multipliers: &'a [i16],
    /// As many: how far a product is shifted right, at least 1.
    pub(crate) shifts: &'a [i8],
    pub(crate) range: RangeI16,
}

impl RequantizeI16<'_> {
    /// The channels from `first` on.
    #[inline(always)]
    pub(crate) fn skip(self, first: usize) -> Self {
        Self {
            bias: self.bias.get(first..).unwrap_or_default(),
            multipliers: factors(self.multipliers, first),
            shifts: factors(self.shifts, first),
            ..self
        }
    }

    /// The result of a channel; rounded once, ties up.
    #[inline(always)]
    pub(crate) fn apply(&self, channel: usize, sum: i64) -> i16 {
        let factor = if self.multipliers.len() == 1 { 0 } else { channel };
        let bias = self.bias.get(channel).copied().unwrap_or(0);
        let multiplier = self.multipliers.get(factor).copied().unwrap_or(0);
        let shift = self.shifts.get(factor).map_or(1, |shift| shift.unsigned_abs()) & 63;
        let product = sum.wrapping_add(bias).wrapping_mul(multiplier.into());
        let rounded = product.wrapping_add(1_i64 << shift >> 1) >> shift;
        self.range.limit(rounded)
    }
}
