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

    /// Plans; with a time limit again and again, with ever higher limits on the search,
    /// until the answer is certain, a higher limit changes nothing, or the time is over.
    ///
    /// The capacity is no limit to the planner, only enough: how much is missing is worth
    /// knowing.
    fn search(&self, problem: &Problem) -> Result<Plan, PlanError> {
        let Some(seconds) = self.time_limit else {
            return plan(problem, self.planner, &Limits { enough: self.capacity, ..Limits::default() });
        };
        let (begin, end) = (Instant::now(), Duration::from_secs_f64(seconds));
        let mut limits = Limits { nodes: first_nodes(problem), enough: self.capacity };
        let mut best: Option<Plan> = None;
        loop {
            let start = Instant::now();
            let next = plan(problem, self.planner, &limits)?;
            let is_exhausted = next.nodes < limits.nodes;
            let known = match best.take() {
                Some(before) => better(before, next),
                None => next,
            };
            let enough = self.capacity.is_some() && self.fits(known.size());
            let is_certain = known.proved() || enough || !self.fits(known.lower_bound());
            // A node takes about as long as before.
            let factor = end.saturating_sub(begin.elapsed()).as_secs_f64() / start.elapsed().as_secs_f64();
            if is_certain || is_exhausted || factor < 1.5 {
                return Ok(known);
            }
            best = Some(known);
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

/// Nodes to begin with when the time is limited: a small part of a second, as a node
/// takes the longer the more buffers there are.
fn first_nodes(problem: &Problem) -> u64 {
    let buffers = problem.buffers().len() as u64;
    (4_000_000 / buffers.max(1)).clamp(1_000, 20_000)
}

/// The smaller of two plans, with the higher bound of both and the nodes of both.
fn better(before: Plan, after: Plan) -> Plan {
    let (mut best, other) = if before.size() < after.size() { (before, after) } else { (after, before) };
    best.nodes += other.nodes;
    // There is one pool, so both bounds are on the same buffers.
    for (pool, other) in best.pools.iter_mut().zip(&other.pools) {
        pool.lower_bound = pool.lower_bound.max(other.lower_bound);
        pool.proved |= pool.size == pool.lower_bound;
    }
    best
}

/// A number of seconds that a duration can hold.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
    Ok(seconds)
}
