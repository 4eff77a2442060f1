//! The order of steps: of all that the data allows, one whose peak of memory is
//! least.
//!
//! A [`Problem`] states tensors and the steps that read and write them;
//! [`schedule`] returns a [`Schedule`]. The search is exact where the graph allows
//! it within a limit of effort, counted in steps tried and never in seconds, so
//! that every machine finds the same order; beyond the limit a beam search goes on.
//! [`reorder`] does it for a lowered [`Program`](crate::program::Program).
//!
//! How it gets far: the graph is divided at steps that come before or after all
//! others (`sections`); within a section, sets of done steps are explored in the
//! order of their peak (`exact`); and steps that can only help are taken without
//! a choice (`settle`).

mod beam;
mod bound;
mod exact;
mod position;
mod problem;
mod program;
mod sections;
mod settle;
mod step_set;

pub use problem::{Fault, Problem, Share, Step, Tensor};
pub use program::{Overlap, reorder};

use exact::Outcome;
use position::Position;
use sections::Section;

/// How far the search may go.
///
/// Counted in steps tried in some state, never in seconds, so that every machine
/// finds the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Steps that the search may try.
    pub nodes: u64,
}

impl Default for Limits {
    /// A fraction of a second when optimised.
    fn default() -> Self {
        Self { nodes: 4_200_000 }
    }
}

/// An order of the steps of a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Positions of the steps in the problem, in the order to run them.
    pub order: Vec<usize>,
    /// Most bytes that are alive during any step.
    pub peak: usize,
    /// No order has a lower peak than this.
    pub lower_bound: usize,
    /// Steps that the search tried.
    pub nodes: u64,
}

impl Schedule {
    /// Whether no order has a lower peak.
    #[must_use]
    pub fn proved(&self) -> bool {
        self.peak == self.lower_bound
    }
}

/// Finds an order with the least peak; the given one where none is better.
///
/// # Errors
///
/// When the problem contradicts itself.
pub fn schedule(problem: &Problem, limits: &Limits) -> Result<Schedule, Fault> {
    problem.check()?;
    let spans = problem.spans();
    let whole = Section::new(problem, &spans, 0..problem.steps.len());
    let loads = Position::start(&whole).loads();
    let mut parts: Vec<Part> = sections::divide(problem)
        .into_iter()
        .map(|range| Part { peak: loads[range.clone()].iter().copied().max().unwrap_or(0), range })
        .collect();
    // The part that decides first: most others are then good enough as they are.
    parts.sort_by_key(|part| (std::cmp::Reverse(part.peak), part.range.start));

    let mut result = Schedule {
        order: (0..problem.steps.len()).collect(),
        peak: 0,
        lower_bound: 0,
        nodes: whole.tried.get(),
    };
    let mut orders = Vec::new();
    for Part { range, peak } in &parts {
        if *peak <= result.peak {
            break;
        }
        let section = Section::new(problem, &spans, range.clone());
        let left = limits.nodes.saturating_sub(result.nodes);
        let found = improve(&section, *peak, result.peak, left);
        orders.push(found.order);
        result.peak = result.peak.max(found.peak);
        result.lower_bound = result.lower_bound.max(found.lower_bound);
        result.nodes += section.tried.get();
    }
    // Where another part decides after all, the given order does as well.
    for (Part { range, .. }, order) in parts.iter().zip(orders).filter(|(part, _)| part.peak > result.peak) {
        for (place, step) in result.order[range.clone()].iter_mut().zip(order) {
            *place = range.start + step;
        }
    }
    Ok(result)
}

/// Steps between two places that every order has in common.
struct Part {
    range: std::ops::Range<usize>,
    /// Most bytes alive during any of them in the given order.
    peak: usize,
}

/// The best order of a section; `peak` is that of the given order, and what is not
/// above `enough` needs no improvement.
fn improve(section: &Section, peak: usize, enough: usize, nodes: u64) -> Schedule {
    let lower_bound = bound::least_peak(section);
    let given = Schedule { order: (0..section.steps.len()).collect(), peak, lower_bound, nodes: 0 };
    let floor = lower_bound.max(enough);
    if peak <= floor {
        return given;
    }
    let goal = Goal { floor, below: peak };
    // Below `enough` nothing is looked for, so nothing is known.
    let known = |searched: usize| if searched > enough { searched } else { lower_bound };
    // What ends at all ends early. Something is left for the sections after this one.
    match exact::search(section, goal, nodes / 4) {
        Outcome::Least(Order { steps, peak }) => {
            Schedule { order: steps, peak, lower_bound: known(peak), ..given }
        }
        Outcome::NoneBetter => Schedule { lower_bound: peak, ..given },
        Outcome::Unknown { lower_bound } => {
            let given = Schedule { lower_bound: known(lower_bound), ..given };
            match beam::search(section, goal, section.tried.get() + nodes / 2) {
                Some(Order { steps, peak }) => Schedule { order: steps, peak, ..given },
                None => given,
            }
        }
    }
}

/// What a search of a section looks for.
#[derive(Clone, Copy)]
struct Goal {
    /// A peak that is good enough: nothing lower is possible, or is of any use.
    floor: usize,
    /// Only a lower peak than this is of any use.
    below: usize,
}

/// An order of the steps of a section.
struct Order {
    steps: Vec<usize>,
    peak: usize,
}
