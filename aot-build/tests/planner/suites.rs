//! `optimal` on the benchmark suites.
//!
//! Source: `best_known.csv`: per instance the load, the best size known, and
//! whether that is proved to be the least.

use aot_build::plan::{Limits, Planner, plan, read_intervals};

use crate::shared;

/// Searched until the nodes end, so left to the benchmark.
const OPEN: [&str; 3] = ["minimalloc/D.1048576.csv", "minimalloc/J.1048576.csv", "idealloc/iopddl_S_1.csv"];

#[test]
fn every_suite_at_its_best_known_size() {
    let faults = plan_suites("every_suite_at_its_best_known_size", |instance| !OPEN.contains(&instance));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Prints the table of all instances. Run it optimised:
/// `cargo test --release -p aot-build --test planner -- --ignored --nocapture`.
#[test]
#[ignore = "a benchmark"]
fn benchmark() {
    let faults = plan_suites("benchmark", |_| true);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Plans the instances, prints a line for each, and returns what is worse than
/// it should be.
fn plan_suites(test: &str, is_chosen: impl Fn(&str) -> bool) -> Vec<String> {
    let mut faults = Vec::new();
    let Some(table) = shared::text(test, "best_known.csv") else {
        return faults;
    };
    println!(
        "{:45} {:>7} {:>13} {:>13} {:>13} proved {:>8} {:>8}",
        "instance", "buffers", "bound", "best known", "size", "nodes", "seconds"
    );
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [instance, _, load, best, status, ..] = fields[..] else { panic!("{line}") };
        if !is_chosen(instance) {
            continue;
        }
        let text = shared::text(test, instance).expect("the instance");
        let problem = read_intervals(&text).expect("well-formed intervals").problem;
        let start = std::time::Instant::now();
        let plan = plan(&problem, Planner::Optimal, &Limits::default()).expect("a plan");
        println!(
            "{instance:45} {:7} {:13} {best:>13} {:13} {:6} {:8} {:8.3}",
            problem.buffers().len(),
            plan.lower_bound(),
            plan.size(),
            plan.proved(),
            plan.nodes,
            start.elapsed().as_secs_f64()
        );
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
    faults
}
