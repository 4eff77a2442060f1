//! Parts of recurrent layers: some time steps, or where one is too much, some sequences of one.
//! What a layer remembers is where it was: each part goes on with what the one before left.

use aot_rt::kernels::{Kernel, Sequence};

use super::{Block, Part, Piece, Whole, cut};

/// The parts of a recurrent layer, in the order in which it runs through its steps.
pub(super) fn parts(whole: Whole<'_>) -> Option<Vec<Part>> {
    let mut kernel = *whole.kernel;
    let sequence = *sequence_mut(&mut kernel)?;
    let Sequence { batch, steps, time_major, .. } = sequence;
    let (outer, inner) = if time_major { (steps, batch) } else { (batch, steps) };
    let row = whole.macs / (outer * inner).max(1) as u64;
    let mut pieces = cut(outer, &Block::singles(inner, row), whole.limit);
    if sequence.reverse {
        pieces.reverse();
    }
    Some(pieces.into_iter().map(|piece| part(whole, &sequence, piece)).collect())
}

fn part(whole: Whole<'_>, sequence: &Sequence, Piece { rows, within, macs }: Piece) -> Part {
    // More than one row of `rows` is whole.
    let (first, count) = if sequence.time_major {
        (rows.start * sequence.batch + within.start, rows.len() * within.len())
    } else {
        (rows.start * sequence.steps + within.start, rows.len() * within.len())
    };
    let (steps, batch) = if sequence.time_major { (rows, within) } else { (within, rows) };
    let mut kernel = *whole.kernel;
    if let Some(sequence) = sequence_mut(&mut kernel) {
        (sequence.batch, sequence.steps) = (batch.len(), steps.len());
    }
    let operands = whole.operands(|name, operand| match name {
        "x" => operand.part(first * sequence.inputs, count * sequence.inputs),
        "y" => operand.part(first * sequence.row, count * sequence.row),
        "hidden" | "cell" => {
            let of_one = operand.len() / sequence.batch;
            operand.part(batch.start * of_one, batch.len() * of_one)
        }
        _ => operand,
    });
    Part { kernel, operands, macs }
}

fn sequence_mut(kernel: &mut Kernel) -> Option<&mut Sequence> {
    match kernel {
        Kernel::LstmF32(p) => Some(&mut p.sequence),
        Kernel::LstmI8(p) | Kernel::LstmI16(p) => Some(&mut p.sequence),
        Kernel::RnnF32(p) => Some(&mut p.sequence),
        _ => None,
    }
}
