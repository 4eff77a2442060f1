//! `slice`: elements at equal distances along each axis.
//!
//! Operand: `x`. Result: `size` elements along each axis, from `begin` on, every
//! `stride`-th; under the extents `shape`, where those are stated.
//! Sources: TFLite SLICE, STRIDED_SLICE; ONNX Slice. Importers resolve ends, masks and
//! negative indices.
//! It takes no step where the elements stand together in `x`: the result is a view.

use serde::{Deserialize, Serialize};

use super::strided::{Movement, Strided};
use super::{Operands, Operator, View, one};
use crate::error::OpError;
use crate::graph::{Shape, TensorType};
use crate::program::NodeLowering;

/// Attributes of `slice`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Slice {
    /// For each axis, the index of the first element.
    pub begin: Vec<usize>,
    /// For each axis, the number of elements.
    pub size: Vec<usize>,
    /// For each axis, indices from one element to the next; negative to go backwards. 1
    /// by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stride: Vec<i64>,
    /// Extents of the result where they are not `size`: axes with one element may be left
    /// out or added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Shape>,
}

impl Slice {
    fn stride(&self, axis: usize) -> i64 {
        self.stride.get(axis).copied().unwrap_or(1)
    }

    /// Checks that all elements are elements of `x`.
    fn check(&self, x: &Shape) -> Result<(), OpError> {
        let rank = x.len();
        let strides = if self.stride.is_empty() { rank } else { self.stride.len() };
        if [self.begin.len(), self.size.len(), strides] != [rank; 3] {
            return Err(format!("begin, size and stride must be stated for the {rank} axes of {x}").into());
        }
        for (axis, &extent) in x.iter().enumerate() {
            let (begin, size, stride) = (self.begin[axis], self.size[axis], self.stride(axis));
            if stride == 0 {
                return Err(format!("the stride of axis {axis} is 0").into());
            }
            let last = begin as i128 + (size as i128 - 1) * i128::from(stride);
            let none = size == 0 && begin <= extent;
            if !none && (size == 0 || begin >= extent || !(0..extent as i128).contains(&last)) {
                let elements = format!("{size} elements from {begin} on in steps of {stride}");
                return Err(format!("axis {axis} of {x} does not have {elements}").into());
            }
        }
        Ok(())
    }
}

impl Movement for Slice {
    fn piece(&self, x: &Shape, _: usize) -> Option<Strided> {
        let axes = x.strides();
        let first = axes.iter().zip(&self.begin).map(|(stride, begin)| stride * begin).sum();
        let strides: Vec<_> =
            axes.iter().enumerate().map(|(axis, stride)| *stride as i64 * self.stride(axis)).collect();
        Some(Strided::gather(first, &strides, &self.size))
    }
}

impl Operator for Slice {
    const NAME: &'static str = "slice";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = operands.get(0)?;
        self.check(&x.ty.shape)?;
        let size = Shape::new(&*self.size)?;
        let without_ones = |shape: &Shape| shape.iter().copied().filter(|e| *e != 1).collect::<Vec<_>>();
        match &self.shape {
            Some(shape) if without_ones(shape) != without_ones(&size) => {
                Err(format!("shape {shape} has other extents than {size}").into())
            }
            shape => one(x.ty.dtype, shape.clone().unwrap_or(size)),
        }
    }

    fn view(&self, result: usize, operands: &Operands<'_>) -> Option<View> {
        self.view_of_piece(result, operands)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        self.lower_pieces(node)
    }
}
