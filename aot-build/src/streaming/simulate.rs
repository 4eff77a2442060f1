//! Runs a candidate without its arithmetic, to see how many rows it keeps.

use aot_rt::kernels::{RowLayer, RowOrigin, RowSource, next_row};

use super::buffer;
use super::candidate::{Candidate, CandidateLayer};
use crate::program::{BufferId, Layer, Program, Run, RunOverlap};

/// A run with what it keeps.
pub(super) struct Measured {
    pub(super) run: Run,
    /// The buffers that become rings, and their bytes then.
    pub(super) rings: Vec<(BufferId, usize)>,
}

impl Candidate {
    /// Finds the rings, and how far results may grow into operands; `None` when a layer
    /// would write over rows that another still needs.
    ///
    /// `users` are the steps that use each buffer.
    pub(super) fn measure(&self, program: &Program, users: &[Vec<usize>]) -> Option<Measured> {
        let mut simulation = Simulation::new(self, program, users);
        simulation.run()?;
        let rings: Vec<_> = simulation.rings().collect();
        let ring_rows = |buffer: Option<BufferId>, rows: usize| {
            let ring = buffer.and_then(|buffer| simulation.buffers.iter().find(|known| known.id == buffer));
            ring.filter(|ring| ring.is_ring).map_or(rows, |ring| ring.kept)
        };
        let layers = self.layers.iter().enumerate().map(|(i, layer)| {
            let operands = &program.steps[self.steps.start + i].operands;
            let [x, b] = [0, 2].map(|i| buffer(operands.get(i)));
            let [first, second] = layer.rows.sources;
            let y_rows = if layer.writes_rows { ring_rows(Some(layer.writes), layer.rows.rows) } else { 1 };
            let rings = [ring_rows(x, first.rows), y_rows, ring_rows(b, second.rows)];
            Layer { rows: layer.rows, rings }
        });
        let run = Run { first: self.steps.start, layers: layers.collect(), overlaps: simulation.overlaps };
        Some(Measured { run, rings })
    }
}

/// A buffer that the run uses row by row.
struct RowBuffer {
    id: BufferId,
    rows: usize,
    row_bytes: usize,
    /// Whether only the run uses it.
    is_ring: bool,
    /// The layers that read it, and which rows they need.
    readers: Vec<(usize, RowSource)>,
    /// Most rows that are kept at once.
    kept: usize,
}

struct Simulation<'c> {
    candidate: &'c Candidate,
    buffers: Vec<RowBuffer>,
    layers: Vec<RowLayer>,
    /// Of each layer: the position of the buffer that it writes, if it writes rows.
    results: Vec<Option<usize>>,
    done: Vec<usize>,
    pushed: usize,
    overlaps: Vec<RunOverlap>,
}

impl<'c> Simulation<'c> {
    fn new(candidate: &'c Candidate, program: &Program, users: &[Vec<usize>]) -> Self {
        let mut buffers: Vec<RowBuffer> = Vec::new();
        let mut add = |id: BufferId, rows: usize| {
            if buffers.iter().all(|buffer| buffer.id != id) {
                let row_bytes = program.buffer(id).bytes / rows.max(1);
                let is_ring = candidate.owns(program, users, id);
                let readers = candidate.readers(id);
                buffers.push(RowBuffer { id, rows, row_bytes, is_ring, readers, kept: 0 });
            }
        };
        for layer in &candidate.layers {
            for (source, read) in layer.rows.sources.iter().zip(layer.reads) {
                if let Some(id) = read {
                    add(id, source.rows);
                }
            }
            if layer.writes_rows {
                add(layer.writes, layer.rows.rows);
            }
        }
        let result = |layer: &CandidateLayer| {
            let position = buffers.iter().position(|buffer| buffer.id == layer.writes);
            position.filter(|_| layer.writes_rows)
        };
        Self {
            candidate,
            layers: candidate.layers.iter().map(|layer| layer.rows).collect(),
            results: candidate.layers.iter().map(result).collect(),
            done: vec![0; candidate.layers.len()],
            buffers,
            pushed: 0,
            overlaps: Vec::new(),
        }
    }

    fn run(&mut self) -> Option<()> {
        let pushed = self.buffers.iter().position(|buffer| Some(buffer.id) == self.candidate.pushed);
        let pushed_rows = pushed.map_or(0, |pushed| self.buffers[pushed].rows);
        loop {
            while let Some((layer, row)) = next_row(&mut self.done, &self.layers, self.pushed) {
                if let Some(result) = self.results[layer] {
                    self.wrote(layer, result, row)?;
                }
            }
            if self.pushed == pushed_rows {
                return Some(());
            }
            self.pushed += 1;
            if let Some(pushed) = pushed {
                self.keep(pushed, self.pushed);
            }
        }
    }

