//! Chooses which steps become runs.
//!
//! The steps are cut into runs and single steps, in order. What a part costs depends on
//! itself alone: so the best cut of the first `n` steps extends a best cut of fewer.

use std::cell::Cell;
use std::ops::Range;

use super::Goal;
use super::candidate::Candidate;
use crate::program::{BufferId, Lifetime, Program, Storage, loads, savings, shared};

/// Most layers of a run.
const LONGEST: usize = 64;

/// A part of the steps.
#[derive(Clone)]
struct Part {
    steps: Range<usize>,
    /// Bytes that are alive at once, less the best overlap.
    bytes: usize,
    /// Bytes of weights that are read, each row.
    traffic: u64,
    is_run: bool,
}

/// How the steps are cut.
pub(super) struct Cut {
    /// The parts that become runs.
    pub(super) runs: Vec<Range<usize>>,
    /// Most bytes that are alive at once.
    pub(super) bytes: usize,
}

/// The cut that reaches the goal. All candidates together may compute `rows` in simulation:
/// counted, not timed, so that every machine cuts alike; what is not looked at any more is
/// no run.
///
/// # Errors
///
/// The name of the first step that reads the pushed input, when it needs all of it.
pub(super) fn choose(
    program: &Program,
    goal: Goal,
    pushed: Option<BufferId>,
    rows: u64,
) -> Result<Cut, String> {
    let parts = parts(program, goal, pushed, rows);
    if let Some(pushed) = pushed
        && cut(&parts, program.steps.len(), usize::MAX).is_none()
    {
        let user = program.users()[pushed.index()].first().map_or("", |step| &program.steps[*step].name);
        return Err(user.to_owned());
    }
    let limit = match goal {
        Goal::Pushed => usize::MAX,
        Goal::Least => least(&parts, program.steps.len()),
        Goal::Within(bytes) => bytes.max(least(&parts, program.steps.len())),
    };
    let parts = cut(&parts, program.steps.len(), limit).unwrap_or_default();
    let bytes = parts.iter().map(|part| part.bytes).max().unwrap_or(0);
    Ok(Cut { runs: parts.into_iter().filter(|part| part.is_run).map(|part| part.steps).collect(), bytes })
}

/// All parts that the steps can be cut into, by their last step.
fn parts(program: &Program, goal: Goal, pushed: Option<BufferId>, rows: u64) -> Vec<Part> {
    let costs = Costs::new(program, rows);
    let mut parts = Vec::new();
    for start in 0..program.steps.len() {
        let single = start..start + 1;
        let uses_pushed =
            |step: usize| program.steps[step].buffers().any(|(view, _)| Some(view.buffer) == pushed);
        let is_plain = program.steps[start].kind() != aot_rt::kernels::Kind::Reducing;
        if is_plain && !uses_pushed(start) {
            parts.push(costs.step(start));
        }
        if goal == Goal::Pushed && !uses_pushed(start) {
            continue;
        }
        let mut candidate = Candidate::new(program, single, pushed);
        while let Some(current) = candidate.take() {
            let outside = |step: &usize| !current.steps.contains(step);
            let owns_input = pushed.is_none_or(|id| {
                !current.steps.clone().any(uses_pushed)
                    || costs.users[id.index()].iter().all(|step| !outside(step))
            });
            if owns_input && let Some(part) = costs.run(&current) {
                parts.push(part);
            }
            if current.layers.len() < LONGEST {
                candidate = current.with_next(program);
            }
        }
    }
    parts.sort_by_key(|part| (part.steps.end, part.steps.start));
    parts
}

/// The least peak of all cuts.
fn least(parts: &[Part], steps: usize) -> usize {
    let mut best = vec![usize::MAX; steps + 1];
    best[0] = 0;
    for part in parts {
        let bytes = best[part.steps.start].max(part.bytes);
        best[part.steps.end] = best[part.steps.end].min(bytes);
    }
    best[steps]
}

