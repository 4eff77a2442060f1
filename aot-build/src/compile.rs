//! The way from a graph to a planned program.

use crate::config::{InputPlacement, Memory};
use crate::error::{Location, Problem};
use crate::graph::Graph;
use crate::program::{BufferId, Program, Storage, fuse_add, gaps, in_place, lower};
use crate::streaming::{self, Goal};
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
    if config.memory == Memory::Min {
        return streamed(program, Goal::Least, config);
    }
    let Some(limit) = config.ram_limit else { return streamed(program, Goal::Pushed, config) };
    let compiled = streamed(program.clone(), Goal::Pushed, config)?;
    if compiled.arena_bytes <= limit {
        return Ok(compiled);
    }
    let smaller = streamed(program, Goal::Within(limit), config)?;
    Ok(if smaller.arena_bytes < compiled.arena_bytes { smaller } else { compiled })
}

/// Makes runs of the steps, as far as `goal` asks for, and plans.
fn streamed(mut program: Program, goal: Goal, config: &Config) -> Result<Compiled, Vec<Problem>> {
    let pushed = if config.inputs == InputPlacement::Rows { Some(pushed_input(&program)?) } else { None };
    streaming::stream(&mut program, goal, pushed).map_err(|step| {
        let message = format!("the input cannot be pushed row by row: step `{step}` needs all of it");
        vec![Problem::new(message).at(Location::Key("inputs".into()))]
    })?;
    plan(program, config.planner)
}

/// The buffer of the input that is pushed.
fn pushed_input(program: &Program) -> Result<BufferId, Vec<Problem>> {
    match &program.inputs[..] {
        [input] => Ok(input.view.buffer),
        inputs => {
            let message = format!("rows can be pushed of one input, the model has {}", inputs.len());
            Err(vec![Problem::new(message).at(Location::Key("inputs".into()))])
        }
    }
}

pub(crate) fn plan(program: Program, planner: plan::Planner) -> Result<Compiled, Vec<Problem>> {
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
    let plan = plan::plan(&problem, planner, &plan::Limits::default())
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
