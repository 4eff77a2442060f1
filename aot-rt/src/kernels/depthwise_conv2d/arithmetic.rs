//! What differs between element types: products, their sum, and what becomes of it.

use core::marker::PhantomData;

use super::super::RangeF32;
#[cfg(aot_helium)]
use super::super::loops::chunks_mut;
use super::super::microkernel::Listed;
#[cfg(aot_helium)]
use super::super::microkernel::helium::{self, Window};
use super::super::real::Real;
#[cfg(aot_helium)]
use super::super::requantize::OUTPUTS;
use super::super::requantize::{Finish, Requantize, RequantizeI16};
use super::patch::Patch;

/// The arithmetic of a depthwise convolution.
pub(super) trait Arithmetic {
    type X: Copy;
    type Weight: Copy;
    type Sum: Copy + Default;
    type Y;
    fn multiply_add(&self, sum: Self::Sum, x: Self::X, weight: Self::Weight) -> Self::Sum;
    /// Adds the products of `N` channels to their sums, if there are instructions for that.
    #[inline(always)]
    fn add_listed<const N: usize>(
        &self,
        _sums: &mut [Self::Sum; N],
        _listed: &Listed,
        _x: &[Self::X],
        _weights: &[Self::Weight],
    ) -> bool {
        false
    }
    /// Sets `y` to the results of all channels, if there are vectors for that.
    #[inline(always)]
    fn channels(
        &self,
        _patch: &Patch<'_, Self::X, Self::Weight>,
        _depth_multiplier: usize,
        _y: &mut [Self::Y],
    ) -> bool {
        false
    }
    /// Sets `y` to the results of the channels from `first` on.
    fn finish(&self, first: usize, sums: &mut [Self::Sum], y: &mut [Self::Y]);
}

pub(super) struct F32<'a, W> {
    pub(super) bias: &'a [f32],
    pub(super) range: RangeF32,
    pub(super) weights: PhantomData<W>,
}

impl<W: Real> Arithmetic for F32<'_, W> {
    type X = f32;
    type Weight = W;
    type Sum = f32;
    type Y = f32;

    #[inline(always)]
    fn multiply_add(&self, sum: f32, x: f32, weight: W) -> f32 {
        sum + x * weight.widen()
    }

    #[inline(always)]
    fn finish(&self, first: usize, sums: &mut [f32], y: &mut [f32]) {
        for (sum, bias) in sums.iter_mut().zip(self.bias.get(first..).unwrap_or_default()) {
            *sum += bias;
        }
        for (y, sum) in y.iter_mut().zip(sums) {
            *y = self.range.limit(*sum);
        }
    }
}

/// int8, with sums that become what `F` says.
pub(super) struct I8<F> {
    pub(super) zero: i16,
    pub(super) finish: F,
}

impl<F: Finish> Arithmetic for I8<F> {
    type X = i8;
    type Weight = i8;
    type Sum = i32;
    type Y = F::Y;

    #[inline(always)]
    fn multiply_add(&self, sum: i32, x: i8, weight: i8) -> i32 {
        let x = i16::from(x).wrapping_sub(self.zero);
        sum.wrapping_add(i32::from(x) * i32::from(weight))
    }

    #[inline(always)]
    fn add_listed<const N: usize>(
        &self,
        sums: &mut [i32; N],
        listed: &Listed,
        x: &[i8],
        weights: &[i8],
    ) -> bool {
        let (fours, rest) = sums.as_chunks_mut();
        if !rest.is_empty() {
            return false;
        }
        listed.add_to(fours, x, self.zero, weights);
        true
    }

    #[cfg(aot_helium)]
    #[inline(always)]
    fn channels(&self, patch: &Patch<'_, i8, i8>, depth_multiplier: usize, y: &mut [F::Y]) -> bool {
        if depth_multiplier == 1 {
            self.vectors::<false>(patch, [0, 0], y);
        } else {
            for (x_channel, y) in chunks_mut(y, depth_multiplier).enumerate() {
                self.vectors::<true>(patch, [x_channel, x_channel * depth_multiplier], y);
            }
        }
        true
    }

    #[inline(always)]
    fn finish(&self, first: usize, sums: &mut [i32], y: &mut [F::Y]) {
        self.finish.channels(first, sums, y);
    }
}

#[cfg(aot_helium)]
impl<F: Finish> I8<F> {
    /// Sets `y` to the results of channels, which all read one channel of `x` if `SHARED`.
    #[inline(always)]
    fn vectors<const SHARED: bool>(
        &self,
        patch: &Patch<'_, i8, i8>,
        [x_channel, channel]: [usize; 2],
        y: &mut [F::Y],
    ) {
        let (cells, x, weights) = patch.cells([x_channel, channel], y.len());
        let window = Window::<SHARED>::new(&cells, x, self.zero, weights);
        for (block, y) in y.chunks_mut(OUTPUTS).enumerate() {
            let (first, mut room) = (block * OUTPUTS, helium::room::<_, OUTPUTS>());
            let sums = helium::cleared(&mut room, y.len().next_multiple_of(helium::SUMS));
            if let Some(window) = &window {
                window.sums(first, y.len(), sums);
            }
            self.finish.channels(channel + first, sums.get_mut(..y.len()).unwrap_or_default(), y);
        }
    }
}

/// Weights with a zero point. It is taken off each of them: a sum of `x` for each
/// channel would cost as much as the products.
pub(super) struct AsymmetricI8<'a> {
    pub(super) x: I8<Requantize<'a>>,
    pub(super) weights_zero: i16,
}

impl Arithmetic for AsymmetricI8<'_> {
    type X = i8;
    type Weight = i8;
    type Sum = i32;
    type Y = i8;

    #[inline(always)]
    fn multiply_add(&self, sum: i32, x: i8, weight: i8) -> i32 {
        let x = i16::from(x).wrapping_sub(self.x.zero);
        let weight = i16::from(weight).wrapping_sub(self.weights_zero);
        sum.wrapping_add(i32::from(x) * i32::from(weight))
    }

    #[inline(always)]
    fn finish(&self, first: usize, sums: &mut [i32], y: &mut [i8]) {
        self.x.finish(first, sums, y);
    }
}

pub(super) struct I16<'a>(pub(super) RequantizeI16<'a>);

impl Arithmetic for I16<'_> {
    type X = i16;
    type Weight = i8;
    type Sum = i64;
    type Y = i16;

    #[inline(always)]
    fn multiply_add(&self, sum: i64, x: i16, weight: i8) -> i64 {
        sum.wrapping_add(i64::from(i32::from(x) * i32::from(weight)))
    }

    #[inline(always)]
    fn finish(&self, first: usize, sums: &mut [i64], y: &mut [i16]) {
        for (i, (y, sum)) in y.iter_mut().zip(sums).enumerate() {
            *y = self.0.apply(first + i, *sum);
        }
    }
}
