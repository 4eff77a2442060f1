//! Elements that are moved from one layout to another: what the operators that only move
//! elements lower to.

use aot_rt::kernels::{CopyI8, Kernel, StridedCopyI8};

use super::{Operands, View, quantized};
use crate::error::OpError;
use crate::graph::Shape;
use crate::program::{NodeLowering, Operand};

/// Loops of the kernel.
const LOOPS: usize = 6;
/// Most steps that loops beyond [`LOOPS`] may take, a step for each round.
const MAX_STEPS: usize = 64;

/// A loop: rounds, and elements from one round to the next in `x` and in `y`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loop {
    pub(super) extent: usize,
    pub(super) x: i64,
    pub(super) y: usize,
}

/// Which elements of `x` become which of `y`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Strided {
    /// The first element of `x`.
    x: usize,
    /// The first element of `y`.
    y: usize,
    /// The outermost first; none that could be one with the next.
    loops: Vec<Loop>,
}

/// An operator whose results are elements of its first operand, moved.
pub(super) trait Movement {
    /// The elements of `x` that result `i` is made of; `None` where there is none.
    fn piece(&self, x: &Shape, i: usize) -> Option<Strided>;

    /// What a result is a view of, for [`Operator::view`](super::Operator::view).
    fn view_of_piece(&self, i: usize, operands: &Operands<'_>) -> Option<View> {
        let first = self.piece(&operands.get(0).ok()?.ty.shape, i)?.contiguous()?;
        Some(View { operand: 0, first })
    }

    /// Makes the results: views where they can be, by steps elsewhere.
    ///
    /// # Errors
    ///
    /// When a result has another quantization than the operand; see [`Strided::steps`].
    fn lower_pieces(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let moved = node.input(0)?;
        for i in 0..node.outputs() {
            let result = node.output(i);
            quantized::unchanged(moved, result)?;
            if result.ty.is_empty() {
                node.write(i);
                continue;
            }
            if !node.is_read(i) || node.view(i)? {
                continue;
            }
            let piece = self.piece(&moved.ty.shape, i).ok_or_else(|| format!("there is no result {i}"))?;
            let description = format!("{} → {}", moved.ty.shape, result.ty.shape);
            let (x, y) = (node.read(0)?, node.write(i));
            piece.steps(node, x, y, &description)?;
        }
        Ok(())
    }
}

impl Strided {
    /// Loops from the outermost to the innermost, which start at elements `x` and `y`.
    pub(super) fn new(x: usize, y: usize, loops: &[Loop]) -> Self {
        let mut merged: Vec<Loop> = Vec::new();
        for inner in loops.iter().filter(|inner| inner.extent != 1) {
            match merged.last_mut() {
                Some(outer)
                    if outer.x == inner.x * inner.extent as i64 && outer.y == inner.y * inner.extent =>
                {
                    *outer = Loop { extent: outer.extent * inner.extent, ..*inner };
                }
                _ => merged.push(*inner),
            }
        }
        Self { x, y, loops: merged }
    }

    /// All of a tensor of shape `y`: elements of `x` from `first` on, and from one index of
    /// `y` to the next `strides` of them.
    pub(super) fn gather(first: usize, strides: &[i64], y: &[usize]) -> Self {
        let mut loops = Vec::new();
        let mut stride = 1;
        for (&extent, &x) in y.iter().zip(strides).rev() {
            loops.push(Loop { extent, x, y: stride });
            stride *= extent;
        }
        loops.reverse();
        Self::new(first, 0, &loops)
    }

    /// All of a tensor of shape `x`, which becomes elements of one of shape `y`, from
    /// `first` on.
    pub(super) fn between(x: &[usize], first: usize, y: &[usize]) -> Self {
        let mut loops = Vec::new();
        let mut strides = (1, 1);
        for (&extent, &whole) in x.iter().zip(y).rev() {
            loops.push(Loop { extent, x: strides.0 as i64, y: strides.1 });
            strides = (strides.0 * extent, strides.1 * whole);
        }
        loops.reverse();
        Self::new(0, first, &loops)
    }

    /// The first of the elements of `x`, if they stand together in the order of `y`.
    pub(super) fn contiguous(&self) -> Option<usize> {
        match self.loops.as_slice() {
            [] | [Loop { x: 1, y: 1, .. }] => Some(self.x),
            _ => None,
        }
    }

