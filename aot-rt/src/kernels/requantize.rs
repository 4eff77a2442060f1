//! From the sums of a layer's output channels to int8.

use super::OutputI8;
use crate::fixed_point::{Multiplier, Rounding};

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

    /// The results of `N` channels from `first` on.
    #[inline(always)]
    pub(crate) fn channels<const N: usize>(&self, first: usize, sums: [i32; N]) -> [i8; N] {
        let bias = channels(self.bias, first);
        let (multipliers, shifts) = match (self.multipliers, self.shifts) {
            (&[multiplier], &[shift]) => ([multiplier; N], [shift; N]),
            (multipliers, shifts) => (channels(multipliers, first), channels(shifts, first)),
        };
        let rounding = self.output.rounding();
        let mut y = [0; N];
        if rounding == Rounding::Single {
            self.apply(sums, bias, multipliers, shifts, Rounding::Single, &mut y);
        } else {
            self.apply(sums, bias, multipliers, shifts, Rounding::Double, &mut y);
        }
        y
    }

    #[inline(always)]
    fn apply<const N: usize>(
        &self,
        sums: [i32; N],
        bias: [i32; N],
        multipliers: [i32; N],
        shifts: [i8; N],
        rounding: Rounding,
        y: &mut [i8; N],
    ) {
        let factors = multipliers.iter().zip(&shifts);
        for (((y, sum), bias), (&multiplier, &shift)) in y.iter_mut().zip(sums).zip(bias).zip(factors) {
            let sum = sum.wrapping_sub(self.offset).wrapping_add(bias);
            let factor = Multiplier { multiplier, shift: shift.into() };
            *y = self.output.limit(factor.apply(sum, rounding));
        }
    }
}

/// The elements of `N` channels from `first` on; 0 where there are none.
#[inline(always)]
fn channels<T: Copy + Default, const N: usize>(elements: &[T], first: usize) -> [T; N] {
    elements.get(first..).and_then(|elements| elements.first_chunk()).copied().unwrap_or([T::default(); N])
}
