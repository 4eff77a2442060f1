//! One axis of a tensor, and those around it.

use crate::error::OpError;
use crate::graph::{Tensor, TensorType};

/// The extent of an axis.
///
/// # Errors
///
/// When `x` does not have the axis.
pub(super) fn extent(x: &TensorType, axis: usize) -> Result<usize, OpError> {
    let extent = x.shape.get(axis).copied();
    extent.ok_or_else(|| format!("axis {axis} is outside of {x}").into())
}

/// The extents of the axes before an axis, of it, and of those after it, as products.
///
/// # Errors
///
/// When `x` does not have the axis.
pub(super) fn around(x: &Tensor, axis: usize) -> Result<[usize; 3], OpError> {
    let extent = extent(&x.ty, axis)?;
    let (outer, inner) = (&x.ty.shape[..axis], &x.ty.shape[axis + 1..]);
    Ok([outer.iter().product(), extent, inner.iter().product()])
}

/// Rows along the last axis: how many there are, and how many elements each has.
///
/// # Errors
///
/// When `x` is a scalar.
pub(super) fn rows(x: &Tensor) -> Result<[usize; 2], OpError> {
    let columns = x.ty.shape.last().copied();
    let columns = columns.ok_or_else(|| format!("`{}` is a scalar, which has no axis", x.name))?;
    Ok([x.ty.shape.elements() / columns, columns])
}