    /// Appends the steps that copy the elements of `x` to `y`.
    ///
    /// # Errors
    ///
    /// When there are too many loops, or one leads too far.
    pub(super) fn steps(
        &self,
        node: &mut NodeLowering<'_, '_>,
        x: Operand,
        y: Operand,
        description: &str,
    ) -> Result<(), OpError> {
        let size = x.dtype().size();
        let block = self.loops.last().filter(|inner| (inner.x, inner.y) == (1, 1));
        let loops = &self.loops[..self.loops.len() - usize::from(block.is_some())];
        let unrolled = &loops[..loops.len().saturating_sub(LOOPS)];
        if unrolled.iter().map(|each| each.extent).product::<usize>() > MAX_STEPS {
            let rounds: Vec<_> = loops.iter().map(|each| each.extent).collect();
            return Err(format!("elements are moved in more than {LOOPS} loops, {rounds:?}").into());
        }
        if let Some((outer, _)) = unrolled.split_first() {
            for round in 0..outer.extent {
                let from = self.x as i64 + outer.x * round as i64;
                let inner = self.loops[1..].to_vec();
                let inner = Self { x: from as usize, y: self.y + outer.y * round, loops: inner };
                inner.steps(node, x, y, description)?;
            }
            return Ok(());
        }
        let block = block.map_or(1, |block| block.extent);
        // Only the elements from the first to the last that are touched.
        let reach = |each: &Loop| each.x * (each.extent as i64 - 1);
        let before = -loops.iter().map(|each| reach(each).min(0)).sum::<i64>() as usize;
        let behind = loops.iter().map(|each| reach(each).max(0)).sum::<i64>() as usize;
        let x = x.part(self.x - before, before + behind + block).as_bytes();
        let written = loops.iter().map(|each| each.y * (each.extent - 1)).sum::<usize>() + block;
        let y = y.part(self.y, written).as_bytes();
        let kernel = if loops.is_empty() {
            Kernel::CopyI8(CopyI8 { len: block * size })
        } else {
            let mut params = StridedCopyI8 {
                extents: [1; LOOPS],
                x_start: before * size,
                x_strides: [0; LOOPS],
                y_strides: [0; LOOPS],
                block: block * size,
            };
            for (i, each) in (LOOPS - loops.len()..).zip(loops) {
                params.extents[i] = each.extent;
                let stride = i32::try_from(each.x * size as i64);
                params.x_strides[i] = stride.map_err(|_| "elements are moved too far")?;
                params.y_strides[i] = each.y * size;
            }
            Kernel::StridedCopyI8(params)
        };
        node.step(kernel, vec![x, y], 0, description.to_owned());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_that_are_one_are_merged() {
        for (name, strides, shape, expect) in [
            ("all of a tensor", [12, 4, 1], [2, 3, 4], vec![(24, 1, 1)]),
            ("every second row", [24, 8, 1], [2, 3, 4], vec![(6, 8, 4), (4, 1, 1)]),
            ("columns", [12, 1, 4], [2, 4, 3], vec![(2, 12, 12), (4, 1, 3), (3, 4, 1)]),
            ("backwards", [-12, -4, -1], [2, 3, 4], vec![(24, -1, 1)]),
            ("one element, again and again", [0, 0, 0], [2, 3, 4], vec![(24, 0, 1)]),
            ("an extent of 1", [7, 5, 1], [2, 1, 4], vec![(2, 7, 4), (4, 1, 1)]),
        ] {
            let loops = Strided::gather(0, &strides, &shape).loops;
            let found: Vec<_> = loops.iter().map(|each| (each.extent, each.x, each.y)).collect();
            assert_eq!(found, expect, "{name}");
        }
    }

    #[test]
    fn elements_that_stand_together() {
        assert_eq!(Strided::gather(5, &[12, 4, 1], &[1, 3, 4]).contiguous(), Some(5));
        assert_eq!(Strided::gather(5, &[12, 4, 1], &[1, 1, 1]).contiguous(), Some(5));
        assert_eq!(Strided::gather(5, &[12, 4, 1], &[2, 2, 4]).contiguous(), None);
        assert_eq!(Strided::gather(5, &[12, 4, -1], &[1, 1, 4]).contiguous(), None);
    }
}
