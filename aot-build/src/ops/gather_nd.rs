//! `gather_nd`: slices of a tensor, by an index for each of its first axes.
//!
//! Operands: `x`, int32 indices whose last axis has one for each of so many axes of `x`.
//! Result: the indices' other axes, and those of `x` that no index is for.
//! Sources: TFLite GATHER_ND; ONNX GatherND without batch dimensions.
//! Indices that `x` does not have are refused where they are constant, and give zeros
//! where they are read when the model runs.

use aot_rt::DType;
use aot_rt::kernels::{GatherNdI8, Kernel};
use serde::{Deserialize, Serialize};

use super::{Operands, Operator, one, quantized};
use crate::error::OpError;
use crate::graph::{Shape, Tensor, TensorType};
use crate::program::NodeLowering;

/// Attributes of `gather_nd`: none.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GatherNd {}

/// The axes of `x` that indices are for.
fn axes<'x>(x: &'x TensorType, indices: &Tensor) -> Result<&'x [usize], OpError> {
    let shape = &indices.ty.shape;
    let count = shape.last().ok_or_else(|| format!("indices `{}` are a scalar", indices.name))?;
    x.shape.get(..*count).ok_or_else(|| format!("indices {shape} are for {count} axes, `x` is {x}").into())
}

/// Refuses constant indices that are not within the axes.
fn check_constant(axes: &[usize], indices: &Tensor) -> Result<(), OpError> {
    let Some(data) = &indices.data else { return Ok(()) };
    for (index, extent) in data.integers(indices.ty.dtype)?.into_iter().zip(axes.iter().cycle()) {
        if usize::try_from(index).ok().is_none_or(|index| index >= *extent) {
            return Err(format!("index {index} is outside of an axis of {extent} elements").into());
        }
    }
    Ok(())
}

impl Operator for GatherNd {
    const NAME: &'static str = "gather_nd";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(2..=2)?;
        let (x, indices) = (&operands.get(0)?.ty, operands.get(1)?);
        if indices.ty.dtype != DType::I32 {
            return Err(format!("indices are {}, expected i32", indices.ty.dtype.name()).into());
        }
        let axes = axes(x, indices)?;
        check_constant(axes, indices)?;
        let places = &indices.ty.shape[..indices.ty.shape.len() - 1];
        one(x.dtype, [places, &x.shape[axes.len()..]].concat())
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, indices) = (node.input(0)?, node.input(1)?);
        quantized::unchanged(x, node.output(0))?;
        let axes = axes(&x.ty, indices)?;
        let size = x.ty.dtype.size();
        let block = size * x.ty.shape[axes.len()..].iter().product::<usize>();
        let (mut extents, mut strides) = ([1; Shape::MAX_RANK], [0; Shape::MAX_RANK]);
        extents[..axes.len()].copy_from_slice(axes);
        for (stride, elements) in strides.iter_mut().zip(x.ty.shape.strides()).take(axes.len()) {
            *stride = elements * size;
        }
        let count = indices.ty.shape.elements() / axes.len();
        let kernel = Kernel::GatherNdI8(GatherNdI8 { count, axes: axes.len(), extents, strides, block });
        let operands = vec![node.read(0)?.as_bytes(), node.write(0).as_bytes(), node.read(1)?];
        node.step(kernel, operands, 0, format!("{} by {}", x.ty.shape, indices.ty.shape));
        Ok(())
    }
}
