//! Divides steps that compute much into parts that compute little: what `max_step_macs` asks
//! for.
//!
//! A step becomes one for each part of its result: some rows, or where one row is too much, some
//! columns of one; of a recurrent layer, some of its time steps. A layer with a window over one
//! image becomes a run of rows of its own instead, of which some are computed at a time. Every
//! element of a result is the sum that it was.

mod products;
mod sequences;
mod svdf;
mod windows;

use std::ops::Range;

use aot_rt::kernels::{Kernel, Kind, RowLayer, RowSource};

use super::{Layer, Operand, Program, Run, Step, Work};

/// A part of a step.
struct Part {
    kernel: Kernel,
    operands: Vec<Operand>,
    macs: u64,
}

/// A kernel that is to be divided.
#[derive(Clone, Copy)]
struct Whole<'s> {
    kernel: &'s Kernel,
    operands: &'s [Operand],
    macs: u64,
    /// Most multiply-accumulates of a part.
    limit: u64,
}

impl Whole<'_> {
    /// Operands like those of the kernel, `part` of each, which has that name.
    fn operands(&self, part: impl Fn(&str, Operand) -> Operand) -> Vec<Operand> {
        let infos = self.kernel.operands().iter().zip(self.operands);
        infos.map(|(info, operand)| part(info.name, *operand)).collect()
    }
}

/// Divides steps into parts of at most `limit` multiply-accumulates, or of as few as they can
/// have.
pub(crate) fn divide(program: &mut Program, limit: u64) {
    let steps = std::mem::take(&mut program.steps);
    let is_region = program.is_region;
    program.steps = steps.into_iter().flat_map(|step| divided(step, limit, is_region)).collect();
}

fn divided(step: Step, limit: u64, is_region: bool) -> Vec<Step> {
    let parts = match step.kernel() {
        Some(kernel) if step.macs > limit && (is_region || layer(&step).is_none()) => {
            parts(Whole { kernel, operands: &step.operands, macs: step.macs, limit })
        }
        _ => None,
    };
    let Some(parts) = parts.filter(|parts| parts.len() > 1) else { return vec![step] };
    let count = parts.len();
    let part = |(i, part): (usize, Part)| Step {
        name: format!("{}_part_{i}", step.name),
        description: format!("{}, part {} of {count}", step.description, i + 1),
        work: Work::Kernel(part.kernel),
        operands: part.operands,
        macs: part.macs,
        ..step.clone()
    };
    parts.into_iter().enumerate().map(part).collect()
}

fn parts(whole: Whole<'_>) -> Option<Vec<Part>> {
    let families = [products::parts, windows::parts, sequences::parts, svdf::parts];
    families.into_iter().find_map(|parts| parts(whole))
}

/// Neighbours in a result that are computed together.
#[derive(Clone, Copy)]
struct Block {
    len: usize,
    macs: u64,
}

impl Block {
    /// So many single ones, of `macs` each.
    fn singles(count: usize, macs: u64) -> Vec<Self> {
        vec![Self { len: 1, macs }; count]
    }
}

/// A part of a result: some rows, or a part of one.
struct Piece {
    rows: Range<usize>,
    within: Range<usize>,
    macs: u64,
}

/// Pieces of a result of so many rows, each of which consists of `blocks`: as many rows as are
/// within `limit`; where that is less than one, some blocks of one.
fn cut(rows: usize, blocks: &[Block], limit: u64) -> Vec<Piece> {
    let row = blocks.iter().fold(0, |sum: u64, block| sum.saturating_add(block.macs));
    let (rows, within) = (pieces(&Block::singles(rows, row), limit), pieces(blocks, limit));
    let of_rows = |(rows, _): &(Range<usize>, u64)| {
        let rows = rows.clone();
        within.iter().map(move |(within, macs)| Piece {
            rows: rows.clone(),
            within: within.clone(),
            macs: macs.saturating_mul(rows.len() as u64),
        })
    };
    rows.iter().flat_map(of_rows).collect()
}

/// Neighbouring blocks together as long as they are within `limit`.
fn pieces(blocks: &[Block], limit: u64) -> Vec<(Range<usize>, u64)> {
    let mut pieces: Vec<(Range<usize>, u64)> = Vec::new();
    let mut first = 0;
    for block in blocks {
        let end = first + block.len;
        match pieces.last_mut() {
            Some((last, macs)) if macs.saturating_add(block.macs) <= limit => {
                last.end = end;
                *macs += block.macs;
            }
            _ => pieces.push((first..end, block.macs)),
        }
        first = end;
    }
    pieces
}

/// Makes runs of their own of the steps that compute more than `limit`, where they have rows.
/// Within other steps, nothing runs row by row.
pub(crate) fn divide_into_rows(program: &mut Program, limit: u64) {
    if program.is_region {
        return;
    }
    for (i, step) in program.steps.iter().enumerate() {
        if step.macs <= limit || program.layer(i).is_some() {
            continue;
        }
        if let Some(layer) = layer(step) {
            let at = program.runs.partition_point(|run| run.first < i);
            program.runs.insert(at, Run { first: i, layers: vec![layer], overlaps: Vec::new() });
        }
    }
}

/// A step as the one layer of a run: all rows that it reads are there.
fn layer(step: &Step) -> Option<Layer> {
    if !matches!(step.kind(), Kind::Window | Kind::Widening | Kind::Accumulating) {
        return None;
    }
    let (window, _) = step.window().filter(|(window, _)| window.batch == 1)?;
    let rows = RowLayer { rows: window.output[0], sources: [RowSource::NONE; 2] };
    Some(Layer { rows, rings: [window.input[0], window.output[0], 0] })
}

impl Program {
    /// Multiply-accumulates of a row of top-level step `i`, where that runs row by row, or of
    /// all of it.
    pub(crate) fn macs_at_once(&self, i: usize) -> u64 {
        let rows = self.layer(i).map_or(1, |(_, layer)| layer.rows.rows);
        self.steps[i].macs.div_ceil(rows.max(1) as u64)
    }
}

/// The steps that compute more than `limit` at once, and how much; what devices compute does not
/// count.
pub(crate) fn beyond(program: &Program, limit: u64) -> Vec<(&Step, u64)> {
    let at_once = |(i, step): (usize, &'_ Step)| match step.control() {
        None => vec![(&program.steps[i], program.macs_at_once(i))],
        Some(_) => {
            let within = program.steps[i].with_nested().into_iter().filter(|step| step.control().is_none());
            within.map(|step| (step, step.macs)).collect()
        }
    };
    let steps = program.steps.iter().enumerate().flat_map(at_once);
    steps.filter(|(step, macs)| step.call().is_none() && *macs > limit).collect()
}
