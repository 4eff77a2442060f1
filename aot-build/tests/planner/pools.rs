//! Problems of a few buffers with all that a problem may have, several pools with limits and
//! costs, declared conflicts, parts, fixed offsets, against every way to place them.

use aot_build::plan::{
    Buffer, BufferId, Gap, Limits, Place, Plan, PlanError, Planner, Pool, PoolId, Position, Problem, plan,
    verify,
};
use proptest::prelude::*;

/// A buffer to come.
#[derive(Clone, Debug)]
struct Draft {
    size: usize,
    live: (usize, usize),
    alignment: u32,
    position: DraftPosition,
    /// 0 for all pools, else the one of this number, counted from 1.
    pool: usize,
    traffic: Option<usize>,
}

#[derive(Clone, Debug)]
enum DraftPosition {
    Free,
    Fixed(usize),
    /// In the last buffer that is free, if it is large enough there.
    Inside(usize),
}

fn draft() -> impl Strategy<Value = Draft> {
    let position = prop_oneof![
        6 => Just(DraftPosition::Free),
        1 => (0..4_usize).prop_map(DraftPosition::Fixed),
        2 => (0..3_usize).prop_map(DraftPosition::Inside),
    ];
    let traffic = prop::option::of(0..6_usize);
    let pool = prop_oneof![4 => Just(0_usize), 1 => 1..=2_usize];
    (0..=4_usize, (0..4_usize, 0..4_usize), 0..=2_u32, position, pool, traffic).prop_map(
        |(size, live, alignment, position, pool, traffic)| Draft {
            size,
            live,
            alignment,
            position,
            pool,
            traffic,
        },
    )
}

/// A pair with its gap, or in conflict.
type DraftPair = (usize, usize, Option<(i64, i64)>);

fn pairs() -> impl Strategy<Value = Vec<DraftPair>> {
    prop::collection::vec((0..5_usize, 0..5_usize, prop::option::of((-2..5_i64, -2..5_i64))), 0..=3)
}

/// Pools by limit and cost.
fn pools() -> impl Strategy<Value = Vec<(Option<usize>, u32)>> {
    prop::collection::vec((prop::option::weighted(0.9, 0..=8_usize), 0..3_u32), 1..=2)
}

fn problem(drafts: &[Draft], pairs: &[DraftPair], pools: &[(Option<usize>, u32)]) -> Problem {
    let pool = |&(limit, cost): &(Option<usize>, u32)| match limit {
        Some(limit) => Pool::limited("limited", limit).costing(cost),
        None => Pool::unlimited("unlimited").costing(cost),
    };
    let mut problem = Problem::with_pools(pools.iter().map(pool).collect::<Vec<_>>());
    let mut whole: Option<(BufferId, usize)> = None;
    let ids: Vec<PoolId> = pool_ids(&problem);
    for draft in drafts {
        let buffer = Buffer::new(draft.size, draft.live.0..draft.live.0 + draft.live.1);
        let buffer = Buffer { traffic: draft.traffic, ..buffer };
        let allowed = |buffer: Buffer| match ids.get(draft.pool.wrapping_sub(1)) {
            Some(&pool) => buffer.in_pools([pool]),
            None => buffer,
        };
        match (&draft.position, whole) {
            (&DraftPosition::Inside(at), Some((of, size))) if at + draft.size <= size => {
                problem.add(buffer.inside(of, at));
            }
            (&DraftPosition::Fixed(offset), _) => {
                let alignment = 1 << draft.alignment;
                problem.add(allowed(buffer.aligned(alignment).fixed(offset * alignment)));
            }
            _ => {
                let id = problem.add(allowed(buffer.aligned(1 << draft.alignment)));
                whole = Some((id, draft.size));
            }
        }
    }
    let ids: Vec<BufferId> = problem.ids().collect();
    for &(first, second, gap) in pairs {
        if let (Some(&first), Some(&second)) = (ids.get(first), ids.get(second))
            && first != second
        {
            match gap {
                Some((below, above)) => problem.set_gap(first, second, Gap { below, above }),
                None => problem.set_conflict(first, second),
            }
        }
    }
    problem
}

fn pool_ids(problem: &Problem) -> Vec<PoolId> {
    let mut all = Problem::with_pools(problem.pools());
    let any = all.add(Buffer::new(0, 0..0));
    all.candidates(any)
}

/// What the plan's traffic costs.
fn cost(problem: &Problem, places: &[Place]) -> u64 {
    let cost = problem.buffers().iter().zip(places);
    let cost = cost.map(|(buffer, place)| {
        let traffic = buffer.traffic.unwrap_or(2 * buffer.size) as u64;
        traffic * u64::from(problem.pools()[place.pool.index()].cost)
    });
    cost.sum()
}

/// The least value of `worth` over all ways to place the buffers below `end`, in the pools
/// of `chosen` if there are any.
fn least(
    problem: &Problem,
    end: usize,
    chosen: Option<&[Place]>,
    worth: &dyn Fn(&[Place]) -> u64,
) -> Option<u64> {
    let mut places = Vec::new();
    let mut best = None;
    let search = Search { problem, end, chosen, worth, ids: problem.ids().collect() };
    search.extend(&mut places, &mut best);
    best
}

struct Search<'a> {
    problem: &'a Problem,
    end: usize,
    chosen: Option<&'a [Place]>,
    worth: &'a dyn Fn(&[Place]) -> u64,
    ids: Vec<BufferId>,
}

