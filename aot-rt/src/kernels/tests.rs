//! Test data.

use super::Window2d;

/// Small integers as floats, for cases that hold for both types.
pub(super) fn floats(integers: &[i8]) -> [f32; 32] {
    core::array::from_fn(|i| integers.get(i).copied().unwrap_or(0).into())
}

/// A generator of test data: the same in every run.
pub(super) struct Random(pub(super) u64);

impl Random {
    /// A number below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    /// Any bytes.
    pub(super) fn array<const N: usize>(&mut self) -> [i8; N] {
        core::array::from_fn(|_| self.below(256) as u8 as i8)
    }

    /// Any window over an image of up to 7x7; some lie outside it.
    pub(super) fn window(&mut self) -> Window2d {
        let mut pair = |from: usize, to: usize| [from + self.below(to - from), from + self.below(to - from)];
        Window2d {
            batch: pair(1, 3)[0],
            input: pair(1, 8),
            output: pair(1, 6),
            kernel: pair(1, 5),
            stride: pair(1, 4),
            dilation: pair(1, 4),
            padding: pair(0, 4),
        }
    }
}

/// Calls `tap` with the cells of the window and the pixels of `x` under one
/// cell of `y`, from the definition.
pub(super) fn for_each_tap(
    window: &Window2d,
    [image, row, column]: [usize; 3],
    mut tap: impl FnMut(usize, usize),
) {
    let [height, width] = window.input;
    for kernel_row in 0..window.kernel[0] {
        for kernel_column in 0..window.kernel[1] {
            let row = row * window.stride[0] + kernel_row * window.dilation[0];
            let column = column * window.stride[1] + kernel_column * window.dilation[1];
            let place = (row.checked_sub(window.padding[0]), column.checked_sub(window.padding[1]));
            if let (Some(row), Some(column)) = place
                && row < height
                && column < width
            {
                let pixel = (image * height + row) * width + column;
                tap(kernel_row * window.kernel[1] + kernel_column, pixel);
            }
        }
    }
}
