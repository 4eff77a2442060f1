//! Runs a candidate without its arithmetic, to see how many rows it keeps.

use aot_rt::kernels::{RowOrigin, RowSource, next_row};

use super::buffer;
use super::candidate::Candidate;
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
    pub(super) fn measure(&self, program: &Program) -> Option<Measured> {
        let mut simulation = Simulation::new(self, program);
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
    /// Most rows that are kept at once.
    kept: usize,
}

struct Simulation<'c> {
    candidate: &'c Candidate,
    buffers: Vec<RowBuffer>,
    done: Vec<usize>,
    pushed: usize,
    overlaps: Vec<RunOverlap>,
}

impl<'c> Simulation<'c> {
    fn new(candidate: &'c Candidate, program: &Program) -> Self {
        let mut buffers: Vec<RowBuffer> = Vec::new();
        let mut add = |id: BufferId, rows: usize| {
            if buffers.iter().all(|buffer| buffer.id != id) {
                let row_bytes = program.buffer(id).bytes / rows.max(1);
                let is_ring = candidate.owns(program, id);
                buffers.push(RowBuffer { id, rows, row_bytes, is_ring, kept: 0 });
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
        let done = vec![0; candidate.layers.len()];
        Self { candidate, buffers, done, pushed: 0, overlaps: Vec::new() }
    }

    fn run(&mut self) -> Option<()> {
        let layers: Vec<_> = self.candidate.layers.iter().map(|layer| layer.rows).collect();
        let pushed_rows =
            self.candidate.pushed.and_then(|id| self.buffers.iter().find(|known| known.id == id));
        let pushed_rows = pushed_rows.map_or(0, |buffer| buffer.rows);
        loop {
            while let Some((layer, row)) = next_row(&mut self.done, &layers, self.pushed) {
                self.wrote(layer, row)?;
            }
            if self.pushed == pushed_rows {
                return Some(());
            }
            self.pushed += 1;
            if let Some(id) = self.candidate.pushed {
                self.keep(id, self.pushed);
            }
        }
    }

    /// Counts what is kept after `layer` has written a row.
    fn wrote(&mut self, layer: usize, row: usize) -> Option<()> {
        let candidate = &self.candidate.layers[layer];
        if !candidate.writes_rows {
            return Some(());
        }
        // In place, the row must not be needed as it was before.
        let before = self.first_needed(candidate.writes, |reader| reader < layer);
        if before.is_some_and(|first| first <= row) {
            return None;
        }
        self.keep(candidate.writes, row + 1);
        self.grow(layer, row);
        Some(())
    }

    /// Counts the rows of a buffer from the first that is needed to the one before `end`.
    fn keep(&mut self, id: BufferId, end: usize) {
        let first = self.first_needed(id, |_| true).unwrap_or(end).min(end);
        if let Some(buffer) = self.buffers.iter_mut().find(|buffer| buffer.id == id) {
            // A row that nobody needs is written all the same.
            buffer.kept = buffer.kept.max((end - first).max(1));
        }
    }

    /// Notes how far a result has grown, and where what is still needed of the operands
    /// from outside begins.
    fn grow(&mut self, layer: usize, row: usize) {
        let result = self.candidate.layers[layer].writes;
        let Some(end) = self.whole(result).map(|buffer| (row + 1) * buffer.row_bytes) else { return };
        for operand in 0..self.buffers.len() {
            let RowBuffer { id, row_bytes, is_ring, .. } = self.buffers[operand];
            if is_ring || id == result {
                continue;
            }
            let Some(first) = self.first_needed(id, |_| true) else { continue };
            let distance = end as i64 - (first * row_bytes) as i64;
            match self.overlaps.iter_mut().find(|known| (known.operand, known.result) == (id, result)) {
                Some(known) => known.distance = known.distance.max(distance),
                None => self.overlaps.push(RunOverlap { operand: id, result, distance }),
            }
        }
    }

    fn whole(&self, id: BufferId) -> Option<&RowBuffer> {
        self.buffers.iter().find(|buffer| buffer.id == id && !buffer.is_ring)
    }

    /// The first row of a buffer that one of the chosen layers still needs.
    fn first_needed(&self, id: BufferId, chosen: impl Fn(usize) -> bool) -> Option<usize> {
        let layers = self.candidate.layers.iter().enumerate().filter(|(i, _)| chosen(*i));
        layers
            .filter(|(i, layer)| self.done[*i] < layer.rows.rows)
            .flat_map(|(i, layer)| {
                let sources = layer.rows.sources.iter().zip(layer.reads);
                sources.filter(|(_, read)| *read == Some(id)).map(move |(source, _)| (source, self.done[i]))
            })
            .map(|(source, row)| first_row(source, row))
            .min()
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
    /// Whether nothing but the run uses a buffer, so that it can be a ring.
    fn owns(&self, program: &Program, id: BufferId) -> bool {
        let is_port = |port: &crate::program::Port| port.view.buffer == id;
        let is_input = program.inputs.iter().any(is_port) && self.pushed != Some(id);
        let has_maker = self.layers.iter().any(|layer| layer.writes == id) || self.pushed == Some(id);
        has_maker
            && !is_input
            && !program.outputs.iter().any(is_port)
            && program.users(id).all(|step| self.steps.contains(&step))
            // One whose first use adds to what was there before the run.
            && self.layers.iter().all(|layer| {
                layer.rows.sources.iter().zip(layer.reads).all(|(source, read)| {
                    read != Some(id) || source.origin != RowOrigin::Whole
                })
            })
    }
}
