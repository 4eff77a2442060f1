//! `average_pool2d`: mean over a window, per channel, NHWC.
//!
//! Operand: `x` `[batch, height, width, channels]`.
//! Result: `[batch, out height, out width, channels]`.
//! Sources: TFLite AVERAGE_POOL_2D; ONNX AveragePool.
//! int8, int16: sum without removing the zero point, divided by the number of cells inside the
//! image, rounded half away from zero (tflite numerics, section 3). uint8: half up.

use aot_rt::DType;
use aot_rt::kernels::{AveragePool2dF32, AveragePool2dI8, Kernel, OutputI8, RangeI8, Window2d};
use serde::{Deserialize, Serialize};

use super::window::{cells, describe, pooled, window};
use super::{Activation, Operands, Operator, Padding2d, no_kernel, quantized};
use crate::error::OpError;
use crate::graph::{Shape, TensorType};
use crate::program::NodeLowering;

/// Attributes of `average_pool2d`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AveragePool2d {
    /// Height and width of the window.
    pub window: [usize; 2],
    /// Cells from one window to the next: down, right.
    #[serde(default = "super::window::one_cell")]
    pub stride: [usize; 2],
    /// Cells added around the image; they do not count.
    #[serde(default)]
    pub padding: Padding2d,
    /// Fused activation.
    #[serde(default)]
    pub activation: Activation,
}

impl AveragePool2d {
    fn window(&self, x: &Shape) -> Result<Window2d, OpError> {
        window(x, self.window, self.stride, [1; 2], self.padding)
    }
}

impl Operator for AveragePool2d {
    const NAME: &'static str = "average_pool2d";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        pooled(operands, |x| self.window(x))
    }

    fn activation_mut(&mut self) -> Option<&mut Activation> {
        Some(&mut self.activation)
    }

    fn cells(&self) -> u64 {
        cells(self.window)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, y) = (node.input(0)?, node.output(0));
        let window = self.window(&x.ty.shape)?;
        let [_, height, width, channels] = x.ty.shape.array()?;
        let cells = height.min(self.window[0]) as u64 * width.min(self.window[1]) as u64;
        let integers = AveragePool2dI8 {
            window,
            channels,
            count_padding: false,
            padding_after: [0; 2],
            zero_point: 0,
            rounding_offset: 0,
            range: RangeI8 { min: -128, max: 127 },
        };
        let kernel = match (x.ty.dtype, y.ty.dtype) {
            (DType::F32, DType::F32) => Kernel::AveragePool2dF32(AveragePool2dF32 {
                window,
                channels,
                count_padding: false,
                padding_after: [0; 2],
                range: self.activation.range_f32(),
            }),
            (DType::I8, DType::I8) => {
                let quantization = quantized::shared(x, y)?;
                // uint8 rounds ties up; no element is less than -128.
                let rounding_offset = if quantized::legacy(x) { 128 } else { 0 };
                quantized::check_sum(cells, 256, 0)?;
                let range = self.activation.range_i8(quantization);
                let zero_point = quantization.zero_point;
                Kernel::AveragePool2dI8(AveragePool2dI8 { zero_point, rounding_offset, range, ..integers })
            }
            (DType::I16, DType::I16) => {
                let OutputI8 { zero_point, min, max, .. } =
                    self.activation.output_i16(quantized::shared(x, y)?, node.single_rounding());
                quantized::check_sum(cells, 1 << 15, 0)?;
                let range = RangeI8 { min, max };
                Kernel::AveragePool2dI16(AveragePool2dI8 { zero_point, range, ..integers })
            }
            (x, y) => return Err(no_kernel(&[x, y])),
        };
        let operands = vec![node.read(0)?, node.write(0)];
        let description = format!("{}, {channels} channels{}", describe(&window), self.activation);
        node.step(kernel, operands, 0, description);
        Ok(())
    }
}
