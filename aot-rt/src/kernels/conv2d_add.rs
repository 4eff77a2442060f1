//! `conv2d_add`: a convolution whose result is added to what `y` holds.

use half::f16;

use super::add::SumI8;
use super::conv2d::{Layer, convolve_f32, convolve_integers};
use super::images::{Apart, Images, Row};
use super::nibbles::{Blocked, Bytes, Stored};
use super::requantize::{Finish, FinishF32, OUTPUTS, Requantize};
use super::{Conv2dF32, Conv2dI8, RangeF32, kernel_params};
use crate::Params;

kernel_params! {
    /// Parameters of [`conv2d_add_f32`].
    pub struct Conv2dAddF32 {
        /// The convolution.
        pub conv2d: Conv2dF32,
        /// Activation of the sum.
        pub range: RangeF32,
    }

    /// Parameters of [`conv2d_add_i8`].
    pub struct Conv2dAddI8 {
        /// The convolution.
        pub conv2d: Conv2dI8,
        /// How its result, `a`, is added to what `y` holds, `b`.
        pub sum: SumI8,
    }
}

/// Images whose cells of `y` keep what they hold until they are written.
pub trait Accumulating<T>: Images<T> {}

impl<T: Copy> Accumulating<T> for Apart<'_, T> {}
impl<T: Copy> Accumulating<T> for Row<'_, T> {}

/// Sum of a convolution and of what `y` holds, f32.
///
/// Shapes as in [`conv2d_f32`](super::conv2d_f32).
pub fn conv2d_add_f32(
    params: &impl Params<Conv2dAddF32>,
    images: impl Accumulating<f32>,
    weights: &[f32],
    bias: &[f32],
) {
    let Conv2dAddF32 { conv2d, range } = params.get();
    convolve_f32(&conv2d, images, weights, bias, &AddF32 { own: conv2d.range, sum: range });
}

/// [`conv2d_add_f32`] with weights in half precision.
pub fn conv2d_add_f16(
    params: &impl Params<Conv2dAddF32>,
    images: impl Accumulating<f32>,
    weights: &[f16],
    bias: &[f32],
) {
    let Conv2dAddF32 { conv2d, range } = params.get();
    convolve_f32(&conv2d, images, weights, bias, &AddF32 { own: conv2d.range, sum: range });
}

/// Sum of a convolution and of what `y` holds, int8.
///
/// Shapes as in [`conv2d_i8`](super::conv2d_i8).
pub fn conv2d_add_i8(
    params: &impl Params<Conv2dAddI8>,
    images: impl Accumulating<i8>,
    weights: &[i8],
    bias: &[i32],
    multipliers: &[i32],
    shifts: &[i8],
) {
    convolve_and_add::<Bytes>(params, images, weights, (bias, multipliers, shifts));
}

/// [`conv2d_add_i8`] with the filters of each group as
/// [`Constants::with_blocks`](crate::Constants::with_blocks) arranges them, from a multiple of four
/// bytes on where there are four or more.
pub fn conv2d_add_blocked_i8(
    params: &impl Params<Conv2dAddI8>,
    images: impl Accumulating<i8>,
    weights: &[i8],
    bias: &[i32],
    multipliers: &[i32],
    shifts: &[i8],
) {
    convolve_and_add::<Blocked>(params, images, weights, (bias, multipliers, shifts));
}

/// [`conv2d_add_i8`], however the weights are stored.
#[inline(always)]
fn convolve_and_add<S: Stored>(
    params: &impl Params<Conv2dAddI8>,
    images: impl Accumulating<i8>,
    weights: &[i8],
    (bias, multipliers, shifts): (&[i32], &[i32], &[i8]),
) {
    let Conv2dAddI8 { conv2d, sum } = params.get();
    let requantize = Requantize { bias, multipliers, shifts, offset: 0, output: conv2d.output };
    let zeros = [conv2d.input_zero_point, conv2d.weights_zero_point];
    convolve_integers::<S, _, _>(params, zeros, images, weights, |first, offset| AddI8 {
        requantize: requantize.skip(first, offset),
        sum,
    });
}

impl From<Conv2dAddI8> for Layer {
    #[inline(always)]
    fn from(p: Conv2dAddI8) -> Self {
        Self::from(p.conv2d)
    }
}

struct AddF32 {
    own: RangeF32,
    sum: RangeF32,
}

impl FinishF32 for AddF32 {
    #[inline(always)]
    fn set(&self, y: &mut f32, sum: f32) {
        *y = self.sum.limit(self.own.limit(sum) + *y);
    }
}

