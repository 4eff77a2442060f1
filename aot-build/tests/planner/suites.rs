//! `optimal` on the benchmark suites; `tests/bench` times it.
//!
//! Source: `best_known.csv`: per instance the load, the best size known, and
//! whether that is proved to be the least.

use aot_build::plan::{Limits, Planner, plan, read_intervals};

use crate::shared;

/// Searched until the nodes end, so left to the benchmark.
const OPEN: [&str; 1] = ["minimalloc/J.1048576.csv"];

#[test]
fn every_suite_at_its_best_known_size() {
    let test = "every_suite_at_its_best_known_size";
    let Some(table) = shared::text(test, "best_known.csv") else {
        return;
    };
    let mut faults = Vec::new();
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [instance, _, load, best, status, ..] = fields[..] else { panic!("{line}") };
        if OPEN.contains(&instance) {
            continue;
        }
        let text = shared::text(test, instance).expect("the instance");
        let problem = read_intervals(&text).expect("well-formed intervals").problem;
        let plan = plan(&problem, Planner::Optimal, &Limits::default()).expect("a plan");
        let load: usize = load.parse().expect("a load");
        let best: usize = best.parse().expect("a size");
        if plan.size() > best || plan.lower_bound() < load || (status == "optimal" && !plan.proved()) {
            faults.push(format!(
                "{instance}: {} instead of {best}, bound {} of {load}",
                plan.size(),
                plan.lower_bound()
            ));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
