//! Which pools may hold what: every step that uses a tensor must reach the pool.

use std::collections::{BTreeMap, BTreeSet};

use super::{BufferId, Flow, Operand, Program, Step, Storage, Work};
use crate::config::Pool;
use crate::error::Problem;
use crate::report::label;

/// The unit that everything runs on which no device does.
pub const CPU: &str = "cpu";

/// The unit that a step runs on.
pub(crate) fn unit(step: &Step) -> &str {
    step.call().map_or(CPU, |call| &call.unit)
}

/// A pool, as far as it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedPool {
    /// Its name.
    pub name: String,
    /// What the configuration says of it.
    pub pool: Pool,
    /// Its first byte, where all pools of its kind lie one behind the other.
    pub start: usize,
    /// Bytes that are used.
    pub bytes: usize,
}

impl PlacedPool {
    /// Bytes that are used beyond the limit.
    #[must_use]
    pub fn excess(&self) -> usize {
        self.bytes.saturating_sub(self.pool.limit.unwrap_or(usize::MAX))
    }

    /// Whether it is RAM of the CPU.
    pub(crate) fn is_ram(&self) -> bool {
        !self.pool.is_device_memory()
    }

    /// The one of `pools` that the byte at `address` is in.
    pub(crate) fn at(pools: &[Self], address: usize) -> usize {
        pools.partition_point(|pool| pool.start <= address).saturating_sub(1)
    }
}

/// A tensor that no pool can hold: none is reached by all units that use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// The tensor's buffer.
    pub buffer: BufferId,
    /// The units that use it.
    pub units: Vec<String>,
}

/// For each buffer in the workspace: the positions of the pools that may hold it.
///
/// # Errors
///
/// The buffers that none may hold.
pub(crate) fn candidates(
    program: &Program,
    pools: &[(String, Pool)],
    unit: impl Fn(&Step) -> &str,
) -> Result<Vec<Vec<usize>>, Vec<Crossing>> {
    let mut crossings = Vec::new();
    let transferred = transferred(program);
    let candidates = program
        .ids()
        .zip(units(program, &unit))
        .map(|(buffer, units)| {
            let found = holders(pools, &units, transferred.contains(&buffer));
            let is_placed = if program.in_workspace(buffer) || program.is_region {
                !found.is_empty()
            } else {
                units.iter().all(|unit| reaches_arrays(pools, unit))
            };
            if !is_placed {
                crossings.push(Crossing { buffer, units: units.iter().map(ToString::to_string).collect() });
            }
            found
        })
        .collect();
    if crossings.is_empty() { Ok(candidates) } else { Err(crossings) }
}

/// For each buffer: the positions of the pools that all reach which use it.
pub(super) fn reached(program: &Program, pools: &[(String, Pool)]) -> Vec<Vec<usize>> {
    let transferred = transferred(program);
    let units = program.ids().zip(units(program, &unit));
    units.map(|(buffer, units)| holders(pools, &units, transferred.contains(&buffer))).collect()
}

/// The positions of the pools that may hold what `units` use. Where a device copies from it or to it
/// on its side, that is memory of devices.
fn holders(pools: &[(String, Pool)], units: &BTreeSet<&str>, is_transferred: bool) -> Vec<usize> {
    let mut holders = reached_by_all(pools, units);
    // Bounds are those of plans with one pool for all.
    if is_transferred && pools.iter().any(|(_, pool)| pool.is_device_memory()) {
        holders.retain(|i| pools[*i].1.is_device_memory());
    }
    holders
}

/// The buffers that devices copy from or to on their side.
fn transferred(program: &Program) -> BTreeSet<BufferId> {
    let side = |step: &Step| step.operands.get(step.call()?.transfer?.side())?.buffer();
    program.steps.iter().flat_map(Step::with_nested).filter_map(side).collect()
}

/// Where the arrays of regions are in the program around them.
pub(crate) struct Around<'a> {
    pub(crate) inputs: &'a [Operand],
    pub(crate) outputs: &'a [Operand],
    /// What the CPU uses beside them.
    pub(crate) cpu: &'a [Operand],
}

impl Around<'_> {
    /// The arrays that no pool can hold whichever of `regions` runs. Several may be of one buffer.
    pub(crate) fn apart(&self, regions: &[Program], pools: &[(String, Pool)]) -> Vec<Storage> {
        let mut users: BTreeMap<BufferId, BTreeSet<&str>> = BTreeMap::new();
        for buffer in self.cpu.iter().filter_map(|operand| operand.buffer()) {
            users.entry(buffer).or_default().insert(CPU);
        }
        let mut arrays = Vec::new();
        for region in regions {
            for (buffer, units) in region.buffers.iter().zip(units(region, &unit)) {
                let Some(operand) = self.operand(buffer.storage) else { continue };
                if let Some(id) = operand.buffer() {
                    users.entry(id).or_default().extend(units);
                    arrays.push((buffer.storage, id));
                }
            }
        }
        arrays.retain(|(_, id)| users.get(id).is_some_and(|units| reached_by_all(pools, units).is_empty()));
        arrays.into_iter().map(|(storage, _)| storage).collect()
    }

    fn operand(&self, storage: Storage) -> Option<&Operand> {
        match storage {
            Storage::Workspace => None,
            Storage::Input(i) => self.inputs.get(i),
            Storage::Output(i) => self.outputs.get(i),
        }
    }
}

/// Whether a unit works on the caller's arrays: the CPU does, and so do devices, but for those of
/// which all memory is out of the CPU's reach.
pub(super) fn reaches_arrays(pools: &[(String, Pool)], unit: &str) -> bool {
    let mut reached = pools.iter().filter(|(_, pool)| pool.is_reached_by(unit)).peekable();
    unit == CPU || reached.peek().is_none() || reached.any(|(_, pool)| !pool.is_device_memory())
}

