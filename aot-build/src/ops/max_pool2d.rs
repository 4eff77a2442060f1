//! `max_pool2d`: maximum over a window, per channel, NHWC.
//!
//! Operand: `x` `[batch, height, width, channels]`.
//! Result: `[batch, out height, out width, channels]`.
//! Sources: TFLite MAX_POOL_2D; ONNX MaxPool.
//! int8: the integers are compared; scale and zero point stay.

use serde::{Deserialize, Serialize};

use super::window::{Placement2d, place};
use super::{Activation, Operands, Operator, Padding2d, one};
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
    #[serde(default = "one_cell")]
    pub stride: [usize; 2],
    /// Cells added around the image; they are never the maximum.
    #[serde(default)]
    pub padding: Padding2d,
    /// Fused activation.
    #[serde(default)]
    pub activation: Activation,
}

const fn one_cell() -> [usize; 2] {
    [1; 2]
}

impl MaxPool2d {
    fn place(&self, x: &Shape) -> Result<Placement2d, OpError> {
        let [_, height, width, _] = x.array()?;
        place([height, width], self.window, self.stride, [1; 2], self.padding)
    }
}

impl Operator for MaxPool2d {
    const NAME: &'static str = "max_pool2d";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = operands.get(0)?;
        let [batch, _, _, channels] = x.ty.shape.array()?;
        let [height, width] = self.place(&x.ty.shape)?.output;
        one(x.ty.dtype, [batch, height, width, channels])
    }

    fn lower(&self, _node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        Err("is not lowered yet".into())
    }
}
