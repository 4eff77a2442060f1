//! Parts of layers with windows: some images, or some rows of one. A part reads the rows that are
//! under its windows.

use std::ops::Range;

use aot_rt::kernels::{Conv3dF32, Kernel, Window2d};

use super::{Block, Part, Piece, Whole, cut};

/// The parts of a layer with windows.
pub(super) fn parts(whole: Whole<'_>) -> Option<Vec<Part>> {
    match whole.kernel {
        Kernel::Conv3dF32(p) => volumes(p, whole),
        Kernel::TransposeConv2dF32(p) => Some(transposed(&p.window, [p.in_channels, p.out_channels], whole)),
        Kernel::TransposeConv2dI16(p) => Some(transposed(&p.window, [p.in_channels, p.out_channels], whole)),
        Kernel::TransposeConv2dI8(p) => Some(transposed(&p.window, [p.in_channels, p.out_channels], whole)),
        kernel => {
            let (window, channels) = kernel.window()?;
            images(&window, channels, whole)
        }
    }
}

/// Parts of a layer over images.
fn images(window: &Window2d, channels: [usize; 2], whole: Whole<'_>) -> Option<Vec<Part>> {
    let Window2d { batch, input, output, .. } = *window;
    let row = whole.macs / (batch * output[0]).max(1) as u64;
    let pieces = cut(batch, &Block::singles(output[0], row), whole.limit);
    let part = |Piece { rows: images, within: rows, macs }: Piece| {
        // Several images are whole.
        let (under, padding) = match images.len() {
            1 => Axis::rows(window).under(&rows)?,
            _ => (0..input[0], window.padding[0]),
        };
        let mut kernel = *whole.kernel;
        *window_mut(&mut kernel)? = Window2d {
            batch: images.len(),
            input: [under.len(), input[1]],
            output: [rows.len(), output[1]],
            padding: [padding, window.padding[1]],
            ..*window
        };
        let part = |extent: [usize; 2], rows: &Range<usize>, channels: usize| {
            let row = extent[1] * channels;
            [(images.start * extent[0] + rows.start) * row, images.len() * rows.len() * row]
        };
        let [x, y] = [part(input, &under, channels[0]), part(output, &rows, channels[1])];
        Some(Part { kernel, operands: between(whole, x, y), macs })
    };
    pieces.into_iter().map(part).collect()
}

/// Parts of a layer over volumes: some of those, or some images of one.
fn volumes(p: &Conv3dF32, whole: Whole<'_>) -> Option<Vec<Part>> {
    let batch = p.window.batch;
    let image = whole.macs / (batch * p.output_depth).max(1) as u64;
    let pieces = cut(batch, &Block::singles(p.output_depth, image), whole.limit);
    let depth = Axis {
        input: p.input_depth,
        kernel: p.kernel_depth,
        stride: p.stride_depth,
        dilation: p.dilation_depth,
        padding: p.padding_depth,
    };
    let part = |Piece { rows: volumes, within: images, macs }: Piece| {
        let (under, padding_depth) = match volumes.len() {
            1 => depth.under(&images)?,
            _ => (0..p.input_depth, p.padding_depth),
        };
        let kernel = Kernel::Conv3dF32(Conv3dF32 {
            window: Window2d { batch: volumes.len(), ..p.window },
            input_depth: under.len(),
            output_depth: images.len(),
            padding_depth,
            ..*p
        });
        let part = |depth: usize, images: &Range<usize>, image: usize| {
            [(volumes.start * depth + images.start) * image, volumes.len() * images.len() * image]
        };
        let elements = |[rows, columns]: [usize; 2], channels: usize| rows * columns * channels;
        let x = part(p.input_depth, &under, elements(p.window.input, p.in_channels));
        let y = part(p.output_depth, &images, elements(p.window.output, p.out_channels));
        Some(Part { kernel, operands: between(whole, x, y), macs })
    };
    pieces.into_iter().map(part).collect()
}

