//! Plans the workspace: what is planned of programs, and what a plan makes of them.
//!
//! Programs that never run at the same time are one problem: each has steps of its own, so
//! that they share all bytes but those of states. Where there are several pools, all
//! [offsets](crate::Compiled::offsets) are addresses as if the pools lay one behind the other.

use crate::config::{Config, Pool};
use crate::error::Problem;
use crate::plan::{self, PlanError, PoolId};
use crate::program::{BufferId, Crossing, Operand, PlacedPool, Program, candidates, gaps, unit};

/// Byte 0 of a pool is aligned so at least.
const POOL_ALIGNMENT: usize = 16;

/// The places of the buffers of some programs.
pub(crate) struct Workspace {
    /// Of each program: the offsets of its buffers; 0 for the caller's.
    pub(crate) offsets: Vec<Vec<usize>>,
    pub(crate) pools: Vec<PlacedPool>,
    /// No plan needs fewer bytes in all pools together that the CPU reaches.
    pub(crate) lower_bound: usize,
    pub(crate) proved: bool,
}

impl Workspace {
    /// Bytes of all pools that the CPU reaches.
    pub(crate) fn bytes(&self) -> usize {
        self.pools.iter().filter(|pool| pool.is_ram()).map(|pool| pool.bytes).sum()
    }
}

/// What pools of the workspace need: bytes beyond their limits, bytes of RAM, and of memory that
/// devices have.
pub(crate) fn needs(pools: &[PlacedPool]) -> (usize, usize, usize) {
    let excess = pools.iter().map(PlacedPool::excess).sum();
    let (ram, others): (Vec<_>, Vec<_>) = pools.iter().partition(|pool| pool.is_ram());
    let bytes = |pools: Vec<&PlacedPool>| pools.iter().map(|pool| pool.bytes).sum();
    (excess, bytes(ram), bytes(others))
}

/// Plans the workspace of programs of which one runs at a time. Where the pools' limits cannot
/// be kept, a pool exceeds its own: by how much is to be reported.
pub(crate) fn plan(
    programs: &[&Program],
    pools: &[(String, Pool)],
    planner: plan::Planner,
    limits: &plan::Limits,
) -> Result<Workspace, Vec<Problem>> {
    let sizes = |program: usize, id: BufferId| {
        let buffer = programs[program].buffer(id);
        (buffer.bytes, buffer.alignment)
    };
    let (problem, ids) = problem(programs, pools, sizes)?;
    let plan = planned(problem, planner, limits).map_err(unplanned)?;
    let placed = placed(pools, &plan);
    let address = |id: plan::BufferId| {
        let place = plan.places[id.index()];
        placed[place.pool.index()].start + place.offset
    };
    let offsets = ids.iter().map(|ids| ids.iter().map(|id| id.map_or(0, address)).collect()).collect();
    let ram: Vec<_> = plan.pools.iter().zip(&placed).filter(|(_, pool)| pool.is_ram()).collect();
    let lower_bound = ram.iter().map(|(plan, _)| plan.lower_bound).sum();
    let proved = ram.iter().all(|(plan, _)| plan.proved);
    let mut workspace = Workspace { offsets, pools: placed, lower_bound, proved };
    if programs.iter().any(|program| program.has_control()) {
        // The search takes the memory of regions for pieces that cannot be divided.
        let in_ram = |program: usize, id: BufferId| {
            let address = workspace.offsets[program][id.index()];
            workspace.pools[PlacedPool::at(&workspace.pools, address)].is_ram()
        };
        workspace.lower_bound = least(programs, in_ram)?;
        workspace.proved = workspace.bytes() == workspace.lower_bound;
    }
    Ok(workspace)
}

/// Of each program: what its buffers have become.
type Ids = Vec<Vec<Option<plan::BufferId>>>;

