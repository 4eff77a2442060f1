//! `pad`: a tensor with a border of one value.

use super::kernel_params;
use super::loops::{Offsets, chunks};
use crate::Params;

kernel_params! {
    /// How far a tensor is padded. Axes that are not needed come first, with the
    /// extent 1; neighbouring axes that are not padded may be one.
    pub struct Padding {
        /// Extents of `x`.
        pub extents: [usize; 6],
        /// Elements before `x`, along each axis.
        pub before: [usize; 6],
        /// Elements behind `x`, along each axis.
        pub after: [usize; 6],
    }

    /// Parameters of [`pad_f32`].
    pub struct PadF32 {
        /// How far `x` is padded.
        pub padding: Padding,
        /// Value of the padding.
        pub value: f32,
    }

    /// Parameters of [`pad_i8`].
    pub struct PadI8 {
        /// How far `x` is padded.
        pub padding: Padding,
        /// Value of the padding: the zero point, for a real value of 0.
        pub value: i32,
    }
}

impl Padding {
    /// Extents of `y`.
    #[inline(always)]
    fn padded(&self) -> [usize; 6] {
        let mut padded = self.extents;
        for ((padded, before), after) in padded.iter_mut().zip(self.before).zip(self.after) {
            *padded += before + after;
        }
        padded
    }

    #[inline(always)]
    fn pad<T: Copy>(&self, value: T, x: &[T], y: &mut [T]) {
        debug_assert_eq!(x.len(), self.extents.iter().product());
        debug_assert_eq!(y.len(), self.padded().iter().product());
        y.fill(value);
        let [e0, e1, e2, e3, e4, row] = self.extents;
        let [_, p1, p2, p3, p4, p5] = self.padded();
        let s4 = p5;
        let s3 = s4 * p4;
        let s2 = s3 * p3;
        let s1 = s2 * p2;
        let s0 = s1 * p1;
        let [b0, b1, b2, b3, b4, b5] = self.before;
        let first = b0 * s0 + b1 * s1 + b2 * s2 + b3 * s3 + b4 * s4 + b5;
        let rows = Offsets::new([e0, e1, e2, e3, e4], [[s0], [s1], [s2], [s3], [s4]]);
        for (x, [offset]) in chunks(x, row).zip(rows) {
            for (y, x) in y.get_mut(first + offset..).unwrap_or_default().iter_mut().zip(x) {
                *y = *x;
            }
        }
    }
}

/// Pads a tensor, f32.
///
/// `x`: up to six axes, `y`: the padded ones. Fills `y` before it reads `x`.
pub fn pad_f32(params: &impl Params<PadF32>, x: &[f32], y: &mut [f32]) {
    let p = params.get();
    p.padding.pad(p.value, x, y);
}

/// Pads a tensor, int8.
///
/// `x`: up to six axes, `y`: the padded ones, with the same scale and zero point.
/// Fills `y` before it reads `x`.
pub fn pad_i8(params: &impl Params<PadI8>, x: &[i8], y: &mut [i8]) {
    let p = params.get();
    p.padding.pad(p.value as i8, x, y);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pad_cases() {
        for (name, padding, x, expect) in [
            (
                "rows and columns",
                Padding {
                    extents: [1, 1, 1, 1, 2, 2],
                    before: [0, 0, 0, 0, 1, 0],
                    after: [0, 0, 0, 0, 0, 1],
                },
                &[1, 2, 3, 4][..],
                &[9, 9, 9, 1, 2, 9, 3, 4, 9][..],
            ),
            (
                "the outermost of six axes",
                Padding {
                    extents: [1, 1, 2, 1, 1, 1],
                    before: [1, 0, 0, 0, 0, 0],
                    after: [0, 0, 1, 0, 0, 0],
                },
                &[1, 2],
                &[9, 9, 9, 1, 2, 9],
            ),
            (
                "nothing",
                Padding { extents: [1, 1, 1, 1, 1, 3], before: [0; 6], after: [0; 6] },
                &[1, 2, 3],
                &[1, 2, 3],
            ),
        ] {
            let mut y = [0_i8; 9];
            let y = &mut y[..expect.len()];
            pad_i8(&PadI8 { padding, value: 9 }, x, y);
            assert_eq!(y, expect, "{name}");

            let [x_floats, expect_floats] = [x, expect].map(crate::kernels::tests::floats);
            let mut y = [0.0; 9];
            let y = &mut y[..expect.len()];
            pad_f32(&PadF32 { padding, value: 9.0 }, &x_floats[..x.len()], y);
            assert_eq!(y, &expect_floats[..y.len()], "{name}");
        }
    }
}
