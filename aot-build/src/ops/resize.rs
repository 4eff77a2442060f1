//! `resize_bilinear` and `resize_nearest`: images of another height and width, NHWC.
//!
//! Operand: `x` `[batch, height, width, channels]`. Result: `[batch, size.., channels]`, of the
//! same quantization.
//! Sources: TFLite RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR; ONNX Resize.
//! int8 and int16: positions and parts have 10 fractional bits, results are rounded half away
//! from zero (tflite numerics, section 3). Positions of floats, and of nearest cells, are
//! computed in single precision, as the reference does.

use aot_rt::DType;
use aot_rt::kernels::{Kernel, Resize, ResizeBilinearF32, ResizeBilinearI8, ResizeNearestI8};
use serde::{Deserialize, Serialize};

use super::strided::{Loop, Strided};
use super::{Operands, Operator, no_kernel, one, quantized};
use crate::error::OpError;
use crate::graph::{Shape, TensorType};
use crate::program::NodeLowering;

/// Which places of the two images lie on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Alignment {
    /// The corners of the images; a cell is at its upper left corner.
    #[default]
    TopLeft,
    /// The cells in the corners of the images.
    Corners,
    /// The corners of the images; a cell is at its centre.
    HalfPixel,
}

impl Alignment {
    /// Both extents, less the last cell where that lies on the other's.
    const fn extents(self, input: usize, output: usize) -> [usize; 2] {
        if matches!(self, Self::Corners) && output > 1 { [input - 1, output - 1] } else { [input, output] }
    }

    /// Cells of `x` for each of `y` along an axis.
    fn scale(self, input: usize, output: usize) -> f32 {
        let [input, output] = self.extents(input, output);
        input as f32 / output as f32
    }

    /// The same in parts of which a cell has 1024.
    fn parts(self, input: usize, output: usize) -> i32 {
        let [input, output] = self.extents(input, output).map(|extent| extent as i64);
        // At most 1024 times the largest extent, which is checked.
        ((1024 * input + output / 2) / output) as i32
    }

    /// The cell of `x` that is nearest to each of `y`.
    fn nearest(self, input: usize, output: usize) -> impl Iterator<Item = usize> {
        let scale = self.scale(input, output);
        (0..output).map(move |i| {
            let position = match self {
                Self::TopLeft => (i as f32 * scale).floor(),
                Self::Corners => (i as f32 * scale).round(),
                Self::HalfPixel => ((i as f32 + 0.5) * scale).floor(),
            };
            (position as usize).min(input - 1)
        })
    }
}

/// Largest extent: positions along it fit 31 bits.
const MAX_EXTENT: usize = 1 << 20;

/// The type of the result.
fn infer(operands: &Operands<'_>, [height, width]: [usize; 2]) -> Result<Vec<TensorType>, OpError> {
    operands.count(1..=1)?;
    let x = &operands.get(0)?.ty;
    let [batch, rows, columns, channels] = x.shape.array()?;
    if let Some(extent) = [rows, columns, height, width].into_iter().find(|extent| *extent > MAX_EXTENT) {
        return Err(format!("an image of {extent} cells is resized, the most are {MAX_EXTENT}").into());
    }
    one(x.dtype, [batch, height, width, channels])
}

fn images(x: &Shape, output: [usize; 2]) -> Result<Resize, OpError> {
    let [batch, height, width, channels] = x.array()?;
    Ok(Resize { batch, input: [height, width], output, channels })
}

fn describe(Resize { input: [rows, columns], output: [out_rows, out_columns], .. }: Resize) -> String {
    format!("{rows}×{columns} → {out_rows}×{out_columns}")
}

/// Attributes of `resize_bilinear`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ResizeBilinear {
    /// Height and width of the result.
    pub size: [usize; 2],
    /// Which places lie on each other.
    #[serde(default)]
    pub alignment: Alignment,
}