/// What is to be planned: the buffers of the workspace, with the bytes and the alignment that
/// `sizes` gives them.
fn problem(
    programs: &[&Program],
    pools: &[(String, Pool)],
    sizes: impl Fn(usize, BufferId) -> (usize, usize),
) -> Result<(plan::Problem, Ids), Vec<Problem>> {
    let mut problem = plan::Problem::with_pools([]);
    let pool_ids: Vec<PoolId> = pools
        .iter()
        .map(|(name, pool)| {
            // What does not fit the only pool is reported with the size that it takes.
            let limit = pool.limit.filter(|_| pools.len() > 1);
            problem.add_pool(plan::Pool { name: name.clone(), limit, cost: pool.cost })
        })
        .collect();
    let all_steps: usize = programs.iter().map(|program| program.steps.len() + 1).sum();
    let mut first_step = 0;
    let mut ids = Vec::new();
    for (i, program) in programs.iter().enumerate() {
        let of_program = |crossings: Vec<Crossing>| -> Vec<Problem> {
            crossings.iter().map(|crossing| crossing.problem(program)).collect()
        };
        let candidates = candidates(program, pools, unit).map_err(of_program)?;
        let lifetimes = program.lifetimes();
        let mut buffers = Vec::new();
        for ((id, lifetime), candidates) in program.ids().zip(&lifetimes).zip(candidates) {
            let (bytes, mut alignment) = sizes(i, id);
            for &pool in &candidates {
                alignment = alignment.max(pools[pool].1.alignment.unwrap_or(1));
            }
            let live = if program.is_state(id) {
                0..all_steps
            } else {
                first_step + lifetime.start..first_step + lifetime.end
            };
            let candidates: Vec<PoolId> = candidates.iter().map(|&pool| pool_ids[pool]).collect();
            let buffer = plan::Buffer::new(bytes, live).aligned(alignment).in_pools(candidates);
            buffers.push(program.in_workspace(id).then(|| problem.add(buffer)));
        }
        for (pair, gap) in gaps(program, &lifetimes) {
            if let [Some(x), Some(y)] = pair.map(|id| buffers[id.index()]) {
                problem.set_gap(y, x, gap);
            }
        }
        first_step += program.steps.len() + 1;
        ids.push(buffers);
    }
    Ok((problem, ids))
}

/// Plans; where the limits of several pools cannot be kept, without those that are in the way.
fn planned(
    mut problem: plan::Problem,
    planner: plan::Planner,
    limits: &plan::Limits,
) -> Result<plan::Plan, PlanError> {
    loop {
        match plan::plan(&problem, planner, limits) {
            Err(PlanError::NoRoom { buffer, .. }) if problem.lift_limit(buffer) => (),
            result => return result,
        }
    }
}

/// The pools one behind the other.
fn placed(pools: &[(String, Pool)], plan: &plan::Plan) -> Vec<PlacedPool> {
    let mut end: usize = 0;
    let mut place = |((name, pool), planned): (&(String, Pool), &plan::PoolPlan)| {
        let start = end.next_multiple_of(pool.alignment.unwrap_or(1).max(POOL_ALIGNMENT));
        end = start + planned.size;
        PlacedPool { name: name.clone(), pool: pool.clone(), start, bytes: planned.size }
    };
    pools.iter().zip(&plan.pools).map(&mut place).collect()
}

/// Bytes that the buffers of which `counts` is true need at least, all pools together, wherever
/// the tensors within regions lie.
fn least(programs: &[&Program], counts: impl Fn(usize, BufferId) -> bool) -> Result<usize, Vec<Problem>> {
    let mut sizes: Vec<Vec<_>> = Vec::new();
    for (i, program) in programs.iter().enumerate() {
        let size = |id: BufferId| {
            let buffer = program.buffer(id);
            if counts(i, id) { (buffer.bytes, buffer.alignment) } else { (0, 1) }
        };
        let mut of_program: Vec<_> = program.ids().map(size).collect();
        for step in &program.steps {
            let Some(control) = step.control() else { continue };
            let first = step.operands.len() - control.scratch.len();
            let scratch = step.operands[first..].iter().zip(&control.scratch);
            let scratch = scratch.filter_map(|(operand, least)| match operand {
                Operand::Buffer(view) => Some((view.buffer, *least)),
                Operand::Constant(_) => None,
            });
            let scratch: Vec<_> = scratch.collect();
            // What is known is the sum.
            let is_known = scratch.iter().all(|(id, _)| counts(i, *id));
            for (id, least) in scratch {
                of_program[id.index()] = (if is_known { least } else { 0 }, 1);
            }
        }
        sizes.push(of_program);
    }
    // In one pool: what is alive together needs no less in several.
    let pools = Config::default().workspaces();
    let (problem, _) = problem(programs, &pools, |program, id| sizes[program][id.index()])?;
    // Of a plan that nothing is searched for, the bound is the sum of what is alive.
    let plan = plan::plan(&problem, plan::Planner::GreedyBySize, &plan::Limits::default());
    plan.map(|plan| plan.lower_bound()).map_err(unplanned)
}

