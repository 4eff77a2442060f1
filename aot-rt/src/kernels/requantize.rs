//! From the sums of a layer's output channels to its results.

#[cfg(aot_helium)]
use super::microkernel::helium;
use super::microkernel::{self, DSP, HELIUM};
use super::{OutputI8, RangeF32, RangeI16};
use crate::fixed_point::{Multiplier, Scaler};

/// Outputs that are requantized together.
pub(crate) const OUTPUTS: usize = microkernel::OUTPUTS;

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
        #[cfg(aot_helium)]
        if !self.output.single_rounding {
            helium::requantize(self.factors(first), (sums, self.bias(first)), self.offset, self.output, y);
            return;
        }
        self.one_by_one(first, sums, y);
    }
}

impl Requantize<'_> {
    /// The bias of the channels from `first` on, at most [`OUTPUTS`].
    #[inline(always)]
    fn bias(&self, first: usize) -> &[i32] {
        match self.bias {
            [] => &[0; OUTPUTS],
            bias => bias.get(first..).unwrap_or_default(),
        }
    }

    /// The multipliers and shifts of the channels from `first` on.
    #[inline(always)]
    fn factors(&self, first: usize) -> (&[i32], &[i8]) {
        (factors(self.multipliers, first), factors(self.shifts, first))
    }

    /// See [`Finish::channels`].
    #[cfg_attr(aot_helium, inline(never))]
    #[cfg_attr(not(aot_helium), inline(always))]
    fn one_by_one(&self, first: usize, sums: &mut [i32], y: &mut [i8]) {
        let (bias, (multipliers, shifts)) = (self.bias(first), self.factors(first));
        let rounding = self.output.rounding();
        if !(DSP || HELIUM)
            && let (&[multiplier], &[shift]) = (multipliers, shifts)
        {
            // Without factors to read, compilers find vector instructions.
            let scaler = Scaler::new(Multiplier { multiplier, shift: shift.into() }, rounding);
            for ((y, sum), bias) in y.iter_mut().zip(sums).zip(bias) {
                *y = self.output.limit(scaler.apply(sum.wrapping_add(*bias).wrapping_sub(self.offset)));
            }
            return;
        }
        let OutputI8 { zero_point, min, max, single_rounding } = self.output;
        let is_usual = !single_rounding && self.offset == 0 && (min, max) == (i8::MIN.into(), i8::MAX.into());
        let left = if is_usual {
            microkernel::requantize((multipliers, shifts), (sums, bias), zero_point, y)
        } else {
            y.len()
        };
        if left == 0 {
            return;
        }
        let y = y.get_mut(..left).unwrap_or_default();
        let step = usize::from(multipliers.len() > 1);
        let mut factor = 0;
        for ((y, sum), bias) in y.iter_mut().zip(sums).zip(bias) {
            let (Some(&multiplier), Some(&shift)) = (multipliers.get(factor), shifts.get(factor)) else {
                break;
            };
            let sum = sum.wrapping_add(*bias).wrapping_sub(self.offset);
            *y = self.output.limit(Multiplier { multiplier, shift: shift.into() }.apply(sum, rounding));
            factor += step;
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
