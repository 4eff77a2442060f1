//! The way from a graph to a planned program.

use crate::error::Problem;
use crate::graph::Graph;
use crate::program::{Program, Storage, fuse_add, gaps, in_place, lower};
use crate::{Config, limits, passes, plan};

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
}

/// Optimises, lowers and plans `graph`.
///
/// # Errors
///
/// All operators that no kernel computes, or a plan beyond the limits.
pub fn compile(mut graph: Graph, config: &Config) -> Result<Compiled, Vec<Problem>> {
    passes::run(&mut graph, config);
    let compiled = compile_as_is(&graph, config)?;
    let problems = limits::check(&compiled, config);
    if problems.is_empty() { Ok(compiled) } else { Err(problems) }
}

/// Lowers and plans `graph` without any pass.
pub(crate) fn compile_as_is(graph: &Graph, config: &Config) -> Result<Compiled, Vec<Problem>> {
    let mut program = lower(graph, config)?;
    fuse_add(&mut program);
    in_place(&mut program);
    program.remove_unused_buffers();
    plan(program)
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
    for (buffers, gap) in gaps(&program, &lifetimes) {
        if let [Some(x), Some(y)] = buffers.map(|id| places[id.index()]) {
            problem.set_gap(y, x, gap);
        }
    }
    let plan = plan::plan(&problem, plan::Planner::Optimal, &plan::Limits::default())
        .map_err(|error| vec![Problem::new(format!("the workspace cannot be planned: {error}"))])?;
    let offsets = places.iter().map(|place| place.map_or(0, |id| plan.offset(id))).collect();
    Ok(Compiled {
        program,
        offsets,
        arena_bytes: plan.size(),
        lower_bound: plan.lower_bound(),
        proved: plan.proved(),
    })
}
