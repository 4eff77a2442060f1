//! Plans the recorded problems and prints a table of sizes, proofs and times.
//!
//! `cargo bench -p aot-bench --bench planner [-- PART_OF_A_NAME]`. Source:
//! `planner/best_known.csv` of the shared folder, `../shared` or what `AOT_SHARED`
//! names. Fails where a plan is larger than the best known.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use aot_build::plan::{Limits, Planner, plan, read_intervals};

fn main() -> ExitCode {
    let folder = folder();
    let table = folder.join("best_known.csv");
    if !table.is_file() {
        println!("skipped: {} is not there", table.display());
        return ExitCode::SUCCESS;
    }
    // Cargo adds options of its own.
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    println!(
        "{:45} {:>7} {:>13} {:>13} {:>13} proved {:>8} {:>8}",
        "instance", "buffers", "load", "best known", "ours", "nodes", "seconds"
    );
    let mut is_good = true;
    for line in read(&table).lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [instance, _, load, best, ..] = fields[..] else { panic!("{}: {line}", table.display()) };
        if wanted.as_ref().is_none_or(|wanted| instance.contains(wanted.as_str())) {
            is_good &= time(&folder, instance, load, best);
        }
    }
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Plans one instance and prints its line; whether it is as small as is known.
fn time(folder: &Path, instance: &str, load: &str, best: &str) -> bool {
    let problem = read_intervals(&read(&folder.join(instance))).expect("well-formed intervals").problem;
    let start = Instant::now();
    let plan = plan(&problem, Planner::Optimal, &Limits::default()).expect("a plan");
    let seconds = start.elapsed().as_secs_f64();
    let is_good = best.parse().is_ok_and(|best: usize| plan.size() <= best);
    println!(
        "{instance:45} {:7} {load:>13} {best:>13} {:13} {:6} {:8} {seconds:8.3}{}",
        problem.buffers().len(),
        plan.size(),
        if plan.proved() { "yes" } else { "no" },
        plan.nodes,
        if is_good { "" } else { " WORSE" },
    );
    is_good
}

fn folder() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    std::env::var_os("AOT_SHARED").map_or_else(beside, PathBuf::from).join("planner")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
