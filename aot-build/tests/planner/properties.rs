//! Generated problems: small ones against exhaustive search, large ones
//! against the verifier, all against themselves.

use aot_build::plan::{Buffer, BufferId, Gap, Limits, Planner, Pool, PoolId, Problem, plan, verify};
use proptest::prelude::*;

/// A buffer to come: size, first step, steps, alignment, part of the one
/// before.
type Draft = (usize, usize, usize, usize, bool);

fn drafts(most: usize, steps: usize, largest: usize) -> impl Strategy<Value = Vec<Draft>> {
    let draft = (0..=largest, 0..steps, 1..=4_usize, 0..3_usize, prop::bool::weighted(0.15));
    prop::collection::vec(draft, 0..=most)
}

/// A gap to come: two buffers and its two distances.
type DraftGap = (usize, usize, i64, i64);

fn gaps(most: usize) -> impl Strategy<Value = Vec<DraftGap>> {
    prop::collection::vec((0..2_000_usize, 0..2_000_usize, -4..12_i64, -4..12_i64), 0..=most)
}

fn problem(drafts: &[Draft], gaps: &[DraftGap], limits: &[Option<usize>]) -> Problem {
    let pools = limits.iter().map(|limit| match *limit {
        Some(limit) => Pool::limited("limited", limit),
        None => Pool::unlimited("unlimited"),
    });
    let mut problem = Problem::with_pools(pools.collect::<Vec<_>>());
    let mut container: Option<(BufferId, usize)> = None;
    for &(size, start, steps, alignment, part) in drafts {
        let live = start..start + steps;
        match container {
            Some((of, whole)) if part => {
                problem.add(Buffer::new(size.min(whole), live).inside(of, 0));
            }
            _ => {
                let id = problem.add(Buffer::new(size, live).aligned(1 << alignment));
                container = Some((id, size));
            }
        }
    }
    let ids: Vec<BufferId> = problem.ids().collect();
    for &(first, second, below, above) in gaps {
        if let [first, second] = [first, second].map(|index| ids.get(index % ids.len().max(1)).copied())
            && let (Some(first), Some(second)) = (first, second)
            && first != second
        {
            problem.set_gap(first, second, Gap { below, above });
        }
    }
    problem
}

/// Layers whose outputs may overlap their inputs (size, distance forward and backward,
/// whether it can run backward), and buffers alive over several of them.
fn chain(layers: &[(usize, i64, i64, bool)], others: &[(usize, usize, usize)], alignment: usize) -> Problem {
    let mut problem = Problem::new();
    let mut input: Option<(BufferId, usize)> = None;
    for (step, &(size, forward, backward, runs_backward)) in layers.iter().enumerate() {
        let output = problem.add(Buffer::new(size, step..step + 2).aligned(alignment));
        if let Some((input, input_size)) = input {
            let above =
                if runs_backward { input_size as i64 - size as i64 + backward } else { input_size as i64 };
            problem.set_gap(output, input, Gap { below: forward, above });
        }
        input = Some((output, size));
    }
    for &(size, start, steps) in others {
        problem.add(Buffer::new(size, start..start + steps));
    }
    problem
}

/// The least size of the only pool, by trying every set of offsets below
/// `known`.
fn exhaustive(problem: &Problem, known: usize) -> usize {
    let mut offsets = vec![None; problem.buffers().len()];
    let mut best = known;
    extend(problem, &mut offsets, 0, &mut best);
    best
}

/// Tries all offsets of buffer `next` and of those after it; `best` is the
/// least size found, and nothing as large is looked at.
fn extend(problem: &Problem, offsets: &mut Vec<Option<usize>>, next: usize, best: &mut usize) {
    let Some(buffer) = problem.buffers().get(next) else {
        let ends = problem.buffers().iter().zip(&*offsets);
        let ends =
            ends.map(|(buffer, offset)| if buffer.size == 0 { 0 } else { offset.unwrap_or(0) + buffer.size });
        *best = ends.max().unwrap_or(0).min(*best);
        return;
    };
    let offsets_to_try: Vec<usize> = match buffer.position {
        aot_build::plan::Position::Inside { of, at } => vec![offsets[of.index()].unwrap_or(0) + at],
        aot_build::plan::Position::Fixed(offset) => vec![offset],
        aot_build::plan::Position::Free => (0..*best).step_by(buffer.alignment).collect(),
    };
    for offset in offsets_to_try {
        if buffer.size > 0 && offset + buffer.size >= *best {
            continue;
        }
        if (0..next).all(|other| clear(problem, offsets, next, offset, other)) {
            offsets[next] = Some(offset);
            extend(problem, offsets, next + 1, best);
            offsets[next] = None;
        }
        // One place is enough for a buffer that disturbs nobody.
        if buffer.size == 0 {
            break;
        }
    }
}

