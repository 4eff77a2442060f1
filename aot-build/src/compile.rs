//! The way from a graph to a planned program.

use std::num::NonZeroU64;

use crate::config::{InputPlacement, Memory, Pool};
use crate::error::{Location, Problem};
use crate::graph::Graph;
use crate::passes::DeadChannels;
use crate::program::{
    BufferId, Operand, PlacedPool, Program, Step, blocks, cells, copy_between_pools, distribute, fuse_add,
    in_place, lower, overlap,
};
use crate::report::Figure;
use crate::streaming::{self, Goal};
use crate::{Config, devices, limits, passes, plan, schedule, workspace};

/// Steps that the search for an order tries in the time that the search for places takes for
/// one of its states.
const STATE_COST: u64 = 6;

/// A program with its memory plan: what every back end starts from.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The steps, buffers and constants.
    pub program: Program,
    /// Offset of every buffer in the workspace; 0 for the caller's. Where there are several pools,
    /// they lie one behind the other, each from its [`start`](PlacedPool::start) on.
    pub offsets: Vec<usize>,
    /// Size of the workspace in bytes: of all its pools that the CPU reaches.
    pub arena_bytes: usize,
    /// The pools of the workspace.
    pub workspaces: Vec<PlacedPool>,
    /// The pools of the constants, which lie one behind the other in the blob.
    pub constant_pools: Vec<PlacedPool>,
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
    let problems = config.check_pools();
    if !problems.is_empty() {
        return Err(problems);
    }
    graph.keep(&config.keep)?;
    let names = devices::Names::of(&graph);
    let dead_channels = passes::run(&mut graph, config);
    let problems = devices::check(&names, &graph, config);
    if !problems.is_empty() {
        return Err(problems);
    }
    let compiled = Compiled { dead_channels, ..compile_as_is(&graph, config)? };
    let problems = limits::check(&graph, &compiled, config);
    if problems.is_empty() { Ok(compiled) } else { Err(problems) }
}

/// Lowers, orders and plans `graph` without any pass.
pub(crate) fn compile_as_is(graph: &Graph, config: &Config) -> Result<Compiled, Vec<Problem>> {
    let mut program = lower(graph, config)?;
    copy_between_pools(&mut program, &config.workspaces(), &[]);
    let mut figures = Figure::of_lowered(&program);
    let mut compiled = arrange(program, config)?;
    compiled.program.steps.iter_mut().for_each(Step::name_nested);
    compiled.constant_pools = distribute(&mut [&mut compiled.program], &config.constant_pools())?;
    figures.append(&mut compiled.figures);
    Ok(Compiled { figures, ..compiled })
}

/// Shares memory between the tensors of a lowered program, orders its steps, and plans.
pub(crate) fn arrange(mut program: Program, config: &Config) -> Result<Compiled, Vec<Problem>> {
    let pools = config.workspaces();
    fuse_add(&mut program, &pools);
    in_place(&mut program, &pools);
    program.remove_unused_buffers();
    let mut figures = Figure::of_buffers(&program);
    let compiled = with_small_cells(in_best_order(program, config)?, config)?;
    figures.extend(Figure::of_compiled(&compiled));
    Ok(Compiled { figures, ..compiled })
}

/// Cells of a result that take little of the stack.
const SMALL_CELL: usize = 32;

