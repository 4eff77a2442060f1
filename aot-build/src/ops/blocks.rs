//! Blocks of pixels and batches: what `space_to_batch` and `batch_to_space` have in common.
//!
//! ```text
//! space, with a margin: a b a b     batch: a a   b b   c c   d d
//!                       c d c d            a a   b b   c c   d d
//!                       a b a b
//!                       c d c d            a tensor for each cell of the block
//! ```

use super::strided::{Loop, Strided};
use crate::error::OpError;

/// Most copies: one for each cell of a block.
const MAX_CELLS: usize = 64;

/// The tensor with space, and the one with a batch for each cell of a block.
pub(super) struct Blocks<'a> {
    /// Batch, the extents of space, others.
    pub(super) space: &'a [usize],
    /// Batches of all cells, how many blocks there are along each extent, others.
    pub(super) batch: &'a [usize],
    /// For each extent of space, cells of a block.
    pub(super) block: &'a [usize],
    /// For each extent of space, cells of the first blocks that lie outside of it, and
    /// cells of the last ones.
    pub(super) margin: &'a [[usize; 2]],
}

/// Number of blocks along each extent of space.
///
/// # Errors
///
/// When extents, blocks and margins do not fit, or a block is too large.
pub(super) fn count(
    extents: impl Fn(usize) -> Option<usize>,
    block: &[usize],
    margin: &[[usize; 2]],
    rank: usize,
) -> Result<Vec<usize>, OpError> {
    if block.is_empty() || block.len() != margin.len() || block.len() >= rank {
        let (blocks, margins) = (block.len(), margin.len());
        return Err(format!("{blocks} extents of a block and {margins} margins for rank {rank}").into());
    }
    let cells = block.iter().try_fold(1_usize, |cells, extent| cells.checked_mul(*extent));
    if !cells.is_some_and(|cells| (1..=MAX_CELLS).contains(&cells)) {
        return Err(format!("a block of {block:?} does not have 1 to {MAX_CELLS} cells").into());
    }
    let blocks = |(i, block): (usize, &usize)| {
        let extent = extents(i).filter(|extent| extent.is_multiple_of(*block));
        extent.map(|extent| extent / block).ok_or_else(|| format!("extent {i} is not made of blocks").into())
    };
    block.iter().enumerate().map(blocks).collect()
}

impl Blocks<'_> {
    /// The copies from space to batches, or back.
    pub(super) fn copies(&self, to_space: bool) -> Vec<Strided> {
        let direction = |loops: &[Ends], first: Ends| {
            let turn =
                |ends: &Ends| if to_space { (ends.batch, ends.space) } else { (ends.space, ends.batch) };
            let each = |ends: &Ends| Loop { extent: ends.extent, x: turn(ends).0 as i64, y: turn(ends).1 };
            let mut loops: Vec<_> = loops.iter().map(each).collect();
            // Written in ascending order.
            loops.sort_by_key(|each| std::cmp::Reverse(each.y));
            Strided::new(turn(&first).0, turn(&first).1, &loops)
        };
        let cells: usize = self.block.iter().product();
        if self.margin.iter().all(|margin| *margin == [0, 0]) {
            let mut loops = self.loops(|_, blocks| (0, blocks));
            loops.extend(self.steps());
            return vec![direction(&loops, Ends::default())];
        }
        let mut copies = Vec::new();
        for cell in 0..cells {
            let mut first = Ends::default();
            let mut rest = cell;
            let mut index = vec![0; self.block.len()];
            for (i, step) in self.steps().into_iter().enumerate().rev() {
                index[i] = rest % step.extent;
                rest /= step.extent;
                first.batch += index[i] * step.batch;
            }
            // The blocks whose cell lies inside of space.
            let inside = |i: usize, blocks: usize| {
                let (block, extent, before) = (self.block[i], self.space[i + 1], self.margin[i][0]);
                let from = before.saturating_sub(index[i]).div_ceil(block);
                let to = (extent + before).saturating_sub(index[i]).div_ceil(block);
                (from, to.min(blocks))
            };
            let loops = self.loops(inside);
            if loops.iter().any(|ends| ends.extent == 0) {
                continue;
            }
            for (i, ends) in loops[1..=self.block.len()].iter().enumerate() {
                let (from, stride) = (inside(i, self.batch[i + 1]).0, ends.space / self.block[i]);
                first.space += (from * self.block[i] + index[i] - self.margin[i][0]) * stride;
                first.batch += from * ends.batch;
            }
            copies.push(direction(&loops, first));
        }
        copies
    }

    /// Loops over images, blocks from the first to the one behind the last that `range`
    /// gives, and other axes.
    fn loops(&self, range: impl Fn(usize, usize) -> (usize, usize)) -> Vec<Ends> {
        let (mut space, mut batch) = (1, 1);
        let mut loops = Vec::new();
        for axis in (0..self.space.len()).rev() {
            let i = axis.checked_sub(1).filter(|i| *i < self.block.len());
            let (extent, factor) = match i {
                Some(i) => {
                    let (from, to) = range(i, self.batch[axis]);
                    (to.saturating_sub(from), self.block[i])
                }
                None => (self.space[axis], 1),
            };
            loops.push(Ends { extent, space: space * factor, batch });
            (space, batch) = (space * self.space[axis], batch * self.batch[axis]);
        }
        loops.reverse();
        loops
    }

    /// For each extent of space, a loop over the cells of a block.
    fn steps(&self) -> Vec<Ends> {
        let mut batch = self.batch[1..].iter().product::<usize>() * self.space[0];
        let mut steps = Vec::new();
        for i in (0..self.block.len()).rev() {
            let space = self.space[i + 2..].iter().product();
            steps.push(Ends { extent: self.block[i], space, batch });
            batch *= self.block[i];
        }
        steps.reverse();
        steps
    }
}

/// A loop, or a place, in both tensors.
#[derive(Clone, Copy, Default)]
struct Ends {
    extent: usize,
    space: usize,
    batch: usize,
}