impl Search<'_> {
    fn extend(&self, places: &mut Vec<Place>, best: &mut Option<u64>) {
        // More buffers make nothing worth less.
        let worth = (self.worth)(places);
        if best.is_some_and(|best| worth >= best) {
            return;
        }
        let Some(&id) = self.ids.get(places.len()) else {
            *best = Some(worth);
            return;
        };
        for place in self.places(id, places) {
            if (0..places.len()).all(|other| self.are_clear(id, place, other, places[other])) {
                places.push(place);
                self.extend(places, best);
                places.pop();
            }
        }
    }

    /// Where a buffer may lie for itself.
    fn places(&self, id: BufferId, placed: &[Place]) -> Vec<Place> {
        let buffer = &self.problem.buffers()[id.index()];
        let mut pools = self.problem.candidates(id);
        pools.retain(|&pool| self.chosen.is_none_or(|chosen| chosen[id.index()].pool == pool));
        let mut places = Vec::new();
        for pool in pools {
            let offsets: Vec<usize> = match buffer.position {
                Position::Inside { of, at } => {
                    let container = placed[of.index()];
                    if container.pool != pool {
                        continue;
                    }
                    vec![container.offset + at]
                }
                Position::Fixed(offset) => vec![offset],
                Position::Free => (0..=self.end).step_by(buffer.alignment).collect(),
            };
            let limit = self.problem.pools()[pool.index()].limit.unwrap_or(usize::MAX);
            let fits = |offset: &usize| buffer.size == 0 || offset + buffer.size <= limit;
            let offsets = offsets.into_iter().filter(fits);
            // What takes no place lies anywhere.
            let most = if buffer.size == 0 { 1 } else { usize::MAX };
            places.extend(offsets.take(most).map(|offset| Place { pool, offset }));
        }
        places
    }

    fn are_clear(&self, id: BufferId, place: Place, other: usize, at: Place) -> bool {
        let (a, b) = (&self.problem.buffers()[id.index()], &self.problem.buffers()[other]);
        let container = |id: usize| match self.problem.buffers()[id].position {
            Position::Inside { of, .. } => of.index(),
            Position::Free | Position::Fixed(_) => id,
        };
        if place.pool != at.pool || a.size == 0 || b.size == 0 || container(id.index()) == container(other) {
            return true;
        }
        let alive_together = a.live.start.max(b.live.start) < a.live.end.min(b.live.end);
        let plain = alive_together.then_some(Gap { below: a.size as i64, above: b.size as i64 });
        let gap = self.problem.declared_gap(id, self.ids[other]).or(plain);
        let (offset, other) = (place.offset as i64, at.offset as i64);
        gap.is_none_or(|gap| offset + gap.below <= other || other + gap.above <= offset)
    }
}

/// Whether no gap forbids more than it must: no parts next to declared gaps.
fn is_exact(problem: &Problem) -> bool {
    let inside = |buffer: &Buffer| matches!(buffer.position, Position::Inside { .. });
    !problem.buffers().iter().any(inside)
}

/// Beyond all that a plan of these sizes may need.
const END: usize = 40;

fn check_plan(problem: &Problem, plan: &Plan) -> Result<(), TestCaseError> {
    prop_assert_eq!(verify(problem, plan), Ok(()));
    for (index, pool) in plan.pools.iter().enumerate() {
        let size = |places: &[Place]| {
            let ends = problem
                .buffers()
                .iter()
                .zip(places)
                .filter(|(buffer, place)| buffer.size > 0 && place.pool.index() == index);
            ends.map(|(buffer, place)| (place.offset + buffer.size) as u64).max().unwrap_or(0)
        };
        let end = plan.pools.iter().map(|pool| pool.size).max().unwrap_or(0);
        let least = least(problem, end, Some(&plan.places), &size);
        prop_assert!(least.is_some_and(|least| pool.lower_bound as u64 <= least), "{pool:?} {least:?}");
        prop_assert!(!pool.proved || least == Some(pool.size as u64), "{pool:?} {least:?}");
        prop_assert!(!is_exact(problem) || pool.proved, "{pool:?} {least:?}");
    }
    let cheapest = least(problem, END, None, &|places| cost(problem, places));
    prop_assert!(!plan.cheapest || cheapest == Some(cost(problem, &plan.places)), "{cheapest:?}");
    prop_assert!(!is_exact(problem) || plan.cheapest);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_proved_holds(
        drafts in prop::collection::vec(draft(), 0..=4),
        pairs in pairs(),
        pools in pools(),
        nodes in prop_oneof![3 => Just(Limits::default().nodes), 1 => 0..40_u64],
    ) {
        let problem = problem(&drafts, &pairs, &pools);
        let enough = nodes == Limits::default().nodes;
        match plan(&problem, Planner::Optimal, &Limits { nodes, ..Limits::default() }) {
            Ok(plan) if enough => check_plan(&problem, &plan)?,
            Ok(plan) => {
                prop_assert_eq!(verify(&problem, &plan), Ok(()));
                let cheapest = || least(&problem, END, None, &|places| cost(&problem, places));
                prop_assert!(!plan.cheapest || cheapest() == Some(cost(&problem, &plan.places)));
            }
            Err(PlanError::NoRoom { impossible, .. }) => {
                let exists = least(&problem, END, None, &|_| 0).is_some();
                prop_assert!(!impossible || !exists);
                prop_assert!(exists || impossible || !enough || !is_exact(&problem));
            }
            Err(PlanError::OverLimit { lower_bound, limit, .. }) => {
                let exists = least(&problem, END, None, &|_| 0).is_some();
                prop_assert!(lower_bound <= limit || !exists);
                prop_assert!(exists || lower_bound > limit || !enough || !is_exact(&problem));
                prop_assert!(!exists || !enough || !is_exact(&problem));
            }
            // Parts may be kept from every pool of the buffer that holds them.
            Err(PlanError::Invalid(_)) => {}
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}
