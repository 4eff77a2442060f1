//! What differs between element types: products, their sum, and what becomes of it.

use super::super::RangeF32;
use super::super::requantize::{Finish, Requantize};

/// The arithmetic of a depthwise convolution.
pub(super) trait Arithmetic {
    type X: Copy;
    type Weight: Copy;
    type Sum: Copy + Default;
    type Y;
    fn multiply_add(&self, sum: Self::Sum, x: Self::X, weight: Self::Weight) -> Self::Sum;
    /// Sets `y` to the results of the channels from `first` on.
    fn finish(&self, first: usize, sums: &mut [Self::Sum], y: &mut [Self::Y]);
}

pub(super) struct F32<'a> {
    pub(super) bias: &'a [f32],
    pub(super) range: RangeF32,
}

impl Arithmetic for F32<'_> {
    type X = f32;
    type Weight = f32;
    type Sum = f32;
    type Y = f32;

    #[inline(always)]
    fn multiply_add(&self, sum: f32, x: f32, weight: f32) -> f32 {
        sum + x * weight
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

pub(super) struct I8<'a> {
    pub(super) zero: i16,
    pub(super) requantize: Requantize<'a>,
}

impl Arithmetic for I8<'_> {
    type X = i8;
    type Weight = i8;
    type Sum = i32;
    type Y = i8;

    #[inline(always)]
    fn multiply_add(&self, sum: i32, x: i8, weight: i8) -> i32 {
        let x = i16::from(x).wrapping_sub(self.zero);
        sum.wrapping_add(i32::from(x) * i32::from(weight))
    }

    #[inline(always)]
    fn finish(&self, first: usize, sums: &mut [i32], y: &mut [i8]) {
        self.requantize.channels(first, sums, y);
    }
}

/// Weights with a zero point. It is taken off each of them: a sum of `x` for each
/// channel would cost as much as the products.
pub(super) struct AsymmetricI8<'a> {
    pub(super) x: I8<'a>,
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