impl Operator for ResizeBilinear {
    const NAME: &'static str = "resize_bilinear";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        infer(operands, self.size)
    }

    fn cells(&self) -> u64 {
        4
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, y) = (node.input(0)?, node.output(0));
        quantized::unchanged(x, y)?;
        let resize = images(&x.ty.shape, self.size)?;
        let ([rows, columns], [out_rows, out_columns]) = (resize.input, resize.output);
        let half_pixel_centers = self.alignment == Alignment::HalfPixel;
        let integers = ResizeBilinearI8 {
            resize,
            row_scale: self.alignment.parts(rows, out_rows),
            column_scale: self.alignment.parts(columns, out_columns),
            half_pixel_centers,
        };
        let kernel = match (x.ty.dtype, y.ty.dtype) {
            (DType::F32, DType::F32) => Kernel::ResizeBilinearF32(ResizeBilinearF32 {
                resize,
                row_scale: self.alignment.scale(rows, out_rows),
                column_scale: self.alignment.scale(columns, out_columns),
                half_pixel_centers,
            }),
            (DType::I8, DType::I8) if !quantized::legacy(x) => Kernel::ResizeBilinearI8(integers),
            (DType::I16, DType::I16) => Kernel::ResizeBilinearI16(integers),
            (x, y) => return Err(no_kernel(&[x, y])),
        };
        let operands = vec![node.read(0)?, node.write(0)];
        node.step(kernel, operands, 0, describe(resize));
        Ok(())
    }
}

/// Attributes of `resize_nearest`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ResizeNearest {
    /// Height and width of the result.
    pub size: [usize; 2],
    /// Which places lie on each other.
    #[serde(default)]
    pub alignment: Alignment,
}

impl ResizeNearest {
    /// The copy that repeats every cell so many times down and right.
    fn repeated(resize: Resize, [down, right]: [usize; 2]) -> Strided {
        let Resize { batch, input: [height, width], output: [_, out_width], channels } = resize;
        let row = out_width * channels;
        Strided::new(
            0,
            0,
            &[
                Loop { extent: batch * height, x: (width * channels) as i64, y: down * row },
                Loop { extent: down, x: 0, y: row },
                Loop { extent: width, x: channels as i64, y: right * channels },
                Loop { extent: right, x: 0, y: channels },
                Loop { extent: channels, x: 1, y: 1 },
            ],
        )
    }
}

impl Operator for ResizeNearest {
    const NAME: &'static str = "resize_nearest";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        infer(operands, self.size)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, y) = (node.input(0)?, node.output(0));
        quantized::unchanged(x, y)?;
        let resize = images(&x.ty.shape, self.size)?;
        let sources: [Vec<usize>; 2] =
            [0, 1].map(|axis| self.alignment.nearest(resize.input[axis], resize.output[axis]).collect());
        let (from, result) = (node.read(0)?, node.write(0));
        let times = [0, 1].map(|axis| resize.output[axis] / resize.input[axis]);
        let repeats = |axis: usize| {
            let source = |i: usize| i.checked_div(times[axis]);
            resize.output[axis] == resize.input[axis] * times[axis]
                && sources[axis].iter().enumerate().all(|(i, from)| source(i) == Some(*from))
        };
        if repeats(0) && repeats(1) {
            return Self::repeated(resize, times).steps(node, from, result, &describe(resize));
        }
        let indices = sources.map(|source| {
            let bytes: Vec<u8> = source.into_iter().flat_map(|index| (index as i32).to_le_bytes()).collect();
            node.constant(DType::I32, &bytes)
        });
        let [rows, columns] = indices;
        let bytes = Resize { channels: resize.channels * x.ty.dtype.size(), ..resize };
        let kernel = Kernel::ResizeNearestI8(ResizeNearestI8 { resize: bytes });
        let operands = vec![from.as_bytes(), result.as_bytes(), rows, columns];
        node.step(kernel, operands, 0, describe(resize));
        Ok(())
    }
}