/// The cut with the least traffic among those that stay within `limit`.
fn cut(parts: &[Part], steps: usize, limit: usize) -> Option<Vec<Part>> {
    let mut best: Vec<Option<(u64, usize)>> = vec![None; steps + 1];
    best[0] = Some((0, usize::MAX));
    for (i, part) in parts.iter().enumerate().filter(|(_, part)| part.bytes <= limit) {
        let Some((traffic, _)) = best[part.steps.start] else { continue };
        let traffic = traffic + part.traffic;
        if best[part.steps.end].is_none_or(|(least, _)| traffic < least) {
            best[part.steps.end] = Some((traffic, i));
        }
    }
    let mut chosen = Vec::new();
    let mut end = steps;
    while end > 0 {
        let part = &parts[best[end]?.1];
        chosen.push(part.clone());
        end = part.steps.start;
    }
    chosen.reverse();
    Some(chosen)
}

/// What parts cost.
struct Costs<'p> {
    program: &'p Program,
    lifetimes: Vec<Lifetime>,
    users: Vec<Vec<usize>>,
    /// Bytes of the workspace that are alive at each step.
    loads: Vec<usize>,
    /// Bytes of the workspace that become alive with each step or one before it.
    born: Vec<usize>,
    /// Bytes that the overlap of each step saves.
    savings: Vec<usize>,
    /// Rows that may still be simulated.
    rows_left: Cell<u64>,
}

impl<'p> Costs<'p> {
    fn new(program: &'p Program, rows: u64) -> Self {
        let lifetimes = program.lifetimes();
        let mut born = vec![0; program.steps.len() + 1];
        for (buffer, lifetime) in program.buffers.iter().zip(&lifetimes) {
            if buffer.storage == Storage::Workspace {
                born[lifetime.start] += buffer.bytes;
            }
        }
        let mut sum = 0;
        for born in &mut born {
            sum += *born;
            *born = sum;
        }
        let (loads, savings) = (loads(program, &lifetimes), savings(program, &lifetimes));
        let users = program.users();
        Self { program, lifetimes, users, loads, born, savings, rows_left: Cell::new(rows) }
    }

    /// Bytes of the workspace's buffers that are alive during `steps`.
    fn alive(&self, steps: &Range<usize>) -> usize {
        self.loads[steps.start] + self.born[steps.end - 1] - self.born[steps.start]
    }

    fn step(&self, step: usize) -> Part {
        let steps = step..step + 1;
        let bytes = self.alive(&steps) - self.savings[step];
        Part { bytes, traffic: self.weights(step), is_run: false, steps }
    }

    fn run(&self, candidate: &Candidate) -> Option<Part> {
        let rows: u64 = candidate.layers.iter().map(|layer| layer.rows.rows as u64).sum();
        self.rows_left.set(self.rows_left.get().checked_sub(rows)?);
        let measured = candidate.measure(self.program, &self.users)?;
        let steps = candidate.steps.clone();
        let rings: usize = measured.rings.iter().map(|(_, bytes)| bytes).sum();
        let whole: usize = measured.rings.iter().map(|(id, _)| self.program.buffer(*id).bytes).sum();
        let saving = measured.run.gaps(self.program, &self.lifetimes).map(|(buffers, gap)| {
            let [operand, result] = buffers.map(|id| self.program.buffer(id).bytes);
            shared(operand, result, gap)
        });
        let bytes = rings + self.alive(&steps) - whole - saving.max().unwrap_or(0);
        let layers = candidate.layers.iter().zip(steps.clone());
        let traffic = layers.map(|(layer, step)| layer.rows.rows as u64 * self.weights(step)).sum();
        Some(Part { steps, bytes, traffic, is_run: true })
    }

    /// Bytes of the constants that a step reads; at least 1, so that fewer layers in runs
    /// are better than more.
    fn weights(&self, step: usize) -> u64 {
        1 + self.program.steps[step].constant_bytes() as u64
    }
}
