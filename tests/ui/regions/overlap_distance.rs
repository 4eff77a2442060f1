use aot_rt::kernels::{Overlap, Window2d};

/// 3x3 over 8x8 with padding: a row and a cell, at least.
const WINDOW: Window2d = Window2d {
    batch: 1,
    input: [8, 8],
    output: [8, 8],
    kernel: [3, 3],
    stride: [1, 1],
    dilation: [1, 1],
    padding: [1, 1],
};

fn main() {
    let _ = const { Overlap::new(&WINDOW, [4, 4], 36, 0) };
    let _ = const { Overlap::new(&WINDOW, [4, 4], 35, 0) };
}
