//! Which pools may hold what: every step that uses a tensor must reach the pool.

use std::collections::BTreeSet;

use super::{BufferId, Flow, Operand, Program, Step, Work};
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
    let candidates = program
        .ids()
        .zip(units(program, &unit))
        .map(|(buffer, units)| {
            let found = reached_by_all(pools, &units);
            if found.is_empty() && program.in_workspace(buffer) {
                crossings.push(Crossing { buffer, units: units.iter().map(ToString::to_string).collect() });
            }
            found
        })
        .collect();
    if crossings.is_empty() { Ok(candidates) } else { Err(crossings) }
}

/// For each buffer: the positions of the pools that all reach which use it.
pub(super) fn reached(program: &Program, pools: &[(String, Pool)]) -> Vec<Vec<usize>> {
    units(program, &unit).iter().map(|units| reached_by_all(pools, units)).collect()
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
                users.extend(step.buffers().map(|(view, _)| (view.buffer, unit(step))));
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

impl Crossing {
    /// It as a problem of the model.
    pub(crate) fn problem(&self, program: &Program) -> Problem {
        let name = label(&program.buffer(self.buffer).name);
        no_pool(&format!("tensor `{name}`"), self.units.iter().map(String::as_str), "workspace").help(
            "add the unit to the `reach` of a pool, or a pool that all of them reach; it is the CPU that \
             copies tensors between pools, and not within a branch or a loop",
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
             = help: add the unit to the `reach` of a pool, or a pool that all of them reach; it is the CPU that copies \
             tensors between pools, and not within a branch or a loop"
        );
    }
}
