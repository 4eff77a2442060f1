//! Steps that may become a run, and what each row of them needs.

use std::ops::Range;

use aot_rt::kernels::{Kernel, Kind, RowLayer, RowOrigin, RowSource};

use super::{buffer, kernels};
use crate::program::{BufferId, Operand, Program, Step, Storage};

/// A layer of a run: the buffers behind its rows.
pub(super) struct CandidateLayer {
    pub(super) rows: RowLayer,
    /// The buffers that the sources read.
    pub(super) reads: [Option<BufferId>; 2],
    /// The buffer that it writes.
    pub(super) writes: BufferId,
    /// Whether a row of `y` is written for each row: not for sums.
    pub(super) writes_rows: bool,
}

/// Steps that can run row by row.
pub(super) struct Candidate {
    pub(super) steps: Range<usize>,
    pub(super) layers: Vec<CandidateLayer>,
    pub(super) pushed: Option<BufferId>,
}

impl Candidate {
    /// The candidate for a range of steps; `None` when one of them needs more than rows.
    pub(super) fn new(program: &Program, steps: Range<usize>, pushed: Option<BufferId>) -> Option<Self> {
        let mut candidate = Self { steps: steps.start..steps.start, layers: Vec::new(), pushed };
        for _ in steps {
            candidate = candidate.with_next(program)?;
        }
        Some(candidate)
    }

    /// The same with the step behind it; `None` when that needs more than rows, or
    /// everything that the run makes.
    pub(super) fn with_next(mut self, program: &Program) -> Option<Self> {
        let step = program.steps.get(self.steps.end)?;
        // Sums are not there before the last row.
        if self.layers.last().is_some_and(|layer| !layer.writes_rows) {
            return None;
        }
        let layer = self.layer(program, step, step.kernel()?)?;
        self.layers.push(layer);
        self.steps.end += 1;
        Some(self)
    }

    fn layer(&self, program: &Program, step: &Step, kernel: &Kernel) -> Option<CandidateLayer> {
        let whole = |operand: &Operand| match operand {
            Operand::Buffer(view) => program.is_whole(*view),
            Operand::Constant(_) => true,
        };
        // Weights that another layer makes or writes over would be needed before or after that.
        if !step.operands.iter().all(whole) || step.window_weights().next().is_some() {
            return None;
        }
        let [x, y] = [0, 1].map(|i| buffer(step.operands.get(i)));
        let (x, y) = (x?, y?);
        // The function that takes a pushed row is not given the caller's output.
        let is_pushed = self.pushed.is_some() && self.steps.start == 0;
        if is_pushed && matches!(program.buffer(y).storage, Storage::Output(_)) {
            return None;
        }
        let row_of = |rows: usize| RowSource { rows, stride: 1, reach: 1, ..RowSource::NONE };
        let layer = |rows: usize, sources: [RowSource; 2], reads: [Option<BufferId>; 2]| {
            let mut sources = sources;
            for (source, read) in sources.iter_mut().zip(reads) {
                if let Some(read) = read {
                    source.origin = self.origin(read, source.rows)?;
                }
            }
            Some((rows, sources, reads))
        };
        let (rows, sources, reads) = match (kernel.kind(), kernel.window()) {
            (Kind::Window | Kind::Widening | Kind::Accumulating, Some((window, _))) if window.batch == 1 => {
                let source = RowSource {
                    origin: RowOrigin::Whole,
                    rows: window.input[0],
                    stride: window.stride[0],
                    reach: (window.kernel[0].max(1) - 1) * window.dilation[0] + 1,
                    padding: window.padding[0],
                };
                // A sum needs the row that it adds to.
                let accumulates = kernel.kind() == Kind::Accumulating;
                let own = if accumulates { row_of(window.output[0]) } else { RowSource::NONE };
                layer(window.output[0], [source, own], [Some(x), accumulates.then_some(y)])?
            }
            (Kind::Reducing, _) => {
                let rows = self.rows_of(x).or_else(|| kernels::image_rows(kernel))?;
                layer(rows, [row_of(rows), RowSource::NONE], [Some(x), None])?
            }
            (Kind::Elementwise, ..) => {
                if has_constant_rows(step) {
                    return None;
                }
                let b = buffer(step.operands.get(2));
                let rows = self.rows_of(x).or_else(|| self.rows_of(b?));
                let is_pushed = self.pushed == Some(x);
                let rows = rows.or_else(|| is_pushed.then(|| image_rows(program, x)).flatten())?;
                kernels::divided(kernel, rows)?;
                let second = if b.is_some() { row_of(rows) } else { RowSource::NONE };
                layer(rows, [row_of(rows), second], [Some(x), b])?
            }
            _ => return None,
        };
        let writes_rows = kernel.kind() != Kind::Reducing;
        Some(CandidateLayer { rows: RowLayer { rows, sources }, reads, writes: y, writes_rows })
    }

    /// Where the rows of a buffer come from; `None` when that has other rows.
    fn origin(&self, buffer: BufferId, rows: usize) -> Option<RowOrigin> {
        match self.layers.iter().rposition(|layer| layer.writes == buffer) {
            Some(layer) if self.layers[layer].rows.rows == rows => Some(RowOrigin::Layer(layer)),
            Some(_) => None,
            None if self.pushed == Some(buffer) => Some(RowOrigin::Pushed),
            None => Some(RowOrigin::Whole),
        }
    }

    /// The rows that a buffer is divided into so far.
    fn rows_of(&self, buffer: BufferId) -> Option<usize> {
        let made = self.layers.iter().rev().find(|layer| layer.writes == buffer).map(|layer| layer.rows.rows);
        made.or_else(|| {
            let sources = self.layers.iter().flat_map(|layer| layer.rows.sources.iter().zip(layer.reads));
            sources.filter(|(_, read)| *read == Some(buffer)).map(|(source, _)| source.rows).next()
        })
    }
}

/// Whether the second operand is a constant that meets `y` element by element: constants
/// are read as a whole.
fn has_constant_rows(step: &Step) -> bool {
    match step.operands[..] {
        [_, Operand::Buffer(y), Operand::Constant(b), ..] => b.len == y.len,
        _ => false,
    }
}

/// Rows of an input that is an image and pushed: an elementwise step alone does not say how
/// its operand is divided.
fn image_rows(program: &Program, buffer: BufferId) -> Option<usize> {
    let input = program.inputs.iter().find(|port| port.view.buffer == buffer)?;
    match &*input.ty.shape {
        [1, rows, _, _] => Some(*rows),
        _ => None,
    }
}
