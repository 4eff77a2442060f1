//! The way from a graph to a planned program.

use std::num::NonZeroU64;

use crate::config::{InputPlacement, Memory};
use crate::error::{Location, Problem};
use crate::graph::Graph;
use crate::passes::DeadChannels;
use crate::program::{BufferId, Operand, Program, Step, blocks, fuse_add, gaps, in_place, lower, overlap};
use crate::report::Figure;
use crate::streaming::{self, Goal};
use crate::{Config, limits, passes, plan, schedule};

/// Steps that the search for an order tries in the time that the search for places takes for
/// one of its states.
const STATE_COST: u64 = 6;

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
    /// Channels that were removed since nothing depends on them.
    pub dead_channels: DeadChannels,
    /// Bytes of RAM as technique after technique is used.
    pub figures: Vec<Figure>,
}

/// Optimises, lowers and plans `graph`.
///
/// # Errors
///
/// All operators that no kernel computes, or a plan beyond the limits.
pub fn compile(mut graph: Graph, config: &Config) -> Result<Compiled, Vec<Problem>> {
    graph.keep(&config.keep)?;
    let dead_channels = passes::run(&mut graph, config);
    let compiled = Compiled { dead_channels, ..compile_as_is(&graph, config)? };
    let problems = limits::check(&graph, &compiled, config);
    if problems.is_empty() { Ok(compiled) } else { Err(problems) }
}

/// Lowers, orders and plans `graph` without any pass.
pub(crate) fn compile_as_is(graph: &Graph, config: &Config) -> Result<Compiled, Vec<Problem>> {
    let program = lower(graph, config)?;
    let mut figures = Figure::of_lowered(&program);
    let mut compiled = arrange(program, config)?;
    compiled.program.steps.iter_mut().for_each(Step::name_nested);
    figures.append(&mut compiled.figures);
    Ok(Compiled { figures, ..compiled })
}

/// Shares memory between the tensors of a lowered program, orders its steps, and plans.
pub(crate) fn arrange(mut program: Program, config: &Config) -> Result<Compiled, Vec<Problem>> {
    fuse_add(&mut program);
    in_place(&mut program);
    program.remove_unused_buffers();
    let mut figures = Figure::of_buffers(&program);
    let compiled = in_best_order(program, config)?;
    figures.extend(Figure::of_compiled(&compiled));
    Ok(Compiled { figures, ..compiled })
}

/// The program in the order that needs the smallest workspace; row by row as far as the
/// configuration asks for.
fn in_best_order(program: Program, config: &Config) -> Result<Compiled, Vec<Problem>> {
    let limits = schedule::Limits { nodes: config.search_limit };
    let reordered =
        schedule::reorder(&program, &limits, |step| overlap(&program, step).into_iter().collect());
    let orders: Vec<Program> = std::iter::once(program).chain(reordered).collect();
    let best = |goal: Goal| -> Result<Compiled, Vec<Problem>> {
        let mut best: Option<Compiled> = None;
        for order in &orders {
            let compiled = streamed(order.clone(), goal, config)?;
            // Less is alive at the peak; whether offsets can make use of it, the plans say.
            if best.as_ref().is_none_or(|best| compiled.arena_bytes < best.arena_bytes) {
                best = Some(compiled);
            }
        }
        Ok(best.expect("there is the given order"))
    };
    if config.memory == Memory::Min {
        return best(Goal::Least);
    }
    let compiled = best(Goal::Pushed)?;
    let Some(limit) = config.ram_limit.filter(|limit| compiled.arena_bytes > *limit) else {
        return Ok(compiled);
    };
    let smaller = best(Goal::Within(limit))?;
    Ok(if smaller.arena_bytes < compiled.arena_bytes { smaller } else { compiled })
}

