//! `aot plan --intervals`: the planners on a bare problem.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use aot_build::plan::{Intervals, Limits, Plan, PlanError, Planner, Pool, Problem, plan, read_intervals};
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

/// What was found. Without a plan there is no total and there are no offsets.
#[derive(Serialize)]
struct Answer<'i> {
    planner: &'static str,
    total: Option<usize>,
    lower_bound: Option<usize>,
    proved: bool,
    /// With no plan: whether it is certain that there is none.
    impossible: bool,
    nodes: Option<u64>,
    seconds: f64,
    offsets: BTreeMap<&'i str, usize>,
}

impl Request<'_> {
    pub(crate) fn run(&self, json: bool, console: &mut Console) -> Result<(), Failure> {
        let text = std::fs::read_to_string(self.file)
            .map_err(|error| problem(self.file, format!("cannot read the file: {error}")))?;
        let intervals = read_intervals(&text).map_err(|error| problem(self.file, error.to_string()))?;
        let start = Instant::now();
        let result = self.search(&with_capacity(&intervals.problem, self.capacity));
        let seconds = start.elapsed().as_secs_f64();
        let answer = match &result {
            Ok(plan) => found(plan, &intervals, seconds),
            &Err(PlanError::NoRoom { impossible, .. }) => Answer {
                planner: self.planner.name(),
                total: None,
                lower_bound: None,
                proved: false,
                impossible,
                nodes: None,
                seconds,
                offsets: BTreeMap::new(),
            },
            Err(error) => return Err(problem(self.file, error.to_string()).into()),
        };
        if json {
            console.json(&answer)?
        } else {
            self.print(&answer, &intervals, console)?
        }
        if result.is_ok() { Ok(()) } else { Err(Failure::Verdict) }
    }

    /// Plans; with a time limit again and again, with higher limits on the search, until
    /// the plan is proved, a higher limit changes nothing, or the time is over.
    fn search(&self, problem: &Problem) -> Result<Plan, PlanError> {
        let mut limits = Limits::default();
        let end = self.time_limit.map(|seconds| (Instant::now(), Duration::from_secs_f64(seconds)));
        loop {
            let start = Instant::now();
            let result = plan(problem, self.planner, &limits);
            let settled = match &result {
                Ok(plan) => plan.proved() || plan.nodes < limits.nodes,
                Err(error) => !matches!(error, PlanError::NoRoom { impossible: false, .. }),
            };
            // The other planners do not search.
            if settled || self.planner != Planner::Optimal {
                return result;
            }
            let rest = end.map_or(Duration::ZERO, |(start, limit)| limit.saturating_sub(start.elapsed()));
            // The search takes about as long for a node as before.
            let factor = (rest.as_secs_f64() / start.elapsed().as_secs_f64()).min(8.0);
            if factor < 1.5 {
                return result;
            }
            limits.nodes = (limits.nodes as f64 * factor) as u64;
        }
    }

    fn print(
        &self,
        answer: &Answer<'_>,
        intervals: &Intervals,
        console: &mut Console,
    ) -> Result<(), Failure> {
        let buffers = intervals.ids.len();
        let Answer { planner, seconds, .. } = answer;
        let (Some(total), Some(lower_bound)) = (answer.total, answer.lower_bound) else {
            let capacity = spaced(self.capacity.unwrap_or(0));
            let why = if answer.impossible { "none exists" } else { "whether one exists is not known" };
            console.print(format_args!(
                "no plan for {buffers} buffers in {capacity} bytes by {planner}, {seconds:.3} s: {why}\n"
            ))?;
            return Ok(());
        };
        let proof = if answer.proved { "proved optimal" } else { "not proved optimal" };
        let (total, bound) = (spaced(total), spaced(lower_bound));
        let nodes = spaced(answer.nodes.unwrap_or(0));
        console.print(format_args!(
            "{total} bytes for {buffers} buffers by {planner}, {proof}, lower bound {bound}; \
             {nodes} nodes, {seconds:.3} s\n"
        ))?;
        Ok(())
    }
}

fn found<'i>(plan: &Plan, intervals: &'i Intervals, seconds: f64) -> Answer<'i> {
    let offsets = intervals.ids.iter().map(String::as_str).zip(plan.places.iter().map(|place| place.offset));
    Answer {
        planner: plan.planner.name(),
        total: Some(plan.size()),
        lower_bound: Some(plan.lower_bound()),
        proved: plan.proved(),
        impossible: false,
        nodes: Some(plan.nodes),
        seconds,
        offsets: offsets.collect(),
    }
}

/// The same buffers in a pool of that many bytes.
fn with_capacity(problem: &Problem, capacity: Option<usize>) -> Problem {
    let Some(capacity) = capacity else { return problem.clone() };
    let mut limited = Problem::with_pools([Pool::limited("workspace", capacity)]);
    for buffer in problem.buffers() {
        limited.add(buffer.clone());
    }
    limited
}

/// A number of seconds that a duration can hold.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
    Ok(seconds)
}
