//! `mirror_pad`: a tensor with its reflection around it.
//!
//! ```text
//! x: a b c     reflect, 2 before and 2 after: c b a b c b a
//!              symmetric:                     b a a b c c b
//! ```
//!
//! Operand: `x`. Result: `x` with `padding` more elements on each axis.
//! Sources: TFLite MIRROR_PAD; ONNX Pad (reflect).

use serde::{Deserialize, Serialize};

use super::strided::{Loop, Strided};
use super::{Operands, Operator, one, quantized};
use crate::error::OpError;
use crate::graph::{Shape, TensorType};
use crate::program::NodeLowering;

/// Most axes that are padded: each makes three times as many steps.
const MAX_AXES: usize = 4;

/// Which elements are repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Mirror {
    /// Those behind the first and before the last one.
    Reflect,
    /// The first and the last one, too.
    Symmetric,
}

/// Attributes of `mirror_pad`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MirrorPad {
    /// For each axis, elements before and after.
    pub padding: Vec<[usize; 2]>,
    /// Which elements are repeated.
    pub mode: Mirror,
}

/// Elements of an axis in a row: the first one of `x` and of the result, and their number.
#[derive(Clone, Copy)]
struct Piece {
    x: usize,
    y: usize,
    extent: usize,
    backwards: bool,
}

impl MirrorPad {
    /// Elements at the ends that are not repeated.
    const fn skipped(&self) -> usize {
        match self.mode {
            Mirror::Reflect => 1,
            Mirror::Symmetric => 0,
        }
    }

    /// What the result is made of along an axis of `extent` elements.
    fn pieces(&self, axis: usize, extent: usize) -> Vec<Piece> {
        let ([before, after], skipped) = (self.padding[axis], self.skipped());
        let mut pieces = vec![Piece { x: 0, y: before, extent, backwards: false }];
        if before > 0 {
            pieces.push(Piece { x: before - 1 + skipped, y: 0, extent: before, backwards: true });
        }
        if after > 0 {
            let (x, y) = (extent - 1 - skipped, before + extent);
            pieces.push(Piece { x, y, extent: after, backwards: true });
        }
        pieces
    }

    fn copies(&self, x: &Shape, y: &Shape) -> Vec<Strided> {
        let mut copies = vec![(0, 0, Vec::new())];
        for (axis, (x_stride, y_stride)) in x.strides().into_iter().zip(y.strides()).enumerate() {
            let pieces = self.pieces(axis, x[axis]);
            let along = |(x, y, loops): &(usize, usize, Vec<Loop>), piece: &Piece| {
                let mut loops = loops.clone();
                let stride = if piece.backwards { -(x_stride as i64) } else { x_stride as i64 };
                loops.push(Loop { extent: piece.extent, x: stride, y: y_stride });
                (x + piece.x * x_stride, y + piece.y * y_stride, loops)
            };
            copies = copies
                .iter()
                .flat_map(|copy| pieces.iter().map(|piece| along(copy, piece)))
                .collect::<Vec<_>>();
        }
        copies.iter().map(|(x, y, loops)| Strided::new(*x, *y, loops)).collect()
    }
}

impl Operator for MirrorPad {
    const NAME: &'static str = "mirror_pad";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = &operands.get(0)?.ty;
        if self.padding.len() != x.shape.len() {
            return Err(format!("padding for {} axes, {x} has another rank", self.padding.len()).into());
        }
        if self.padding.iter().filter(|cells| **cells != [0, 0]).count() > MAX_AXES {
            return Err(format!("padding of more than {MAX_AXES} axes is not supported").into());
        }
        let mut extents = Vec::new();
        for (&extent, &[before, after]) in x.shape.iter().zip(&self.padding) {
            if before.max(after) > extent - self.skipped() {
                return Err(format!("padding {before}, {after} is larger than the axis of {x}").into());
            }
            extents.push(before + extent + after);
        }
        one(x.dtype, extents)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, y) = (node.input(0)?, node.output(0));
        quantized::unchanged(x, y)?;
        let description = format!("{} → {}", x.ty.shape, y.ty.shape);
        let (copies, x, result) = (self.copies(&x.ty.shape, &y.ty.shape), node.read(0)?, node.write(0));
        copies.iter().try_for_each(|copy| copy.steps(node, x, result, &description))
    }
}