    /// Counts what is kept after `layer` has written a row of its result.
    fn wrote(&mut self, layer: usize, result: usize, row: usize) -> Option<()> {
        // In place, the row must not be needed as it was before.
        let before = self.first_needed(&self.buffers[result], |reader| reader < layer);
        if before.is_some_and(|first| first <= row) {
            return None;
        }
        self.keep(result, row + 1);
        self.grow(result, row);
        Some(())
    }

    /// Counts the rows of a buffer from the first that is needed to the one before `end`.
    fn keep(&mut self, buffer: usize, end: usize) {
        let first = self.first_needed(&self.buffers[buffer], |_| true).unwrap_or(end).min(end);
        let buffer = &mut self.buffers[buffer];
        // A row that nobody needs is written all the same.
        buffer.kept = buffer.kept.max((end - first).max(1));
    }

    /// Notes how far a result has grown, and where what is still needed of the operands
    /// from outside begins.
    fn grow(&mut self, result: usize, row: usize) {
        let RowBuffer { id: result_id, row_bytes, is_ring, .. } = self.buffers[result];
        if is_ring {
            return;
        }
        let end = (row + 1) * row_bytes;
        for operand in (0..self.buffers.len()).filter(|operand| *operand != result) {
            let operand = &self.buffers[operand];
            let Some(first) = self.first_needed(operand, |_| true).filter(|_| !operand.is_ring) else {
                continue;
            };
            let distance = end as i64 - (first * operand.row_bytes) as i64;
            let pair = (operand.id, result_id);
            match self.overlaps.iter_mut().find(|known| (known.operand, known.result) == pair) {
                Some(known) => known.distance = known.distance.max(distance),
                None => {
                    self.overlaps.push(RunOverlap { operand: operand.id, result: result_id, distance });
                }
            }
        }
    }

    /// The first row of a buffer that one of the chosen layers still needs.
    fn first_needed(&self, buffer: &RowBuffer, chosen: impl Fn(usize) -> bool) -> Option<usize> {
        let mut first: Option<usize> = None;
        for (layer, source) in &buffer.readers {
            let row = self.done[*layer];
            if chosen(*layer) && row < self.layers[*layer].rows {
                let needed = first_row(source, row);
                first = Some(first.map_or(needed, |first| first.min(needed)));
            }
        }
        first
    }

    fn rings(&self) -> impl Iterator<Item = (BufferId, usize)> {
        let rings = self.buffers.iter().filter(|buffer| buffer.is_ring);
        rings.map(|buffer| (buffer.id, buffer.kept * buffer.row_bytes))
    }
}

/// The first row that row `row` of a layer needs.
fn first_row(source: &RowSource, row: usize) -> usize {
    (row * source.stride).saturating_sub(source.padding).min(source.rows)
}

impl Candidate {
    /// The layers that read a buffer, and which rows they need.
    fn readers(&self, id: BufferId) -> Vec<(usize, RowSource)> {
        let layers = self.layers.iter().enumerate();
        let sources = layers.flat_map(|(i, layer)| {
            layer.rows.sources.iter().zip(layer.reads).map(move |(source, read)| (i, *source, read))
        });
        sources.filter(|(.., read)| *read == Some(id)).map(|(i, source, _)| (i, source)).collect()
    }

    /// Whether nothing but the run uses a buffer, so that it can be a ring.
    fn owns(&self, program: &Program, users: &[Vec<usize>], id: BufferId) -> bool {
        let is_port = |port: &crate::program::Port| port.view.buffer == id;
        let is_input = program.inputs.iter().any(is_port) && self.pushed != Some(id);
        let has_maker = self.layers.iter().any(|layer| layer.writes == id) || self.pushed == Some(id);
        has_maker
            && !is_input
            && !program.is_state(id)
            && !program.results().any(is_port)
            && users[id.index()].iter().all(|step| self.steps.contains(step))
            // One whose first use adds to what was there before the run.
            && self.layers.iter().all(|layer| {
                layer.rows.sources.iter().zip(layer.reads).all(|(source, read)| {
                    read != Some(id) || source.origin != RowOrigin::Whole
                })
            })
    }
}