struct AddI8<'a> {
    requantize: Requantize<'a>,
    sum: SumI8,
}

impl Finish for AddI8<'_> {
    type Y = i8;

    #[inline(never)]
    fn channels(&self, first: usize, sums: &mut [i32], y: &mut [i8]) {
        let mut own = [0; OUTPUTS];
        let own = own.get_mut(..y.len()).unwrap_or_default();
        self.requantize.channels(first, sums, own);
        self.add(own, y);
    }
}

impl AddI8<'_> {
    /// In a frame of its own: what it needs is not on the stack while sums are requantized.
    #[inline(never)]
    fn add(&self, own: &[i8], y: &mut [i8]) {
        #[cfg(aot_helium)]
        if super::microkernel::helium::add(&self.sum, own, y) {
            return;
        }
        let add = self.sum.adder();
        for (y, own) in y.iter_mut().zip(own) {
            *y = add(*own, *y);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::tests::Random;
    use crate::kernels::{AddI8, Broadcast, OutputI8, Window2d, add_f32, add_i8, conv2d_f32, conv2d_i8};

    const WINDOW: Window2d = Window2d {
        batch: 1,
        input: [4, 3],
        output: [4, 3],
        kernel: [3, 3],
        stride: [1, 1],
        dilation: [1, 1],
        padding: [1, 1],
    };
    const BROADCAST: Broadcast = Broadcast {
        extents: [1, 1, 1, 1, 1, 12 * 20],
        a_strides: [0, 0, 0, 0, 0, 1],
        b_strides: [0, 0, 0, 0, 0, 1],
    };

    #[test]
    fn conv2d_add_i8_is_conv2d_then_add() {
        let mut random = Random(5);
        let (x, weights, skip) =
            (random.array::<{ 12 * 2 }>(), random.array::<{ 20 * 18 }>(), random.array::<{ 12 * 20 }>());
        let output = OutputI8 { zero_point: -3, min: -128, max: 127, single_rounding: false };
        let conv2d = Conv2dI8 {
            window: WINDOW,
            in_channels: 2,
            out_channels: 20,
            groups: 1,
            input_zero_point: 7,
            weights_zero_point: 0,
            output,
        };
        let sum = SumI8 {
            a_zero_point: -3,
            a_multiplier: 1 << 30,
            a_shift: 0,
            b_zero_point: 11,
            b_multiplier: 1_500_000_000,
            b_shift: -1,
            output_multiplier: 1_300_000_000,
            output_shift: -18,
            output: OutputI8 { zero_point: 5, min: 5, max: 127, single_rounding: false },
        };
        let (multipliers, shifts) = ([1_700_000_000], [-9]);
        let mut own = [0; 12 * 20];
        conv2d_i8(&conv2d, Apart { x: &x, y: &mut own }, &weights, &[], &multipliers, &shifts);
        let mut expect = [0; 12 * 20];
        let add = AddI8 { broadcast: BROADCAST, sum };
        add_i8(&add, Apart { x: &own, y: &mut expect }, &skip);

        let (params, mut y) = (Conv2dAddI8 { conv2d, sum }, skip);
        conv2d_add_i8(&params, Apart { x: &x, y: &mut y }, &weights, &[], &multipliers, &shifts);
        assert_eq!(y, expect);
        assert!(y.iter().any(|y| *y > 5) && y.contains(&5));
    }

    #[test]
    fn conv2d_add_f32_is_conv2d_then_add() {
        let mut random = Random(6);
        let [x, weights, skip] = [(); 3].map(|()| random.array::<240>().map(f32::from));
        let range = RangeF32 { min: -300.0, max: 5000.0 };
        let conv2d = Conv2dF32 {
            window: Window2d { kernel: [1, 1], padding: [0, 0], ..WINDOW },
            in_channels: 12,
            out_channels: 20,
            groups: 1,
            range,
        };
        let x = &x[..144];
        let mut own = [0.0; 240];
        conv2d_f32(&conv2d, Apart { x, y: &mut own }, &weights, &[]);
        let sum = RangeF32 { min: 0.0, max: f32::INFINITY };
        let mut expect = [0.0; 240];
        let add = crate::kernels::BinaryF32 { broadcast: BROADCAST, range: sum };
        add_f32(&add, Apart { x: &own, y: &mut expect }, &skip);

        let (params, mut y) = (Conv2dAddF32 { conv2d, range: sum }, skip);
        conv2d_add_f32(&params, Apart { x, y: &mut y }, &weights, &[]);
        assert_eq!(y, expect);
    }
}