/// The program with those results over their operands that the size of the workspace needs: each
/// takes the stack for one of its cells. Up to the smallest cell size that will do.
fn with_small_cells(compiled: Compiled, config: &Config) -> Result<Compiled, Vec<Problem>> {
    let cells = cells(&compiled.program, &compiled.offsets);
    let mut limits: Vec<_> =
        std::iter::once(SMALL_CELL).chain(cells.range(SMALL_CELL + 1..).copied()).collect();
    // The plan is what the largest one allows.
    limits.pop();
    let mut best = compiled;
    while !limits.is_empty() {
        let middle = limits.len() / 2;
        let program = Program { cell_limit: Some(limits[middle]), ..best.program.clone() };
        let smaller = plan(program, &config.workspaces(), config.planner, &plan_limits(config))?;
        if smaller.needs() <= best.needs() {
            let Compiled { lower_bound, proved, figures, .. } = best;
            best = Compiled { lower_bound, proved, figures, ..smaller };
            limits.truncate(middle);
        } else {
            limits.drain(..=middle);
        }
    }
    Ok(best)
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
            if best.as_ref().is_none_or(|best| compiled.is_better_than(best)) {
                best = Some(compiled);
            }
        }
        Ok(best.expect("there is the given order"))
    };
    if config.memory == Memory::Min {
        return best(Goal::Least);
    }
    let compiled = best(Goal::Pushed)?;
    let limit = config.workspace_limit().filter(|limit| compiled.arena_bytes > *limit);
    if limit.is_none() && compiled.needs().0 == 0 {
        return Ok(compiled);
    }
    let smaller = best(limit.map_or(Goal::Least, Goal::Within))?;
    Ok(if smaller.is_better_than(&compiled) { smaller } else { compiled })
}

impl Compiled {
    /// Bytes from the start of the first pool of the workspace to the end of the last.
    pub(crate) fn span(&self) -> usize {
        self.workspaces.last().map_or(0, |pool| pool.start + pool.bytes)
    }

    /// Whether it exceeds the limits of pools less than another, or needs less memory.
    fn is_better_than(&self, other: &Self) -> bool {
        self.needs() < other.needs()
    }

    /// Bytes beyond the limits of pools, bytes of RAM, and of memory that devices have.
    fn needs(&self) -> (usize, usize, usize) {
        workspace::needs(&self.workspaces)
    }

    /// Where an operand is in memory of devices that the CPU does not reach, if it is there: the
    /// pool, and the byte there.
    pub(crate) fn in_device_memory(&self, operand: Operand) -> Option<(&PlacedPool, usize)> {
        let Operand::Buffer(view) = operand else { return None };
        // What has no bytes is nowhere.
        if view.len == 0 || !self.program.in_workspace(view.buffer) {
            return None;
        }
        let address = self.offsets[view.buffer.index()] + view.offset;
        let pool = &self.workspaces[PlacedPool::at(&self.workspaces, address)];
        (!pool.is_ram()).then(|| (pool, address - pool.start))
    }
}

/// Makes runs of the steps, as far as `goal` asks for, and plans.
fn streamed(mut program: Program, goal: Goal, config: &Config) -> Result<Compiled, Vec<Problem>> {
    let pushed = if config.inputs == InputPlacement::Rows { Some(pushed_input(&program)?) } else { None };
    let most = config.max_step_macs.map(NonZeroU64::get);
    if let Some(limit) = most {
        blocks::divide(&mut program, limit);
    }
    streaming::stream(&mut program, goal, pushed, config.search_limit).map_err(|step| {
        let message = format!("the input cannot be pushed row by row: step `{step}` needs all of it");
        vec![Problem::new(message).at(Location::Key("inputs".into()))]
    })?;
    if let Some(limit) = most {
        blocks::divide_into_rows(&mut program, limit);
    }
    plan(program, &config.workspaces(), config.planner, &plan_limits(config))
}

/// How far the search for places may go.
pub(crate) fn plan_limits(config: &Config) -> plan::Limits {
    // A state of this search costs as much as some of the other's.
    plan::Limits { nodes: config.search_limit / STATE_COST, ..plan::Limits::default() }
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

/// A program with a plan of its own.
pub(crate) fn plan(
    program: Program,
    pools: &[(String, Pool)],
    planner: plan::Planner,
    limits: &plan::Limits,
) -> Result<Compiled, Vec<Problem>> {
    let mut workspace = workspace::plan(&[&program], pools, planner, limits)?;
    Ok(Compiled {
        offsets: std::mem::take(&mut workspace.offsets[0]),
        arena_bytes: workspace.bytes(),
        lower_bound: workspace.lower_bound,
        proved: workspace.proved,
        workspaces: workspace.pools,
        constant_pools: Vec::new(),
        dead_channels: DeadChannels::default(),
        figures: Vec::new(),
        program,
    })
}
