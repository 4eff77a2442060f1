//! All planners on the problems recorded from TVM's static planner.
//!
//! Source: `tvm/static_pools.json`, recorded by running TVM 0.16: buffers,
//! conflicts and pools, what its three planners returned, lower bounds and the
//! best totals known.

use std::collections::BTreeMap;

use aot_build::plan::{Buffer, BufferId, Limits, Plan, PlanError, Planner, Pool, Problem, plan};
use serde_json::Value as Json;

use crate::shared;

/// TVM's names, and the planners that go by them here.
const NAMED: [Planner; 3] = [Planner::GreedyBySize, Planner::GreedyByConflicts, Planner::HillClimb];

#[test]
fn no_stored_problem_is_planned_worse_than_by_tvm() {
    let Some(record) =
        shared::json("no_stored_problem_is_planned_worse_than_by_tvm", "tvm/static_pools.json")
    else {
        return;
    };
    let cases = record["cases"].as_array().expect("a list of cases");
    assert_eq!(cases.len(), 87);
    let mut faults = Vec::new();
    for case in cases {
        check(case, &mut faults);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn check(case: &Json, faults: &mut Vec<String>) {
    let name = case["name"].as_str().expect("a name");
    let problem = problem(case);
    let bounded = problem.pools().iter().any(|pool| pool.limit.is_some());
    let feasible = NAMED.iter().any(|planner| case["algorithms"][planner.name()]["valid"] == true);
    for planner in Planner::ALL {
        let recorded = recorded_total(case, planner);
        // Where nothing or only whole tokens are shared, less may fit.
        let whole = matches!(planner, Planner::None | Planner::StorageTokens);
        match plan(&problem, planner, &Limits::default()) {
            Ok(plan) => {
                let size = workspace(case, &plan);
                if !bounded && recorded.is_some_and(|recorded| size > recorded) {
                    faults.push(format!("{name} {planner}: {size} instead of {recorded:?}"));
                }
                if planner == Planner::Optimal {
                    check_optimal(case, size, faults);
                }
            }
            Err(PlanError::NoRoom { .. } | PlanError::OverLimit { .. }) if !feasible || whole => {}
            Err(error) => faults.push(format!("{name} {planner}: {error}")),
        }
    }
}

fn check_optimal(case: &Json, size: u64, faults: &mut Vec<String>) {
    let best = case["best_known_workspace"].as_u64();
    if best.is_some_and(|best| size > best) {
        faults.push(format!("{} optimal: {size} instead of {best:?}", case["name"]));
    }
}

/// What TVM's planner of the same name needs, where its plan is valid.
fn recorded_total(case: &Json, planner: Planner) -> Option<u64> {
    let recorded = &case["algorithms"][planner.name()];
    if recorded["valid"] != true {
        return None;
    }
    let totals = recorded["pool_totals"].as_object()?;
    Some(workspace_pools(case).filter_map(|(_, name)| totals.get(name)?.as_u64()).sum())
}

/// Bytes of the pools that are not for constants.
fn workspace(case: &Json, plan: &Plan) -> u64 {
    workspace_pools(case).map(|(index, _)| plan.pools[index].size as u64).sum()
}

fn workspace_pools(case: &Json) -> impl Iterator<Item = (usize, &str)> {
    let pools = case["pools"].as_array().expect("pools").iter().enumerate();
    let names = pools.filter(|(_, pool)| pool["kind"] == "workspace");
    names.map(|(index, pool)| (index, pool["name"].as_str().expect("a name")))
}

fn problem(case: &Json) -> Problem {
    let mut problem = Problem::with_pools([]);
    let mut pools = BTreeMap::new();
    for pool in case["pools"].as_array().expect("pools") {
        let name = pool["name"].as_str().expect("a name");
        let id = problem.add_pool(match pool["size_hint_bytes"].as_u64() {
            Some(limit) => Pool::limited(name, limit as usize),
            None => Pool::unlimited(name),
        });
        pools.insert(name, id);
    }
    let buffers = case["buffers"].as_array().expect("buffers");
    let mut ids: BTreeMap<&str, BufferId> = BTreeMap::new();
    for buffer in buffers {
        let candidates = buffer["pool_candidates"].as_array().expect("candidates");
        let candidates: Vec<_> =
            candidates.iter().map(|pool| pools[pool.as_str().expect("a name")]).collect();
        let size = buffer["size"].as_u64().expect("a size") as usize;
        let alignment = buffer["alignment"].as_u64().expect("an alignment") as usize;
        let id = problem.add(Buffer::new(size, 0..0).aligned(alignment).in_pools(candidates));
        ids.insert(buffer["id"].as_str().expect("an id"), id);
    }
    for buffer in buffers {
        let id = ids[buffer["id"].as_str().expect("an id")];
        if buffer["conflicts"] == "ALL_OTHER_CONSTANTS" {
            for other in buffers.iter().filter(|other| other["kind"] == "constant") {
                let other = ids[other["id"].as_str().expect("an id")];
                if other != id {
                    problem.set_conflict(id, other);
                }
            }
            continue;
        }
        for other in buffer["conflicts"].as_array().expect("conflicts") {
            problem.set_conflict(id, ids[other.as_str().expect("an id")]);
        }
    }
    problem
}
