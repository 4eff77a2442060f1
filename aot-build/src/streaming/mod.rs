//! Row streaming: runs of layers that execute row by row, with rings of rows instead of
//! tensors between them.
//!
//! ```text
//! x ── conv2d ── t ── depthwise_conv2d ── u ── conv2d ── y
//! ```
//!
//! One after the other, the layers keep `x` and `t`, then `t` and `u`, then `u` and `y`.
//! As a run, they keep `x`, three rows of `t`, one row of `u`, and `y`, which may grow
//! into what has been read of `x`. Every row is computed once; but the weights of a
//! layer are read once a row. Which steps become runs is chosen by [`cuts`].

mod candidate;
mod cuts;
mod global_pools;
mod kernels;
mod simulate;

#[cfg(test)]
mod tests;

use std::ops::Range;

use aot_rt::kernels::RowOrigin;
use candidate::Candidate;

use crate::program::{BufferId, Operand, Program, Pushed, Run, Work};

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// Runs only where the caller pushes rows.
    Pushed,
    /// As few bytes as possible.
    Least,
    /// As few rows as possible, within so many bytes.
    Within(usize),
}

/// Makes runs of the steps of `program`. `pushed` is the input that the caller pushes in
/// rows, if there is one; `rows` may be computed in simulation to find out what helps.
///
/// # Errors
///
/// When the input that is to be pushed is not read row by row: the name of the step that
/// needs all of it.
pub(crate) fn stream(
    program: &mut Program,
    goal: Goal,
    pushed: Option<BufferId>,
    rows: u64,
) -> Result<(), String> {
    let pushed_rows = pushed.map(|id| program.buffer(id).bytes);
    let mut cut = cuts::choose(program, goal, pushed, rows)?;
    // A mean that is divided takes room for its sums: only where that pays.
    if goal != Goal::Pushed
        && let Some(divided) = global_pools::divided(program)
        && let Ok(other) = cuts::choose(&divided, goal, pushed, rows)
        && other.bytes < cut.bytes
    {
        (*program, cut) = (divided, other);
    }
    let users = program.users();
    for range in cut.runs {
        let candidate = Candidate::new(program, range.clone(), pushed);
        let Some(measured) = candidate.and_then(|candidate| candidate.measure(program, &users)) else {
            continue;
        };
        program.runs.push(measured.run);
        for (buffer, bytes) in measured.rings {
            shrink(program, buffer, bytes);
        }
        divide(program, range);
    }
    if let (Some(id), Some(bytes)) = (pushed, pushed_rows) {
        program.pushed = Some(pushed_input(program, id, bytes)?);
    }
    Ok(())
}

/// How the input is pushed that had `bytes` before it became a ring.
fn pushed_input(program: &Program, id: BufferId, bytes: usize) -> Result<Pushed, String> {
    let first = program.runs.first().filter(|run| run.first == 0);
    let sources = first.iter().flat_map(|run| &run.layers).flat_map(|layer| layer.rows.sources);
    let rows = sources.filter(|source| source.origin == RowOrigin::Pushed).map(|source| source.rows).next();
    let Some(rows) = rows else {
        return Err(program.steps.first().map_or(String::new(), |step| step.name.clone()));
    };
    Ok(Pushed { rows, ring: program.buffer(id).bytes / (bytes / rows) })
}

/// Makes a buffer a ring of so many bytes.
fn shrink(program: &mut Program, buffer: BufferId, bytes: usize) {
    for view in program.views_mut().filter(|view| view.buffer == buffer) {
        view.len = bytes / view.dtype.size();
    }
    program.buffers[buffer.index()].bytes = bytes;
}

/// Lets the elementwise kernels of the last run work on a row.
fn divide(program: &mut Program, range: Range<usize>) {
    let Program { runs, steps, .. } = program;
    let Some(Run { layers, .. }) = runs.last() else { return };
    for (step, layer) in steps[range].iter_mut().zip(layers) {
        if let Some(kernel) = step.kernel().and_then(|kernel| kernels::divided(kernel, layer.rows.rows)) {
            step.work = Work::Kernel(kernel);
        }
    }
}

/// The buffer of an operand.
fn buffer(operand: Option<&Operand>) -> Option<BufferId> {
    match operand {
        Some(Operand::Buffer(view)) => Some(view.buffer),
        _ => None,
    }
}
