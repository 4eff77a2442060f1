//! `optimal` on up to twelve plain buffers against all orders of placing them.

use std::collections::HashSet;

use aot_build::plan::{Buffer, Limits, PlanError, Planner, Pool, Problem, plan};
use proptest::prelude::*;

const STEPS: usize = 8;

/// Size, first step, steps, exponent of the alignment.
type Draft = (usize, usize, usize, u32);

fn drafts() -> impl Strategy<Value = Vec<Draft>> {
    prop::collection::vec((1..=12_usize, 0..STEPS, 1..=5_usize, 0..5_u32), 0..=12)
}

fn buffers(drafts: &[Draft], unit: usize, aligned: bool) -> Vec<Buffer> {
    let buffer = |&(size, start, steps, exponent): &Draft| {
        let alignment = if aligned { 1 << exponent } else { 1 };
        Buffer::new(size * unit, start..(start + steps).min(STEPS)).aligned(alignment)
    };
    drafts.iter().map(buffer).collect()
}

fn problem(buffers: &[Buffer], pool: Pool) -> Problem {
    let mut problem = Problem::with_pools([pool]);
    for buffer in buffers {
        problem.add(buffer.clone());
    }
    problem
}

/// What is left to place, and the end of what was placed, at each step.
type State = (u16, [usize; STEPS]);

/// All orders of placing buffers, each on top of what it shares a step with.
///
/// Some smallest plan is among them: take any, and push the buffers down, the
/// lowest first.
struct Orders<'a> {
    buffers: &'a [Buffer],
    /// The least size found; nothing as large is looked at.
    best: usize,
    seen: HashSet<State>,
}

impl Orders<'_> {
    fn extend(&mut self, (left, ends): State) {
        if left == 0 {
            self.best = ends.into_iter().max().unwrap_or(0).min(self.best);
        }
        let load = |step: usize| {
            let alive = self.left(left).filter(|&index| self.buffers[index].live.contains(&step));
            ends[step] + alive.map(|index| self.buffers[index].size).sum::<usize>()
        };
        if (0..STEPS).any(|step| load(step) >= self.best) || !self.seen.insert((left, ends)) {
            return;
        }
        for index in self.left(left).collect::<Vec<_>>() {
            let Buffer { size, alignment, live, .. } = &self.buffers[index];
            let below = ends[live.clone()].iter().max().copied().unwrap_or(0);
            let mut next = ends;
            next[live.clone()].fill(below.next_multiple_of(*alignment) + size);
            self.extend((left & !(1 << index), next));
        }
    }

    fn left(&self, left: u16) -> impl Iterator<Item = usize> + use<> {
        (0..self.buffers.len()).filter(move |index| left >> index & 1 == 1)
    }
}

/// The least size, if it is less than `known`; else that.
fn least(buffers: &[Buffer], known: usize) -> usize {
    let mut orders = Orders { buffers, best: known, seen: HashSet::new() };
    orders.extend(((1 << buffers.len()) - 1, [0; STEPS]));
    orders.best
}

/// A quarter of the usual number of cases, since a case takes milliseconds.
fn config() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: usual.cases.div_ceil(4), failure_persistence: None, ..usual }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn twelve_buffers(drafts in drafts(), unit in 1..=12_usize, aligned: bool) {
        let buffers = buffers(&drafts, unit, aligned);
        let plan = plan(&problem(&buffers, Pool::unlimited("pool")), Planner::Optimal, &Limits::default()).unwrap();
        prop_assert_eq!(plan.size(), least(&buffers, plan.size()));
        prop_assert!(plan.proved());
    }

    #[test]
    fn twelve_buffers_within_a_limit(
        drafts in drafts(),
        unit in 1..=12_usize,
        aligned: bool,
        limit in 1..400_usize,
        nodes in 0..100_u64,
    ) {
        let buffers = buffers(&drafts, unit, aligned);
        let problem = problem(&buffers, Pool::limited("pool", limit));
        match plan(&problem, Planner::Optimal, &Limits { nodes, ..Limits::default() }) {
            Ok(plan) => {
                let least = least(&buffers, plan.size());
                prop_assert!(plan.lower_bound() <= least);
                prop_assert!(!plan.proved() || plan.size() == least);
            }
            Err(PlanError::OverLimit { needed, lower_bound, .. }) => {
                prop_assert!(lower_bound <= least(&buffers, needed));
            }
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}