/// Parts of a transposed convolution; `window` moves over the result.
fn transposed(window: &Window2d, channels: [usize; 2], whole: Whole<'_>) -> Vec<Part> {
    let pieces = cut(window.batch, &scattered_rows(window, whole.macs), whole.limit);
    let part = |Piece { rows: images, within: rows, macs }: Piece| {
        let mut kernel = *whole.kernel;
        let of_part = Window2d {
            batch: images.len(),
            input: [rows.len(), window.input[1]],
            // What comes before is outside of the part.
            padding: [window.padding[0] + rows.start, window.padding[1]],
            ..*window
        };
        match &mut kernel {
            Kernel::TransposeConv2dF32(p) => p.window = of_part,
            Kernel::TransposeConv2dI16(p) => p.window = of_part,
            Kernel::TransposeConv2dI8(p) => p.window = of_part,
            _ => unreachable!("`{}` is no transposed convolution", kernel.name()),
        }
        let x = window.output[0] * window.output[1] * channels[0];
        let y = window.input[1] * channels[1];
        let first = images.start * window.input[0] + rows.start;
        let x = [images.start * x, images.len() * x];
        let y = [first * y, images.len() * rows.len() * y];
        Part { kernel, operands: between(whole, x, y), macs }
    };
    pieces.into_iter().map(part).collect()
}

/// The rows of an image of the result of a transposed convolution: each is the sum of some rows of
/// weights times some of `x`. What would be outside of the image counts with its edges.
fn scattered_rows(window: &Window2d, macs: u64) -> Vec<Block> {
    let [rows, taps] = [window.output[0], window.kernel[0]];
    let product = macs / (window.batch * rows * taps).max(1) as u64;
    let mut blocks = Block::singles(window.input[0], 0);
    let last = blocks.len().saturating_sub(1);
    for row in 0..rows {
        for tap in 0..taps {
            let at = (row * window.stride[0] + tap).saturating_sub(window.padding[0]);
            if let Some(block) = blocks.get_mut(at.min(last)) {
                block.macs += product;
            }
        }
    }
    blocks
}

/// Operands of a part that works on these elements of `x` and `y`: the first, and how many.
fn between(whole: Whole<'_>, x: [usize; 2], y: [usize; 2]) -> Vec<super::Operand> {
    whole.operands(|name, operand| match name {
        "x" => operand.part(x[0], x[1]),
        "y" => operand.part(y[0], y[1]),
        _ => operand,
    })
}

/// An axis along which a window moves.
struct Axis {
    input: usize,
    kernel: usize,
    stride: usize,
    dilation: usize,
    padding: usize,
}

impl Axis {
    const fn rows(window: &Window2d) -> Self {
        Self {
            input: window.input[0],
            kernel: window.kernel[0],
            stride: window.stride[0],
            dilation: window.dilation[0],
            padding: window.padding[0],
        }
    }

    /// What is under the windows at these positions, and how far the first one reaches out of
    /// that. `None` where nothing is.
    fn under(&self, positions: &Range<usize>) -> Option<(Range<usize>, usize)> {
        let inside = |padded: usize| padded.saturating_sub(self.padding).min(self.input);
        let first = positions.start * self.stride;
        let last = positions.end.checked_sub(1)? * self.stride + (self.kernel - 1) * self.dilation;
        let under = inside(first)..inside(last + 1);
        let padding = (self.padding + under.start).checked_sub(first)?;
        (!under.is_empty()).then_some((under, padding))
    }
}

/// The window of a layer with weights.
fn window_mut(kernel: &mut Kernel) -> Option<&mut Window2d> {
    Some(match kernel {
        Kernel::Conv2dAddF16(p) | Kernel::Conv2dAddF32(p) => &mut p.conv2d.window,
        Kernel::Conv2dAddI8(p) => &mut p.conv2d.window,
        Kernel::Conv2dDynamicI8(p) => &mut p.window,
        Kernel::Conv2dF16(p) | Kernel::Conv2dF32(p) => &mut p.window,
        Kernel::Conv2dI16(p) => &mut p.window,
        Kernel::Conv2dI4(p) | Kernel::Conv2dI8(p) => &mut p.window,
        Kernel::DepthwiseConv2dAsymmetricI8(p) => &mut p.window,
        Kernel::DepthwiseConv2dDynamicI8(p) => &mut p.window,
        Kernel::DepthwiseConv2dF16(p) | Kernel::DepthwiseConv2dF32(p) => &mut p.window,
        Kernel::DepthwiseConv2dI16(p) => &mut p.window,
        Kernel::DepthwiseConv2dI8(p) => &mut p.window,
        _ => return None,
    })
}