/// Whether buffer `next` at `offset` keeps its distance to an earlier one.
fn clear(problem: &Problem, offsets: &[Option<usize>], next: usize, offset: usize, other: usize) -> bool {
    let ids: Vec<BufferId> = problem.ids().collect();
    let (a, b) = (&problem.buffers()[next], &problem.buffers()[other]);
    let container = |index: usize| match problem.buffers()[index].position {
        aot_build::plan::Position::Inside { of, .. } => of.index(),
        _ => index,
    };
    if a.size == 0 || b.size == 0 || container(next) == container(other) {
        return true;
    }
    let (at, other_at) = (offset as i64, offsets[other].unwrap_or(0) as i64);
    let gap = problem.declared_gap(ids[next], ids[other]);
    let alive_together = a.live.start.max(b.live.start) < a.live.end.min(b.live.end);
    match gap {
        Some(gap) => at + gap.below <= other_at || other_at + gap.above <= at,
        None => !alive_together || at + a.size as i64 <= other_at || other_at + b.size as i64 <= at,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn optimal_is_least_among_all(drafts in drafts(6, 5, 9), gaps in gaps(3)) {
        let problem = problem(&drafts, &gaps, &[None]);
        let plan = plan(&problem, Planner::Optimal, &Limits::default()).unwrap();
        let least = exhaustive(&problem, plan.size());
        prop_assert!(plan.lower_bound() <= least, "{} is no bound for {least}", plan.lower_bound());
        // A part and a gap of one item may forbid more than they must.
        let exact = gaps.is_empty() || drafts.iter().all(|draft| !draft.4);
        prop_assert!(!exact || plan.size() == least, "{} instead of {least}", plan.size());
        prop_assert!(!exact || plan.proved());
    }

    #[test]
    fn overlapping_chains_are_least_among_all(
        layers in prop::collection::vec((1..=9_usize, -2..9_i64, -2..9_i64, any::<bool>()), 1..=5),
        others in prop::collection::vec((1..=9_usize, 0..5_usize, 1..=5_usize), 0..=2),
        alignment in 0..2_usize,
    ) {
        let problem = chain(&layers, &others, 1 << alignment);
        let plan = plan(&problem, Planner::Optimal, &Limits::default()).unwrap();
        prop_assert!(plan.proved());
        prop_assert_eq!(plan.size(), exhaustive(&problem, plan.size()));
    }

    #[test]
    fn every_planner_keeps_the_rules(
        drafts in drafts(40, 30, 40),
        gaps in gaps(10),
        limit in 40..200_usize,
        nodes in 0..3_000_u64,
    ) {
        for limits in [vec![None], vec![Some(limit), None]] {
            let problem = problem(&drafts, &gaps, &limits);
            for planner in Planner::ALL {
                let limits = Limits { nodes, ..Limits::default() };
                let first = plan(&problem, planner, &limits).unwrap();
                prop_assert_eq!(verify(&problem, &first), Ok(()));
                prop_assert_eq!(&first, &plan(&problem, planner, &limits).unwrap());
                prop_assert!(first.nodes <= nodes);
            }
        }
    }

    #[test]
    fn the_verifier_finds_moved_buffers(drafts in drafts(20, 6, 40), moved in 0..20_usize, by in 1..20_usize) {
        let problem = problem(&drafts, &[], &[None]);
        let mut planned = plan(&problem, Planner::GreedyBySize, &Limits::default()).unwrap();
        if let Some(place) = planned.places.get_mut(moved) {
            place.offset += by;
            let touches = (0..drafts.len()).filter(|&other| other != moved).any(|other| {
                let offsets: Vec<Option<usize>> = planned.places.iter().map(|place| Some(place.offset)).collect();
                !clear(&problem, &offsets, moved, planned.places[moved].offset, other)
            });
            prop_assert!(!touches || verify(&problem, &planned).is_err());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn two_thousand_buffers(drafts in prop::collection::vec(
        (0..5_000_usize, 0..400_usize, 1..=30_usize, 0..5_usize, prop::bool::weighted(0.05)),
        1_500..=2_000,
    )) {
        let problem = problem(&drafts, &[], &[None]);
        for planner in Planner::ALL {
            let limits = Limits { nodes: 2_000, ..Limits::default() };
            prop_assert_eq!(verify(&problem, &plan(&problem, planner, &limits).unwrap()), Ok(()));
        }
    }
}

#[test]
fn candidates_decide_the_pool() {
    let mut problem = Problem::with_pools([Pool::unlimited("a"), Pool::unlimited("b")]);
    let second: PoolId = problem.add_pool(Pool::unlimited("c"));
    let buffer = problem.add(Buffer::new(4, 0..1).in_pools([second]));
    for planner in Planner::ALL {
        let plan = plan(&problem, planner, &Limits::default()).unwrap();
        assert_eq!(plan.places[buffer.index()].pool, second, "{planner}");
    }
}
