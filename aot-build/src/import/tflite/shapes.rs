//! Operators that change nothing but the shape, and those that compute with shapes.

use aot_rt::DType;

use super::names;
use super::node::{Node, kind};
use super::operators::{Known, checked_axis, constant, known};
use super::types::{F, I32, I64, ONE_UNTOUCHED, SHAPES};
use crate::error::OpError;
use crate::graph::{Data, Shape};
use crate::ops::{Op, Reshape};

pub(super) const OPERATORS: &[Known] = &[
    known("EXPAND_DIMS", 1, [2, 2], ONE_UNTOUCHED, expand_dims),
    constant("RANGE", [3, 3], &[&[I32], &[I64], &[F]], range),
    constant("RANK", [1, 1], SHAPES, rank),
    known("RESHAPE", 1, [1, 2], ONE_UNTOUCHED, reshape),
    constant("SHAPE", [1, 1], SHAPES, shape),
    known("SQUEEZE", 2, [1, 1], ONE_UNTOUCHED, squeeze),
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
    let Some(product) = product.filter(|_| stated.clone().all(|extent| *extent >= 0)) else {
        return refuse("has an extent that is neither at least 0 nor -1, or is too large");
    };
    let elements = x.elements() as i64;
    if open > 1 || (open == 1 && elements.checked_rem(product) != Some(0)) {
        return refuse("leaves more than one extent open, or one without a solution");
    }
    let extent = |extent: &i64| {
        usize::try_from(if *extent == -1 { elements.checked_div(product).unwrap_or(0) } else { *extent })
    };
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

/// Most elements of a range: far more than any shape needs.
const MAX_RANGE: usize = 1 << 20;

/// `start`, `start + delta`, … before `limit`; all three are operands.
fn range(node: &Node<'_>) -> Result<(Shape, Data), OpError> {
    node.optional_options(kind(73, "RangeOptions", 0))?;
    match node.result.dtype {
        DType::F32 => float_range(node),
        dtype => integer_range(node, dtype),
    }
}

fn integer_range(node: &Node<'_>, dtype: DType) -> Result<(Shape, Data), OpError> {
    let number = |operand: usize| -> Result<i128, OpError> {
        let integers = node.integers(operand)?.ok_or("an operand is left out")?;
        match integers.values[..] {
            [value] => Ok(value.into()),
            _ => Err(format!("operand {operand} has {} elements, expected 1", integers.values.len()).into()),
        }
    };
    let [start, limit, delta] = [number(0)?, number(1)?, number(2)?];
    if delta == 0 {
        return Err("the step is 0".into());
    }
    // In 128 bits nothing overflows.
    let steps = (limit - start) / delta + i128::from((limit - start) % delta != 0);
    let length = range_length(usize::try_from(steps).ok().filter(|_| (limit > start) == (delta > 0)))?;
    let values = (0..length as i128).map(|i| start + i * delta);
    let bytes: Vec<u8> = match dtype {
        DType::I32 => values.flat_map(|value| (value as i32).to_le_bytes()).collect(),
        _ => values.flat_map(|value| (value as i64).to_le_bytes()).collect(),
    };
    Ok((Shape::new([length])?, Data::from_bytes(bytes)))
}

fn float_range(node: &Node<'_>) -> Result<(Shape, Data), OpError> {
    let number = |operand| Ok::<_, OpError>(node.number(operand)?.ok_or("an operand is left out")? as f32);
    let [start, limit, delta] = [number(0)?, number(1)?, number(2)?];
    if [start, limit, delta].iter().any(|value| !value.is_finite()) || delta == 0.0 {
        return Err(format!("from {start} to {limit} in steps of {delta} is no range").into());
    }
    let steps = ((limit - start) / delta).ceil();
    let length = range_length((steps > 0.0 && steps < u32::MAX as f32).then_some(steps as usize))?;
    // Summed up, as the reference does: the roundings are part of the result.
    let values: Vec<f32> =
        std::iter::successors(Some(start), |value| Some(value + delta)).take(length).collect();
    Ok((Shape::new([length])?, Data::from_f32s(&values)))
}

fn range_length(length: Option<usize>) -> Result<usize, OpError> {
    match length {
        Some(length) if (1..=MAX_RANGE).contains(&length) => Ok(length),
        Some(length) if length > MAX_RANGE => {
            Err(format!("the range has {length} elements, the limit is {MAX_RANGE}").into())
        }
        _ => Err("the range has no element".into()),
    }
}

fn rank(node: &Node<'_>) -> Result<(Shape, Data), OpError> {
    node.optional_options(kind(86, "RankOptions", 0))?;
    Ok((Shape::scalar(), integers(node, &[node.shape(0)?.len()])))
}

fn shape(node: &Node<'_>) -> Result<(Shape, Data), OpError> {
    const OUT_TYPE: usize = 0;
    node.optional_options(kind(55, "ShapeOptions", 1))?.only(
        OUT_TYPE,
        &[0, names::INT32, names::INT64],
        "out_type",
    )?;
    let x = node.shape(0)?;
    if x.is_empty() {
        return Err("the shape of a scalar has no element".into());
    }
    Ok((Shape::new([x.len()])?, integers(node, x)))
}

/// Extents in the type of the result; all fit 31 bits.
fn integers(node: &Node<'_>, extents: &[usize]) -> Data {
    let bytes: Vec<u8> = match node.result.dtype {
        DType::I32 => extents.iter().flat_map(|extent| (*extent as i32).to_le_bytes()).collect(),
        _ => extents.iter().flat_map(|extent| (*extent as i64).to_le_bytes()).collect(),
    };
    Data::from_bytes(bytes)
}
