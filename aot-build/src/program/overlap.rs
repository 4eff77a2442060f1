//! Steps that may write their result over their dying operand.

use std::collections::BTreeSet;

use aot_rt::kernels::{Kind, Mode};

use super::{BufferId, Lifetime, Operand, Program, Step, Storage, View};
use crate::plan::Gap;
use crate::schedule;

/// Bytes on the stack for a cell of a result that overlaps its operand: a step with
/// larger cells keeps its tensors apart.
const MOST_CELL_BYTES: usize = 1024;

/// For every step or run that may overlap in the workspace: the buffers of `x` and `y`, and
/// the gap that `y` and `x` keep.
pub(crate) fn gaps(program: &Program, lifetimes: &[Lifetime]) -> Vec<([BufferId; 2], Gap)> {
    let steps = program.steps.iter().enumerate().filter(|(i, _)| program.layer(*i).is_none());
    let steps = steps.filter_map(|(i, step)| gap(program, lifetimes, i, step));
    steps.chain(program.runs.iter().flat_map(|run| run.gaps(program, lifetimes))).collect()
}

fn gap(program: &Program, lifetimes: &[Lifetime], i: usize, step: &Step) -> Option<([BufferId; 2], Gap)> {
    let (buffers, gap) = possible_gap(program, step)?;
    let [x, y] = buffers.map(|id| lifetimes[id.index()]);
    (x.end == i + 1 && y.start == i).then_some((buffers, gap))
}

/// The buffers of `x` and `y`, and the gap that `y` and `x` keep where `x` dies with the
/// step and `y` is new.
fn possible_gap(program: &Program, step: &Step) -> Option<([BufferId; 2], Gap)> {
    let (Kind::Window, [Operand::Buffer(x), Operand::Buffer(y), ..]) = (step.kind(), &step.operands[..])
    else {
        return None;
    };
    let (window, channels) = step.window()?;
    // Weights that are no constant are read to the end.
    if step.window_weights().any(|view| view.buffer == x.buffer) {
        return None;
    }
    // The caller's arrays lie apart from all others.
    if ![x, y].into_iter().all(|view| program.in_workspace(view.buffer)) {
        return None;
    }
    let most = program.cell_limit.unwrap_or(MOST_CELL_BYTES);
    if !program.is_whole(*x) || !program.is_whole(*y) || channels[1] * y.dtype.size() > most {
        return None;
    }
    let distances = window.distances(channels);
    let bytes = |elements: isize| elements as i64 * y.dtype.size() as i64;
    let gap = Gap { below: bytes(distances.forward), above: bytes(distances.backward) };
    Some(([x.buffer, y.buffer], gap))
}

/// Bytes of the cells that steps compute on the stack, each size once, the smallest first.
pub(crate) fn cells(program: &Program, offsets: &[usize]) -> BTreeSet<usize> {
    let start =
        |view: View| program.in_workspace(view.buffer).then(|| offsets[view.buffer.index()] + view.offset);
    let steps = program.steps.iter().enumerate().filter(|(i, _)| program.layer(*i).is_none());
    let overlapping = steps.filter(|(_, step)| matches!(step.mode(start), Mode::Overlapping(_)));
    overlapping.filter_map(|(_, step)| Some(step.window()?.1[1] * step.operands[1].dtype().size())).collect()
}

/// What a step's result may share with its operand, for the search of an order.
pub(crate) fn overlap(program: &Program, step: &Step) -> Option<schedule::Overlap> {
    let ([read, written], gap) = possible_gap(program, step)?;
    let bytes = shared(program.buffer(read).bytes, program.buffer(written).bytes, gap);
    Some(schedule::Overlap { read, written, bytes })
}

/// Most bytes of the workspace that are alive at once, less what the best overlap of the
/// step saves.
pub(crate) fn overlapped_load(program: &Program) -> usize {
    let lifetimes = program.lifetimes();
    let (loads, savings) = (loads(program, &lifetimes), savings(program, &lifetimes));
    loads.iter().zip(savings).map(|(load, saving)| load - saving).max().unwrap_or(0)
}

/// Bytes that the best overlap saves at each step, and after the last.
pub(crate) fn savings(program: &Program, lifetimes: &[Lifetime]) -> Vec<usize> {
    let mut savings = vec![0; program.steps.len() + 1];
    for (buffers, gap) in gaps(program, lifetimes) {
        let [x, y] = buffers.map(|id| program.buffer(id).bytes);
        let [dies, born] = buffers.map(|id| lifetimes[id.index()]);
        for saving in &mut savings[born.start..dies.end] {
            *saving = shared(x, y, gap).max(*saving);
        }
    }
    savings
}