fn unplanned(error: PlanError) -> Vec<Problem> {
    vec![Problem::new(format!("the workspace cannot be planned: {error}"))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Evaluator;
    use crate::graph::Graph;
    use crate::graph::sketch::{Sketch, f32_type};
    use crate::ops::{Add, Relu};
    use crate::{Compiled, compile};

    /// Two branches that meet: 16 bytes a tensor, at most three of them alive.
    fn branches() -> Graph {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", f32_type([4]));
        let double = sketch.node("double", Add::default(), &[x, x]);
        let four = sketch.node("four", Add::default(), &[double, double]);
        let positive = sketch.node("positive", Relu::default(), &[double]);
        let six = sketch.node("six", Add::default(), &[four, positive]);
        sketch.finish(&[six])
    }

    fn config(settings: &[(&str, crate::config::Value)]) -> Config {
        let mut config = Config::default();
        for (key, value) in settings {
            config.set(key, value.clone()).unwrap();
        }
        config
    }

    fn run(compiled: &Compiled) -> Vec<f32> {
        let input: Vec<u8> = [1.0_f32, 2.0, 3.0, 4.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        let output = Evaluator::new(compiled).run(&[&input]).unwrap().remove(0);
        output.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    }

    fn pools(compiled: &Compiled) -> Vec<(&str, usize, usize)> {
        compiled.workspaces.iter().map(|pool| (pool.name.as_str(), pool.start, pool.bytes)).collect()
    }

    #[test]
    fn pools_are_filled_up_to_their_limits() {
        let one = compile(branches(), &Config::default()).unwrap();
        let total = one.arena_bytes;
        assert_eq!(pools(&one), [("workspace", 0, total)]);
        let two = config(&[
            ("pools.dtcm.limit", 20.into()),
            ("pools.sram.cost", 1.into()),
            ("pools.sram.alignment", 64.into()),
        ]);
        let two = compile(branches(), &two).unwrap();
        assert_eq!(pools(&two)[0], ("dtcm", 0, 16));
        assert_eq!((two.workspaces[1].start, two.arena_bytes), (64, 16 + two.workspaces[1].bytes));
        assert_eq!(run(&two), [6.0, 12.0, 18.0, 24.0]);
        assert_eq!(run(&two), run(&one));
    }

    #[test]
    fn an_overflow_names_the_tensors_and_the_missing_bytes() {
        let small = config(&[("pools.dtcm.limit", 16.into()), ("pools.sram.limit", 8.into())]);
        let problems = compile(branches(), &small).unwrap_err();
        let text: Vec<_> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            text,
            ["key `pools.sram.limit`: needs 32 bytes of pool `sram`, the limit is 8 (24 too many)\n  \
              - at step 1 `add_1` are alive: `double` 16, `four` 16\n  \
              = help: `outputs = \"caller\"` brings it to 16 (the caller holds 16)"]
        );
        let single = config(&[("pools.dtcm.limit", 8.into())]);
        let problem = compile(branches(), &single).unwrap_err()[0].to_string();
        assert!(problem.starts_with("key `pools.dtcm.limit`: needs "), "{problem}");
    }

    /// A pool that not all units reach stays empty; one that they reach is used although it costs more.
    #[test]
    fn reach_comes_before_cost() {
        let list = |names: &[&str]| names.to_vec().into();
        let config = config(&[
            ("devices.npu.operators", list(&["*"])),
            ("pools.dtcm.reach", list(&["cpu"])),
            ("pools.sram.cost", 9.into()),
            ("pools.sram.reach", list(&["cpu", "npu"])),
        ]);
        let compiled = compile(branches(), &config).unwrap();
        assert_eq!(pools(&compiled)[0], ("dtcm", 0, 0));
        assert_eq!(run(&compiled), [6.0, 12.0, 18.0, 24.0]);
    }

    #[test]
    fn programs_of_which_one_runs_at_a_time_share_all_but_states() {
        let model = |elements: usize| {
            let mut sketch = Sketch::new();
            let zeros = crate::graph::Data::from_f32s(&vec![0.0; elements]);
            let zeros = sketch.constant("zeros", f32_type([elements]), zeros);
            let (x, sum) = (sketch.input("x", f32_type([elements])), sketch.state("sum", zeros));
            let next = sketch.node("next", Add::default(), &[x, sum]);
            sketch.keep(sum, next);
            compile(sketch.finish(&[next]), &Config::default()).unwrap()
        };
        let (small, large) = (model(4), model(32));
        let workspace = plan(
            &[&small.program, &large.program],
            &Config::default().workspaces(),
            plan::Planner::Optimal,
            &plan::Limits::default(),
        );
        let workspace = workspace.unwrap();
        let states = |compiled: &Compiled| compiled.program.state_bytes();
        let temporary = |compiled: &Compiled| compiled.arena_bytes - states(compiled);
        assert_eq!((temporary(&small), temporary(&large)), (16, 128));
        assert_eq!(workspace.bytes(), states(&small) + states(&large) + temporary(&large));
        assert!(workspace.proved);
    }
}
