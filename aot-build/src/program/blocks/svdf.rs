//! Parts of `svdf`: some rows, or some units of one, with what their filters remember.

use aot_rt::kernels::{Kernel, filter_blocks};

use super::{Block, Part, Piece, Whole, cut};

/// The extents of a layer.
#[derive(Clone, Copy)]
struct Extents {
    inputs: usize,
    /// Filters of a unit.
    rank: usize,
    units: usize,
    memory: usize,
}

/// The parts of such a layer.
pub(super) fn parts(whole: Whole<'_>) -> Option<Vec<Part>> {
    let (extents, blocks) = match whole.kernel {
        Kernel::SvdfF32(p) => {
            let extents = Extents { inputs: p.inputs, rank: p.rank, units: p.units, memory: p.memory };
            (extents, packed(extents))
        }
        Kernel::SvdfI8(p) | Kernel::SvdfMemoryI8(p) => {
            let extents = Extents { inputs: p.inputs, rank: p.rank, units: p.units, memory: p.memory };
            (extents, Block::singles(p.units, extents.macs(1)))
        }
        _ => return None,
    };
    // The memory of a row is as large as that of its units.
    let batch = whole.operands.get(1)?.len() / extents.units;
    let pieces = cut(batch, &blocks, whole.limit);
    Some(pieces.into_iter().map(|piece| part(whole, extents, piece)).collect())
}

impl Extents {
    /// Multiply-accumulates of so many units.
    const fn macs(self, units: usize) -> u64 {
        (units * self.rank * (self.inputs + self.memory)) as u64
    }
}

/// Units whose weights stand together.
fn packed(extents: Extents) -> Vec<Block> {
    let (mut blocks, mut filters, mut first) = (Vec::new(), 0, 0);
    for block in filter_blocks(extents.units * extents.rank) {
        filters += block.len();
        if filters.is_multiple_of(extents.rank) {
            let len = filters / extents.rank - first;
            blocks.push(Block { len, macs: extents.macs(len) });
            first += len;
        }
    }
    blocks
}

fn part(whole: Whole<'_>, extents: Extents, Piece { rows, within: units, macs }: Piece) -> Part {
    let Extents { inputs, rank, memory, .. } = extents;
    let mut kernel = *whole.kernel;
    match &mut kernel {
        Kernel::SvdfF32(p) => p.units = units.len(),
        Kernel::SvdfI8(p) | Kernel::SvdfMemoryI8(p) => p.units = units.len(),
        _ => unreachable!("`{}` is no such layer", kernel.name()),
    }
    let (first, count) = (rows.start * extents.units + units.start, rows.len() * units.len());
    let (first_filter, filters) = (units.start * rank, units.len() * rank);
    let operands = whole.operands(|name, operand| match name {
        "x" => operand.part(rows.start * inputs, rows.len() * inputs),
        "y" => operand.part(first, count),
        "state" => operand.part(first * rank * memory, count * rank * memory),
        "features" => operand.part(0, filters),
        "weights" => operand.part(first_filter * inputs, filters * inputs),
        "time" => operand.part(first_filter * memory, filters * memory),
        "bias" if operand.len() > 0 => operand.part(units.start, units.len()),
        _ => operand,
    });
    Part { kernel, operands, macs }
}
