//! The way from a graph to a planned program.

use crate::error::Problem;
use crate::graph::Graph;
use crate::program::{Program, Storage, lower};
use crate::report::Figure;
use crate::{Config, limits, passes, plan, schedule};

/// A program with its memory plan: what every back end starts from.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The steps, buffers and constants.
    pub program: Program,
    /// Offset of every buffer in the workspace; 0 for the caller's.
    pub offsets: Vec<usize>,
    /// Size of the workspace in bytes.
    pub arena_bytes: usize,
    /// Least size that any plan for this order of steps can have.
    pub lower_bound: usize,
    /// Whether no smaller plan exists for this order of steps.
    pub proved: bool,
    /// Bytes of RAM as technique after technique is used.
    pub figures: Vec<Figure>,
}

/// Optimises, lowers and plans `graph`.
///
/// # Errors
///
/// All operators that no kernel computes, or a plan beyond the limits.
pub fn compile(mut graph: Graph, config: &Config) -> Result<Compiled, Vec<Problem>> {
    passes::run(&mut graph, config);
    let compiled = compile_as_is(&graph, config)?;
    let problems = limits::check(&graph, &compiled, config);
    if problems.is_empty() { Ok(compiled) } else { Err(problems) }
}

/// Lowers, orders and plans `graph` without any pass.
pub(crate) fn compile_as_is(graph: &Graph, config: &Config) -> Result<Compiled, Vec<Problem>> {
    let as_given = plan(lower(graph, config)?)?;
    let mut figures = Figure::without_order(&as_given.program);
    let compiled = in_best_order(as_given)?;
    figures.extend(Figure::with_order(&compiled));
    Ok(Compiled { figures, ..compiled })
}

/// The same steps in the order that needs the smallest workspace.
fn in_best_order(as_given: Compiled) -> Result<Compiled, Vec<Problem>> {
    let Some(program) = schedule::reorder(&as_given.program, |_| Vec::new()) else {
        return Ok(as_given);
    };
    let reordered = plan(program)?;
    // Less is alive at its peak; whether offsets can make use of it, the plans say.
    Ok(if reordered.arena_bytes < as_given.arena_bytes { reordered } else { as_given })
}

fn plan(program: Program) -> Result<Compiled, Vec<Problem>> {
    let mut problem = plan::Problem::new();
    let lifetimes = program.lifetimes();
    let places: Vec<Option<plan::BufferId>> = program
        .buffers
        .iter()
        .zip(&lifetimes)
        .map(|(buffer, lifetime)| {
            let planned = plan::Buffer::new(buffer.bytes, lifetime.start..lifetime.end);
            let planned = planned.aligned(buffer.alignment);
            (buffer.storage == Storage::Workspace).then(|| problem.add(planned))
        })
        .collect();
    let plan = plan::plan(&problem, plan::Planner::Optimal, &plan::Limits::default())
        .map_err(|error| vec![Problem::new(format!("the workspace cannot be planned: {error}"))])?;
    let offsets = places.iter().map(|place| place.map_or(0, |id| plan.offset(id))).collect();
    Ok(Compiled {
        program,
        offsets,
        arena_bytes: plan.size(),
        lower_bound: plan.lower_bound(),
        proved: plan.proved(),
        figures: Vec::new(),
    })
}
