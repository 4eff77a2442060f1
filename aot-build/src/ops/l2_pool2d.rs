//! `l2_pool2d`: root of the mean of squares over a window, per channel, NHWC.
//!
//! Operand: `x` `[batch, height, width, channels]`.
//! Result: `[batch, out height, out width, channels]`.
//! Sources: TFLite L2_POOL_2D; ONNX LpPool.

use aot_rt::DType;
use aot_rt::kernels::{Kernel, L2Pool2dF32, Window2d};
use serde::{Deserialize, Serialize};

use super::window::{cells, describe, pooled, window};
use super::{Activation, Operands, Operator, Padding2d, no_kernel};
use crate::error::OpError;
use crate::graph::{Shape, TensorType};
use crate::program::NodeLowering;

/// Attributes of `l2_pool2d`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct L2Pool2d {
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

impl L2Pool2d {
    fn window(&self, x: &Shape) -> Result<Window2d, OpError> {
        window(x, self.window, self.stride, [1; 2], self.padding)
    }
}

impl Operator for L2Pool2d {
    const NAME: &'static str = "l2_pool2d";

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
        let x = node.input(0)?;
        let window = self.window(&x.ty.shape)?;
        let [_, _, _, channels] = x.ty.shape.array()?;
        if x.ty.dtype != DType::F32 {
            return Err(no_kernel(&[x.ty.dtype; 2]));
        }
        let range = self.activation.range_f32();
        let operands = vec![node.read(0)?, node.write(0)];
        let description = format!("{}, {channels} channels{}", describe(&window), self.activation);
        node.step(Kernel::L2Pool2dF32(L2Pool2dF32 { window, channels, range }), operands, 0, description);
        Ok(())
    }
}
