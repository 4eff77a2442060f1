//! Operators that change nothing but the shape.

use super::node::{Node, kind};
use super::operators::{Known, checked_axis, known};
use super::types::MOVED;
use crate::error::OpError;
use crate::graph::Shape;
use crate::ops::{Op, Reshape};

pub(super) const OPERATORS: &[Known] = &[
    known("EXPAND_DIMS", 1, [2, 2], MOVED, expand_dims),
    known("RESHAPE", 1, [1, 2], MOVED, reshape),
    known("SQUEEZE", 2, [1, 1], MOVED, squeeze),
];

fn reshape(node: &Node<'_>) -> Result<Op, OpError> {
    const NEW_SHAPE: usize = 0;
    let options = node.optional_options(kind(17, "ReshapeOptions", 1))?;
    let target = match node.integers(1)? {
        Some(operand) if operand.rank == 1 => operand.values,
        Some(operand) => return Err(format!("the new shape has rank {}, expected 1", operand.rank).into()),
        None => match options.i32s(NEW_SHAPE)?.as_slice() {
            // Old files say so that the result is a scalar.
            [0] => Vec::new(),
            [] => return Err("the new shape is missing".into()),
            extents => extents.to_vec(),
        },
    };
    Ok(Reshape { shape: resolve(node.shape(0)?, &target)? }.into())
}

/// The shape `target` for the elements of `x`, where -1 takes what is left.
fn resolve(x: &Shape, target: &[i64]) -> Result<Shape, OpError> {
    // Also keeps the messages below short.
    if target.len() > Shape::MAX_RANK {
        return Err(
            format!("the new shape has rank {}, the limit is {}", target.len(), Shape::MAX_RANK).into()
        );
    }
    let stated = target.iter().filter(|extent| **extent != -1);
    let product = stated.clone().try_fold(1_i64, |product, extent| product.checked_mul(*extent));
    let open = target.len() - stated.clone().count();
    let refuse = |why: &str| Err(format!("the new shape {target:?} for {x} {why}").into());
    let Some(product) = product.filter(|_| stated.clone().all(|extent| *extent > 0)) else {
        return refuse("has an extent that is neither at least 1 nor -1, or is too large");
    };
    let elements = x.elements() as i64;
    if open > 1 || (open == 1 && elements % product != 0) {
        return refuse("leaves more than one extent open, or one without a solution");
    }
    let extent = |extent: &i64| usize::try_from(if *extent == -1 { elements / product } else { *extent });
    let extents = target.iter().map(extent).collect::<Result<Vec<_>, _>>();
    Ok(Shape::new(extents.map_err(|_| "the new shape is too large")?)?)
}

fn squeeze(node: &Node<'_>) -> Result<Op, OpError> {
    const SQUEEZE_DIMS: usize = 0;
    let options = node.options(kind(30, "SqueezeOptions", 1))?;
    let x = node.shape(0)?;
    let axes = options.i32s(SQUEEZE_DIMS)?;
    let axes = axes.iter().map(|axis| checked_axis(*axis, x.len())).collect::<Result<Vec<_>, _>>()?;
    if let Some(axis) = axes.iter().find(|axis| x.get(**axis) != Some(&1)) {
        return Err(format!("axis {axis} of {x} has no extent of 1").into());
    }
    // No axes stand for all that can be left out.
    let keep = |axis: usize, extent: usize| if axes.is_empty() { extent != 1 } else { !axes.contains(&axis) };
    let kept = x.iter().enumerate().filter(|(axis, extent)| keep(*axis, **extent));
    Ok(Reshape { shape: Shape::new(kept.map(|(_, extent)| *extent).collect::<Vec<_>>())? }.into())
}

fn expand_dims(node: &Node<'_>) -> Result<Op, OpError> {
    node.optional_options(kind(52, "ExpandDimsOptions", 0))?;
    let axes = node.integers(1)?.ok_or("the axis is left out")?;
    let &[axis] = axes.values.as_slice() else {
        return Err(format!("{} axes, expected 1", axes.values.len()).into());
    };
    let mut extents = node.shape(0)?.to_vec();
    let axis = checked_axis(axis, extents.len() + 1)?;
    extents.insert(axis, 1);
    Ok(Reshape { shape: Shape::new(extents)? }.into())
}
