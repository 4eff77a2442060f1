//! Divides steps that compute much into parts that compute little: what `max_step_macs` asks
//! for.
//!
//! A product becomes a step for each part of its result: some rows, or where one row is too
//! much, some columns of one. A layer with a window becomes a run of rows of its own, of which
//! some are computed at a time. Every element of a result is the sum that it was.

use std::ops::Range;

use aot_rt::kernels::{BatchMatmul, Broadcast, Kernel, Kind, RowLayer, RowSource, filter_blocks};

use super::{Layer, Operand, Program, Run, Step, Work};

/// A part of a step.
struct Part {
    kernel: Kernel,
    operands: Vec<Operand>,
    macs: u64,
}

/// Divides products among the steps into parts of at most `limit` multiply-accumulates, or
/// of as few as they can have.
pub(crate) fn divide_products(program: &mut Program, limit: u64) {
    let steps = std::mem::take(&mut program.steps);
    program.steps = steps.into_iter().flat_map(|step| divided(step, limit)).collect();
}

fn divided(step: Step, limit: u64) -> Vec<Step> {
    let parts = match step.kernel() {
        Some(kernel) if step.macs > limit => parts(kernel, &step.operands, limit),
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

fn parts(kernel: &Kernel, operands: &[Operand], limit: u64) -> Option<Vec<Part>> {
    match kernel {
        Kernel::FullyConnectedF32(p) | Kernel::FullyConnectedF16(p) => {
            let blocks = filter_blocks(p.outputs).map(|block| block.len()).collect();
            let layer = Dense { blocks, ..Dense::new([p.batch, p.inputs, p.outputs]) };
            Some(layer.parts(kernel, operands, limit))
        }
        Kernel::FullyConnectedDynamicI8(p) => {
            Some(Dense::new([p.batch, p.inputs, p.outputs]).parts(kernel, operands, limit))
        }
        Kernel::FullyConnectedI16(p) => {
            Some(Dense::new([p.batch, p.inputs, p.outputs]).parts(kernel, operands, limit))
        }
        Kernel::FullyConnectedI8(p) => {
            Some(Dense::new([p.batch, p.inputs, p.outputs]).parts(kernel, operands, limit))
        }
        Kernel::FullyConnectedI4(p) => {
            let layer = Dense { filter: p.inputs.div_ceil(2), ..Dense::new([p.batch, p.inputs, p.outputs]) };
            Some(layer.parts(kernel, operands, limit))
        }
        Kernel::BatchMatmulF32(p) => Some(matrices(p, kernel, operands, limit)),
        Kernel::BatchMatmulI8(p) => Some(matrices(&p.matrices, kernel, operands, limit)),
        Kernel::BatchMatmulI16(p) => Some(matrices(&p.matrices, kernel, operands, limit)),
        _ => None,
    }
}

/// Rows and columns of a result that are computed at a time: of as few rows as `limit` asks
/// for; where that is less than one, of some columns, which stand together in `blocks`.
fn cut(rows: usize, blocks: &[usize], depth: usize, limit: u64) -> Vec<[Range<usize>; 2]> {
    let row = (depth as u64).saturating_mul(blocks.iter().sum::<usize>() as u64);
    let (rows, columns) = (pieces(&vec![1; rows], row, limit), pieces(blocks, depth as u64, limit));
    let pairs = rows.iter().flat_map(|rows| columns.iter().map(|columns| [rows.clone(), columns.clone()]));
    pairs.collect()
}

/// Neighbouring blocks together as long as their elements, of `macs` each, are within `limit`.
fn pieces(blocks: &[usize], macs: u64, limit: u64) -> Vec<Range<usize>> {
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut first = 0;
    for block in blocks {
        let end = first + block;
        match pieces.last_mut() {
            Some(last) if ((end - last.start) as u64).saturating_mul(macs) <= limit => last.end = end,
            _ => pieces.push(first..end),
        }
        first = end;
    }
    pieces
}

/// A fully connected layer.
struct Dense {
    batch: usize,
    inputs: usize,
    outputs: usize,
    /// Outputs whose weights stand together.
    blocks: Vec<usize>,
    /// Elements of the weights for an output.
    filter: usize,
}

impl Dense {
    fn new([batch, inputs, outputs]: [usize; 3]) -> Self {
        Self { batch, inputs, outputs, blocks: vec![1; outputs], filter: inputs }
    }

    fn parts(&self, kernel: &Kernel, operands: &[Operand], limit: u64) -> Vec<Part> {
        let cut = cut(self.batch, &self.blocks, self.inputs, limit);
        cut.into_iter().map(|part| self.part(kernel, operands, part)).collect()
    }

    fn part(&self, kernel: &Kernel, operands: &[Operand], [rows, columns]: [Range<usize>; 2]) -> Part {
        let (batch, outputs) = (rows.len(), columns.len());
        let mut kernel = *kernel;
        match &mut kernel {
            Kernel::FullyConnectedF32(p)
            | Kernel::FullyConnectedF16(p)
            | Kernel::FullyConnectedDynamicI8(p) => (p.batch, p.outputs) = (batch, outputs),
            Kernel::FullyConnectedI16(p) => (p.batch, p.outputs) = (batch, outputs),
            Kernel::FullyConnectedI8(p) | Kernel::FullyConnectedI4(p) => {
                (p.batch, p.outputs) = (batch, outputs);
            }
            _ => unreachable!("`{}` is no fully connected layer", kernel.name()),
        }
        let infos = kernel.operands().iter().zip(operands);
        let operands = infos.map(|(info, operand)| match info.name {
            "x" => operand.part(rows.start * self.inputs, batch * self.inputs),
            "y" => operand.part(rows.start * self.outputs + columns.start, batch * outputs),
            "weights" => operand.part(columns.start * self.filter, outputs * self.filter),
            "quantization" => operand.part(rows.start * 3, batch * 3),
            // One for each output; or one for all, or none.
            _ if operand.len() == self.outputs => operand.part(columns.start, outputs),
            _ => *operand,
        });
        let operands = operands.collect();
        Part { kernel, operands, macs: (batch * self.inputs) as u64 * outputs as u64 }
    }
}

/// The parts of products of matrices: a part belongs to one of them.
fn matrices(p: &BatchMatmul, kernel: &Kernel, operands: &[Operand], limit: u64) -> Vec<Part> {
    let [[a_row, a_column], [b_row, b_column]] = [p.a_strides, p.b_strides];
    // From the first element of a matrix to the one behind its last.
    let span = |extents: [usize; 2], strides: [usize; 2]| {
        (extents[0] - 1) * strides[0] + (extents[1] - 1) * strides[1] + 1
    };
    let mut parts = Vec::new();
    for (i, [a, b]) in offsets(&p.batch).into_iter().enumerate() {
        for [rows, columns] in cut(p.rows, &vec![1; p.columns], p.depth, limit) {
            let whole = Broadcast { extents: [1; 6], a_strides: [0; 6], b_strides: [0; 6] };
            let matrices = BatchMatmul { batch: whole, rows: rows.len(), columns: columns.len(), ..*p };
            let mut kernel = *kernel;
            match &mut kernel {
                Kernel::BatchMatmulF32(p) => *p = matrices,
                Kernel::BatchMatmulI8(p) => p.matrices = matrices,
                Kernel::BatchMatmulI16(p) => p.matrices = matrices,
                _ => unreachable!("`{}` multiplies no matrices", kernel.name()),
            }
            let infos = kernel.operands().iter().zip(operands);
            let operands = infos.map(|(info, operand)| match info.name {
                "x" => operand.part(a + rows.start * a_row, span([rows.len(), p.depth], [a_row, a_column])),
                "y" => operand
                    .part((i * p.rows + rows.start) * p.columns + columns.start, rows.len() * columns.len()),
                _ => operand
                    .part(b + columns.start * b_column, span([p.depth, columns.len()], [b_row, b_column])),
            });
            let operands = operands.collect();
            parts.push(Part { kernel, operands, macs: (rows.len() * p.depth) as u64 * columns.len() as u64 });
        }
    }
    parts
}

/// Where the matrices of a batch start, in order.
fn offsets(batch: &Broadcast) -> Vec<[usize; 2]> {
    let mut offsets = vec![[0, 0]];
    for ((extent, a), b) in batch.extents.iter().zip(batch.a_strides).zip(batch.b_strides) {
        let within = |[at_a, at_b]: [usize; 2]| (0..*extent).map(move |i| [at_a + i * a, at_b + i * b]);
        offsets = offsets.into_iter().flat_map(within).collect();
    }
    offsets
}

/// Makes runs of their own of the steps that compute more than `limit`, where they have rows.
pub(crate) fn divide_into_rows(program: &mut Program, limit: u64) {
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
