//! From the sums of a layer's output channels to its results.

use super::microkernel::{self, DSP};
use super::{OutputI8, RangeF32, RangeI8, RangeI16};
use crate::fixed_point::{Multiplier, Scaler};

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
    /// Sets `y` to the results of as many channels from `first` on, at most [`OUTPUTS`].
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
        if self.offset != 0 {
            sums.iter_mut().for_each(|sum| *sum = sum.wrapping_sub(self.offset));
        }
        let bias = match self.bias {
            [] => &[0; OUTPUTS],
            bias => bias.get(first..).unwrap_or_default(),
        };
        let (multipliers, shifts) = (factors(self.multipliers, first), factors(self.shifts, first));
        let rounding = self.output.rounding();
        if DSP {
            self.from_the_last((multipliers, shifts), (sums, bias), y);
        } else if let (&[multiplier], &[shift]) = (self.multipliers, self.shifts) {
            let scaler = Scaler::new(Multiplier { multiplier, shift: shift.into() }, rounding);
            for ((y, sum), bias) in y.iter_mut().zip(sums).zip(bias) {
                *y = self.output.limit(scaler.apply(sum.wrapping_add(*bias)));
            }
        } else {
            let factors = multipliers.iter().zip(shifts);
            for (((y, sum), bias), (&multiplier, &shift)) in y.iter_mut().zip(sums).zip(bias).zip(factors) {
                let factor = Multiplier { multiplier, shift: shift.into() };
                *y = self.output.limit(factor.apply(sum.wrapping_add(*bias), rounding));
            }
        }
    }
}

impl Requantize<'_> {
    /// The outputs as [`microkernel::requantize`] makes them, and by themselves what it leaves.
    #[inline(always)]
    fn from_the_last(
        &self,
        (multipliers, shifts): (&[i32], &[i8]),
        (sums, bias): (&[i32], &[i32]),
        y: &mut [i8],
    ) {
        let OutputI8 { zero_point, min, max, single_rounding } = self.output;
        let all;
        let (multipliers, shifts) = if let (&[multiplier], &[shift]) = (multipliers, shifts) {
            all = ([multiplier; OUTPUTS], [shift; OUTPUTS]);
            (&all.0[..], &all.1[..])
        } else {
            (multipliers, shifts)
        };
        let mut left = y.len();
        while left > 0 {
            if !single_rounding {
                let y = y.get_mut(..left).unwrap_or_default();
                left = microkernel::requantize((multipliers, shifts), (sums, bias), zero_point, y);
            }
            let Some(i) = left.checked_sub(1) else { break };
            let factor = if multipliers.len() == 1 { 0 } else { i };
            let (Some(&multiplier), Some(&shift)) = (multipliers.get(factor), shifts.get(factor)) else {
                return;
            };
            let (Some(y), Some(sum), Some(bias)) = (y.get_mut(i), sums.get(i), bias.get(i)) else { return };
            let factor = Multiplier { multiplier, shift: shift.into() };
            *y = self.output.limit(factor.apply(sum.wrapping_add(*bias), self.output.rounding()));
            left = i;
        }
        if (min, max) != (i8::MIN.into(), i8::MAX.into()) {
            let range = RangeI8 { min, max };
            y.iter_mut().for_each(|y| *y = range.limit((*y).into()));
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
