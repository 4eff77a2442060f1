//! `concatenation`: tensors one behind the other along an axis.
//!
//! Operands: at least one, equal in all extents but that of the axis. Result: the sum of
//! their extents there.
//! Sources: TFLite CONCATENATION; ONNX Concat.
//! int8: bytes are moved. A pass gives an operand of another scale a `quantize`.
//! Along the outermost axis with more than one element, operands are made inside the
//! result and take no step (`program::parts`).

use serde::{Deserialize, Serialize};

use super::strided::Strided;
use super::{Operands, Operator, View, axis, one, quantized};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `concatenation`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Concatenation {
    /// The axis along which the operands follow each other.
    pub axis: usize,
}

impl Operator for Concatenation {
    const NAME: &'static str = "concatenation";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        let first = &operands.get(0)?.ty;
        let mut extents = first.shape.to_vec();
        let axis = self.axis;
        axis::extent(first, axis)?;
        for i in 1..operands.len() {
            let ty = &operands.get(i)?.ty;
            let differs = |a: usize| a != axis && ty.shape.get(a) != first.shape.get(a);
            if ty.dtype != first.dtype || ty.shape.len() != extents.len() || (0..extents.len()).any(differs) {
                return Err(format!("{ty} does not fit {first} along axis {axis}").into());
            }
            extents[axis] = extents[axis].checked_add(ty.shape[axis]).ok_or("the result is too large")?;
        }
        one(first.dtype, extents)
    }

    fn view(&self, _: usize, operands: &Operands<'_>) -> Option<View> {
        (operands.len() == 1).then_some(View { operand: 0, first: 0 })
    }

    fn part(&self, operand: usize, operands: &Operands<'_>) -> Option<usize> {
        let outer = operands.get(operand).ok()?.ty.shape.get(..self.axis)?;
        let before = |i| operands.get(i).map(|x| x.ty.shape.elements());
        let first = (0..operand).map(before).sum::<Result<usize, _>>().ok()?;
        (operands.len() > 1 && outer.iter().all(|extent| *extent == 1)).then_some(first)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (y, count) = (node.output(0), node.inputs());
        for i in 0..count {
            quantized::unchanged(node.input(i)?, y)?;
        }
        if node.view(0)? {
            return Ok(());
        }
        let inner = y.ty.shape.strides()[self.axis];
        let mut first = 0;
        for i in 0..count {
            let extents = &node.input(i)?.ty.shape;
            put(node, i, extents, first)?;
            first += extents[self.axis] * inner;
        }
        Ok(())
    }
}

/// Copies operand `i`, seen as a tensor of `extents`, to where it belongs in the result:
/// from element `first` on. One that has been made there takes no step.
///
/// # Errors
///
/// See [`Strided::steps`].
pub(super) fn put(
    node: &mut NodeLowering<'_, '_>,
    i: usize,
    extents: &[usize],
    first: usize,
) -> Result<(), OpError> {
    let (shape, y) = (&node.input(i)?.ty.shape, &node.output(0).ty.shape);
    let (x, result) = (node.read(i)?, node.write(0));
    if x == result.part(first, shape.elements()) {
        return Ok(());
    }
    let description = format!("{shape} to element {first} of {y}");
    Strided::between(extents, first, y).steps(node, x, result, &description)
}
