//! What operators that reduce axes share: the result's shape, and the kernel's loops.

use aot_rt::kernels::Reduction;

use super::{Operands, one};
use crate::error::OpError;
use crate::graph::{Shape, Tensor, TensorType};

/// The result of an operator that reduces `axes` of its only operand to one of its elements' type.
///
/// # Errors
///
/// When the axes are not ascending ones of the operand.
pub(super) fn infer(
    operands: &Operands<'_>,
    axes: &[usize],
    keep_dimensions: bool,
) -> Result<Vec<TensorType>, OpError> {
    operands.count(1..=1)?;
    let x = operands.get(0)?;
    one(x.ty.dtype, extents(x, axes, keep_dimensions)?)
}

/// The extents of `x` without `axes`, or with extents of 1 in their place.
///
/// # Errors
///
/// When the axes are not ascending ones of `x`.
fn extents(x: &Tensor, axes: &[usize], keep_dimensions: bool) -> Result<Vec<usize>, OpError> {
    let rank = x.ty.shape.len();
    if !axes.is_sorted_by(|a, b| a < b) || axes.last().is_some_and(|axis| *axis >= rank) {
        return Err(format!("axes {axes:?} are not ascending axes of {}", x.ty).into());
    }
    let extents = x.ty.shape.iter().enumerate().filter_map(|(axis, &extent)| {
        match (axes.contains(&axis), keep_dimensions) {
            (false, _) => Some(extent),
            (true, true) => Some(1),
            (true, false) => None,
        }
    });
    Ok(extents.collect())
}

/// The kernel's loops: neighbouring axes that are both kept or both reduced are one, so
/// that the [`Shape::MAX_RANK`] axes take no more than half as many of each.
pub(super) fn loops(x: &Shape, axes: &[usize]) -> Reduction {
    struct Loop {
        reduced: bool,
        extent: usize,
        stride: usize,
    }
    // From the innermost axis on.
    let mut loops: Vec<Loop> = Vec::new();
    let mut stride = 1;
    for (axis, &extent) in x.iter().enumerate().rev().filter(|(_, extent)| **extent > 1) {
        let reduced = axes.contains(&axis);
        match loops.last_mut() {
            Some(inner) if inner.reduced == reduced => inner.extent *= extent,
            _ => loops.push(Loop { reduced, extent, stride }),
        }
        stride *= extent;
    }
    let side = |reduced: bool| {
        let (mut extents, mut strides) = ([1; Shape::MAX_RANK / 2], [0; Shape::MAX_RANK / 2]);
        let places = extents.iter_mut().zip(&mut strides).rev();
        for ((extent, stride), side) in places.zip(loops.iter().filter(|side| side.reduced == reduced)) {
            (*extent, *stride) = (side.extent, side.stride);
        }
        (extents, strides)
    };
    let ((kept, kept_strides), (reduced, reduced_strides)) = (side(false), side(true));
    Reduction { kept, kept_strides, reduced, reduced_strides }
}

/// How the steps are described.
pub(super) fn description(x: &Shape, axes: &[usize]) -> String {
    format!("{x} over axes {axes:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_second_of_eight_axes() {
        let shape = Shape::new(vec![2, 3, 2, 3, 2, 3, 2, 3]).unwrap();
        assert_eq!(
            loops(&shape, &[1, 3, 5, 7]),
            Reduction {
                kept: [2; 4],
                kept_strides: [648, 108, 18, 3],
                reduced: [3; 4],
                reduced_strides: [216, 36, 6, 1],
            }
        );
        let shape = Shape::new(vec![2, 3, 1, 4]).unwrap();
        assert_eq!(
            loops(&shape, &[1, 3]),
            Reduction {
                kept: [1, 1, 1, 2],
                kept_strides: [0, 0, 0, 12],
                reduced: [1, 1, 1, 12],
                reduced_strides: [0, 0, 0, 1],
            }
        );
    }
}