/// The positions of the pools that all of `units` reach.
pub(super) fn reached_by_all(pools: &[(String, Pool)], units: &BTreeSet<&str>) -> Vec<usize> {
    let reached = |pool: &Pool| units.iter().all(|unit| pool.is_reached_by(unit));
    pools.iter().enumerate().filter(|(_, (_, pool))| reached(pool)).map(|(i, _)| i).collect()
}

/// For each buffer: the units that use it. Inputs, outputs, kept tensors and states are the
/// processor's, too.
fn units<'p>(program: &'p Program, unit: &impl Fn(&'p Step) -> &'p str) -> Vec<BTreeSet<&'p str>> {
    let mut units = vec![BTreeSet::new(); program.buffers.len()];
    let ports = program.inputs.iter().chain(&program.outputs).chain(&program.kept).map(|port| port.view);
    // Who uses a tensor around a region is looked at there.
    let ports = ports.filter(|view| !program.is_region || program.in_workspace(view.buffer));
    for view in ports.chain(program.states.iter().map(|state| state.view)) {
        units[view.buffer.0].insert(CPU);
    }
    for (buffer, unit) in program.steps.iter().flat_map(|step| users(step, unit)) {
        units[buffer.0].insert(unit);
    }
    units
}

/// The buffers that a step and those that it holds use, and on which units.
pub(super) fn users<'p>(step: &'p Step, unit: &impl Fn(&'p Step) -> &'p str) -> Vec<(BufferId, &'p str)> {
    let mut users = Vec::new();
    for step in step.with_nested() {
        match &step.work {
            Work::Kernel(_) | Work::Call(_) => {
                let operands = step.operands.iter().enumerate();
                users.extend(operands.filter_map(|(i, operand)| match operand {
                    Operand::Buffer(view) if step.is_cpu_side(i) => Some((view.buffer, CPU)),
                    Operand::Buffer(view) => Some((view.buffer, unit(step))),
                    Operand::Constant(_) => None,
                }));
            }
            // What it decides by; the rest is used by the steps that it holds.
            Work::Control(control) => match (&control.flow, step.operands.first()) {
                (Flow::While { test, .. }, _) => users.push((test.buffer, CPU)),
                (Flow::If { .. }, Some(Operand::Buffer(view))) => users.push((view.buffer, CPU)),
                (Flow::If { .. }, _) => (),
            },
        }
    }
    users
}

impl Step {
    /// Whether operand `i` is what a device copies on the side of the CPU.
    pub(super) fn is_cpu_side(&self, i: usize) -> bool {
        self.call().and_then(|call| call.transfer).is_some_and(|transfer| transfer.side() != i)
    }
}

impl Crossing {
    /// It as a problem of the model.
    pub(crate) fn problem(&self, program: &Program) -> Problem {
        let name = label(&program.buffer(self.buffer).name);
        no_pool(&format!("tensor `{name}`"), self.units.iter().map(String::as_str), "workspace").help(
            "add the unit to the `reach` of a pool, or a pool that all of them reach; tensors are copied \
             between pools through one that `cpu` reaches",
        )
    }
}

/// The problem with something that no pool can hold.
pub(super) fn no_pool<'u>(what: &str, units: impl Iterator<Item = &'u str>, kind: &str) -> Problem {
    let units: Vec<_> = units.map(|unit| format!("`{unit}`")).collect();
    let units = if units.is_empty() { "what uses it".to_owned() } else { units.join(" and ") };
    Problem::new(format!("{what} has no place: no pool of kind \"{kind}\" is reached by {units}"))
        .help("add the unit to the `reach` of a pool, or a pool that all of them reach")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::sketch::{Sketch, f32_type};
    use crate::ops::Relu;
    use crate::{Config, program};

    fn pool(name: &str, reach: &[&str]) -> (String, Pool) {
        let reach = Some(reach.iter().map(ToString::to_string).collect());
        (name.to_owned(), Pool { reach, ..Pool::default() })
    }

    /// The middle one of three steps is a device's.
    fn unit(step: &Step) -> &str {
        if step.name == "relu_1" { "npu" } else { CPU }
    }

    #[test]
    fn tensors_lie_where_all_their_users_reach() {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", f32_type([4]));
        let a = sketch.node("a", Relu::default(), &[x]);
        let b = sketch.node("b", Relu::default(), &[a]);
        let c = sketch.node("c", Relu::default(), &[b]);
        let program = program::lower(&sketch.finish(&[c]), &Config::default()).unwrap();

        let pools = [pool("tcm", &["cpu"]), pool("sram", &["cpu", "npu"]), pool("npu_ram", &["npu"])];
        let found = candidates(&program, &pools, unit).unwrap();
        assert_eq!(found, [vec![0, 1], vec![1], vec![1], vec![0, 1]]);

        let apart = [pools[0].clone(), pools[2].clone()];
        let crossings = candidates(&program, &apart, unit).unwrap_err();
        let units = || vec!["cpu".to_owned(), "npu".to_owned()];
        let crossing = |buffer| Crossing { buffer: BufferId(buffer), units: units() };
        assert_eq!(crossings, [crossing(1), crossing(2)]);
        assert_eq!(
            crossings[0].problem(&program).to_string(),
            "tensor `a` has no place: no pool of kind \"workspace\" is reached by `cpu` and `npu`\n  \
             = help: add the unit to the `reach` of a pool, or a pool that all of them reach; tensors are copied \
             between pools through one that `cpu` reaches"
        );
    }
}
