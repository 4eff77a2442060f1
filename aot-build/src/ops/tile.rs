//! `tile`: a tensor, again and again along each axis.
//!
//! Operand: `x`. Result: each extent `multiples` times as large.
//! Sources: TFLite TILE; ONNX Tile.

use serde::{Deserialize, Serialize};

use super::strided::{Loop, Movement, Strided};
use super::{Operands, Operator, View, one};
use crate::error::OpError;
use crate::graph::{Shape, TensorType};
use crate::program::NodeLowering;

/// Attributes of `tile`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Tile {
    /// For each axis, how often.
    pub multiples: Vec<usize>,
}

impl Movement for Tile {
    fn piece(&self, x: &Shape, _: usize) -> Option<Strided> {
        let mut loops = Vec::new();
        let mut y_stride = 1;
        for ((&extent, stride), &multiple) in x.iter().zip(x.strides()).zip(&self.multiples).rev() {
            loops.push(Loop { extent, x: stride as i64, y: y_stride });
            loops.push(Loop { extent: multiple, x: 0, y: y_stride * extent });
            y_stride *= extent * multiple;
        }
        loops.reverse();
        Some(Strided::new(0, 0, &loops))
    }
}

impl Operator for Tile {
    const NAME: &'static str = "tile";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = &operands.get(0)?.ty;
        if self.multiples.len() != x.shape.len() {
            return Err(format!("multiples {:?} are not one for each axis of {x}", self.multiples).into());
        }
        let product = |(extent, multiple): (&usize, &usize)| extent.checked_mul(*multiple);
        let extents = x.shape.iter().zip(&self.multiples).map(product).collect::<Option<Vec<_>>>();
        one(x.dtype, extents.ok_or("the result is too large")?)
    }

    fn view(&self, result: usize, operands: &Operands<'_>) -> Option<View> {
        self.view_of_piece(result, operands)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        self.lower_pieces(node)
    }
}