/// Bytes of the workspace that are alive at each step, and after the last.
pub(crate) fn loads(program: &Program, lifetimes: &[Lifetime]) -> Vec<usize> {
    // Bytes that become alive, and bytes that no longer are.
    let mut changes = vec![(0, 0); program.steps.len() + 2];
    for (buffer, lifetime) in program.buffers.iter().zip(lifetimes) {
        if buffer.storage == Storage::Workspace {
            changes[lifetime.start].0 += buffer.bytes;
            changes[lifetime.end].1 += buffer.bytes;
        }
    }
    let alive = changes.iter().scan(0, |alive, (born, dead)| {
        *alive = *alive + born - dead;
        Some(*alive)
    });
    alive.take(program.steps.len() + 1).collect()
}

/// Bytes that an operand and a result share at most, when the result and the operand
/// keep `gap`.
pub(crate) fn shared(operand: usize, result: usize, gap: Gap) -> usize {
    let (operand, result) = (operand as i64, result as i64);
    let forward = operand.min(result).min(result - gap.below);
    let backward = operand.min(result).min(operand - gap.above);
    usize::try_from(forward.max(backward)).unwrap_or(0)
}

/// The region that holds two views which start where `start` says: its first byte, and
/// its bytes.
pub(crate) fn overlapped(views: [View; 2], start: impl Fn(View) -> usize) -> [usize; 2] {
    let first = views.map(&start).into_iter().fold(usize::MAX, usize::min);
    let end = views.map(|view| start(view) + view.bytes()).into_iter().fold(0, usize::max);
    [first, end - first]
}

impl Step {
    /// Weights and bias of a step whose kernel moves a window, as far as they are no
    /// constants: every row needs all of them.
    pub(crate) fn window_weights(&self) -> impl Iterator<Item = View> {
        let has_window = self.window().is_some();
        self.operands.iter().skip(2).filter(move |_| has_window).filter_map(|operand| match operand {
            Operand::Buffer(view) => Some(*view),
            Operand::Constant(_) => None,
        })
    }

    /// How the kernel is called when the workspace's views start where `start` says;
    /// `None` stands for the caller's buffers, which lie apart from all others.
    pub(crate) fn mode(&self, start: impl Fn(View) -> Option<usize>) -> Mode {
        let [Operand::Buffer(x), Operand::Buffer(y), ..] = self.operands[..] else { return Mode::Apart };
        if x == y && self.kind() == Kind::Elementwise {
            return Mode::InPlace;
        }
        let (Kind::Window, Some(x_start), Some(y_start)) = (self.kind(), start(x), start(y)) else {
            return Mode::Apart;
        };
        if x_start + x.bytes() <= y_start || y_start + y.bytes() <= x_start {
            return Mode::Apart;
        }
        let place = [x_start, y_start].map(|at| (at - x_start.min(y_start)) / y.dtype.size());
        let overlap = self.window().and_then(|(window, channels)| window.overlap(channels, place));
        // A plan that no order of access allows is refused where regions are handed out.
        overlap.map_or(Mode::Apart, Mode::Overlapping)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::sketch::{Sketch, f32_type};
    use crate::ops::{AveragePool2d, Concatenation, Mean, Padding2d};
    use crate::{Config, compile};

    fn pool() -> AveragePool2d {
        let (window, stride, activation) = ([3, 3], [1, 1], Default::default());
        AveragePool2d { window, stride, padding: Padding2d::Same, activation }
    }

    /// At the peak, the result must take the place of the operand; the wide cells behind it need
    /// not, and so take nothing of the stack.
    #[test]
    fn cells_on_the_stack_are_no_larger_than_the_workspace_needs() {
        let mut sketch = Sketch::new();
        let image = sketch.input("image", f32_type([1, 8, 8, 16]));
        let pooled = sketch.node("pooled", pool(), &[image]);
        let mean = sketch.node("mean", Mean { axes: vec![1, 2], keep_dimensions: true }, &[pooled]);
        let mut x = sketch.node("wide", Concatenation { axis: 3 }, &[mean; 4]);
        for name in ["first", "second", "third"] {
            x = sketch.node(name, pool(), &[x]);
        }
        let compiled = compile(sketch.finish(&[x]), &Config::default()).unwrap();
        assert!(compiled.proved && compiled.arena_bytes < 2 * 8 * 8 * 16 * 4);
        assert_eq!(cells(&compiled.program, &compiled.offsets), [16 * 4].into());
    }
}
