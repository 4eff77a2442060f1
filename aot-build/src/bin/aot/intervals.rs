//! `aot plan --intervals`: the planners on a bare problem.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use aot_build::plan::{Intervals, Limits, Plan, PlanError, Planner, Problem, plan, read_intervals};
use aot_build::report::spaced;
use serde::Serialize;

use crate::console::{Console, Failure, problem};

/// What is to be planned, and how.
pub(crate) struct Request<'a> {
    pub(crate) file: &'a Path,
    pub(crate) capacity: Option<usize>,
    pub(crate) planner: Planner,
    pub(crate) time_limit: Option<f64>,
}

/// What was found.
#[derive(Serialize)]
struct Answer<'i> {
    planner: &'static str,
    total: usize,
    lower_bound: usize,
    proved: bool,
    nodes: u64,
    seconds: f64,
    /// Whether `total` is within the capacity.
    fits: bool,
    /// Whether it is certain that no plan is within the capacity.
    impossible: bool,
    offsets: BTreeMap<&'i str, usize>,
}

impl Request<'_> {
    pub(crate) fn run(&self, json: bool, console: &mut Console) -> Result<(), Failure> {
        let text = std::fs::read_to_string(self.file)
            .map_err(|error| problem(self.file, format!("the file cannot be read: {error}")))?;
        let intervals = read_intervals(&text).map_err(|error| problem(self.file, error.to_string()))?;
        let start = Instant::now();
        let plan = self.search(&intervals.problem).map_err(|error| problem(self.file, error.to_string()))?;
        let answer = self.answer(&plan, &intervals, start.elapsed());
        if json {
            console.json(&answer)?
        } else {
            self.print(&answer, console)?
        }
        if answer.fits { Ok(()) } else { Err(Failure::Verdict) }
    }

    fn fits(&self, bytes: usize) -> bool {
        self.capacity.is_none_or(|capacity| bytes <= capacity)
    }

    /// Plans; with a time limit again and again, with higher limits on the search, until
    /// the answer is certain, a higher limit changes nothing, or the time is over.
    ///
    /// The capacity is no limit to the planner: how much is missing is worth knowing.
    fn search(&self, problem: &Problem) -> Result<Plan, PlanError> {
        let begin = Instant::now();
        let end = Duration::from_secs_f64(self.time_limit.unwrap_or(0.0));
        let mut limits = Limits::default();
        loop {
            let start = Instant::now();
            let plan = plan(problem, self.planner, &limits)?;
            let enough = self.capacity.is_some() && self.fits(plan.size());
            let certain = plan.proved() || enough || !self.fits(plan.lower_bound());
            if certain || plan.nodes < limits.nodes {
                return Ok(plan);
            }
            // A node takes about as long as before.
            let factor = end.saturating_sub(begin.elapsed()).as_secs_f64() / start.elapsed().as_secs_f64();
            if factor < 1.5 {
                return Ok(plan);
            }
            limits.nodes = (limits.nodes as f64 * factor.min(8.0)) as u64;
        }
    }

    fn answer<'i>(&self, plan: &Plan, intervals: &'i Intervals, time: Duration) -> Answer<'i> {
        let offsets = plan.places.iter().map(|place| place.offset);
        let fits = self.fits(plan.size());
        Answer {
            planner: plan.planner.name(),
            total: plan.size(),
            lower_bound: plan.lower_bound(),
            proved: plan.proved(),
            nodes: plan.nodes,
            seconds: time.as_secs_f64(),
            fits,
            impossible: !fits && (plan.proved() || !self.fits(plan.lower_bound())),
            offsets: intervals.ids.iter().map(String::as_str).zip(offsets).collect(),
        }
    }

    fn print(&self, answer: &Answer<'_>, console: &mut Console) -> std::io::Result<()> {
        let &Answer { planner, total, lower_bound, proved, nodes, seconds, impossible, .. } = answer;
        let buffers = answer.offsets.len();
        let proof = if proved { "proved optimal" } else { "not proved optimal" };
        console.print(format_args!(
            "{} bytes for {buffers} buffers by {planner}, {proof}, lower bound {}; {} nodes, {seconds:.3} s\n",
            spaced(total),
            spaced(lower_bound),
            spaced(nodes),
        ))?;
        let Some(capacity) = self.capacity else { return Ok(()) };
        let verdict = match (answer.fits, impossible) {
            (true, _) => "fits",
            (false, true) => "no plan fits, whatever the planner",
            (false, false) => "found no plan that fits; there may be one",
        };
        console.verdict(answer.fits, format_args!("{} bytes: {verdict}", spaced(capacity)))
    }
}

/// A number of seconds that a duration can hold.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
    Ok(seconds)
}