/// Makes runs of the steps, as far as `goal` asks for, and plans.
fn streamed(mut program: Program, goal: Goal, config: &Config) -> Result<Compiled, Vec<Problem>> {
    let pushed = if config.inputs == InputPlacement::Rows { Some(pushed_input(&program)?) } else { None };
    let most = config.max_step_macs.map(NonZeroU64::get);
    if let Some(limit) = most {
        blocks::divide_products(&mut program, limit);
    }
    streaming::stream(&mut program, goal, pushed, config.search_limit).map_err(|step| {
        let message = format!("the input cannot be pushed row by row: step `{step}` needs all of it");
        vec![Problem::new(message).at(Location::Key("inputs".into()))]
    })?;
    if let Some(limit) = most {
        blocks::divide_into_rows(&mut program, limit);
    }
    // A state of this search costs as much as some of the other's.
    let limits = plan::Limits { nodes: config.search_limit / STATE_COST, ..plan::Limits::default() };
    plan(program, config.planner, &limits)
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

pub(crate) fn plan(
    program: Program,
    planner: plan::Planner,
    limits: &plan::Limits,
) -> Result<Compiled, Vec<Problem>> {
    let (problem, places) = problem(&program, |id| (program.buffer(id).bytes, program.buffer(id).alignment));
    let plan = plan::plan(&problem, planner, limits).map_err(unplanned)?;
    let offsets = places.iter().map(|place| place.map_or(0, |id| plan.offset(id))).collect();
    let (mut lower_bound, mut proved) = (plan.lower_bound(), plan.proved());
    if program.has_control() {
        // The search takes the memory of regions for pieces that cannot be divided.
        lower_bound = least(&program)?;
        proved = plan.size() == lower_bound;
    }
    Ok(Compiled {
        program,
        offsets,
        arena_bytes: plan.size(),
        lower_bound,
        proved,
        dead_channels: DeadChannels::default(),
        figures: Vec::new(),
    })
}

/// What is to be planned: the buffers of the workspace, with the bytes and the alignment that
/// `sizes` gives them; and what each has become.
fn problem(
    program: &Program,
    sizes: impl Fn(BufferId) -> (usize, usize),
) -> (plan::Problem, Vec<Option<plan::BufferId>>) {
    let mut problem = plan::Problem::new();
    let lifetimes = program.lifetimes();
    let places: Vec<Option<plan::BufferId>> = program
        .ids()
        .zip(&lifetimes)
        .map(|(id, lifetime)| {
            let (bytes, alignment) = sizes(id);
            let planned = plan::Buffer::new(bytes, lifetime.start..lifetime.end).aligned(alignment);
            program.in_workspace(id).then(|| problem.add(planned))
        })
        .collect();
    for (buffers, gap) in gaps(program, &lifetimes) {
        if let [Some(x), Some(y)] = buffers.map(|id| places[id.index()]) {
            problem.set_gap(y, x, gap);
        }
    }
    (problem, places)
}

/// Bytes that the workspace needs at least, wherever the tensors within regions lie.
fn least(program: &Program) -> Result<usize, Vec<Problem>> {
    let mut sizes: Vec<_> = program.buffers.iter().map(|buffer| (buffer.bytes, buffer.alignment)).collect();
    for step in &program.steps {
        if let Some(least) = step.control().and_then(|control| control.least_scratch)
            && let Some(Operand::Buffer(scratch)) = step.operands.last()
        {
            sizes[scratch.buffer.index()] = (least, 1);
        }
    }
    let (problem, _) = problem(program, |id| sizes[id.index()]);
    // Of a plan that nothing is searched for, the bound is the sum of what is alive.
    let plan = plan::plan(&problem, plan::Planner::GreedyBySize, &plan::Limits::default());
    plan.map(|plan| plan.lower_bound()).map_err(unplanned)
}

/// The same of a region.
pub(crate) fn least_bytes(region: &Compiled) -> usize {
    least(&region.program).unwrap_or(0)
}

fn unplanned(error: plan::PlanError) -> Vec<Problem> {
    vec![Problem::new(format!("the workspace cannot be planned: {error}"))]
}
