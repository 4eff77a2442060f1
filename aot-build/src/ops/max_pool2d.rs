//! `max_pool2d`: maximum over a window, per channel, NHWC.
//!
//! Operand: `x` `[batch, height, width, channels]`.
//! Result: `[batch, out height, out width, channels]`.
//! Sources: TFLite MAX_POOL_2D; ONNX MaxPool.
//! int8, int16: the integers are compared; scale and zero point stay.

use aot_rt::DType;
use aot_rt::kernels::{Kernel, MaxPool2dF32, MaxPool2dI8, RangeI8, RangeI16, Window2d};
use serde::{Deserialize, Serialize};

use super::window::{cells, describe, pooled, window};
use super::{Activation, Operands, Operator, Padding2d, no_kernel, quantized};
use crate::error::OpError;
use crate::graph::{Shape, TensorType};
use crate::program::NodeLowering;

/// Attributes of `max_pool2d`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MaxPool2d {
    /// Height and width of the window.
    pub window: [usize; 2],
    /// Cells from one window to the next: down, right.
    #[serde(default = "super::window::one_cell")]
    pub stride: [usize; 2],
    /// Cells added around the image; they are never the maximum.
    #[serde(default)]
    pub padding: Padding2d,
    /// Fused activation.
    #[serde(default)]
    pub activation: Activation,
}

impl MaxPool2d {
    fn window(&self, x: &Shape) -> Result<Window2d, OpError> {
        window(x, self.window, self.stride, [1; 2], self.padding)
    }
}

impl Operator for MaxPool2d {
    const NAME: &'static str = "max_pool2d";

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
        let [_, _, _, channels] = x.ty.shape.array()?;
        let kernel = match (x.ty.dtype, y.ty.dtype) {
            (DType::F32, DType::F32) => {
                Kernel::MaxPool2dF32(MaxPool2dF32 { window, channels, range: self.activation.range_f32() })
            }
            (DType::I8, DType::I8) => {
                let range = self.activation.range_i8(quantized::shared(x, y)?);
                Kernel::MaxPool2dI8(MaxPool2dI8 { window, channels, range })
            }
            (DType::I16, DType::I16) => {
                let RangeI16 { min, max } = self.activation.range_i16(quantized::shared(x, y)?);
                Kernel::MaxPool2dI16(MaxPool2dI8 { window, channels, range: RangeI8 { min, max } })
            }
            (x, y) => return Err(no_kernel(&[x, y])),
        };
        let operands = vec![node.read(0)?, node.write(0)];
        let description = format!("{}, {channels} channels{}", describe(&window), self.activation);
        node.step(kernel, operands, 0, description);
        Ok(())
    }
}
