//! Checks a plan against its problem, by the words of the problem alone.
//!
//! Nothing here is shared with a planner: a fault in one is found here.

use std::fmt;

use super::placement::Plan;
use super::problem::{BufferId, PoolId, Position, Problem};

/// The first rule that a plan was found to break.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Violation {
    /// The plan has not one place a buffer, or not one size a pool.
    Length,
    /// A buffer lies in a pool that it may not lie in.
    Pool(BufferId),
    /// The offset is not a multiple of the alignment.
    Alignment(BufferId),
    /// The buffer does not lie where the problem fixes it.
    Moved(BufferId),
    /// The buffer reaches beyond the size that the plan gives for its pool.
    Outside(BufferId),
    /// The pool is larger than its limit.
    Limit(PoolId),
    /// A pool is smaller than the bound that the plan states for it.
    Bound(PoolId),
    /// Two buffers that are alive together share a byte.
    Overlap(BufferId, BufferId),
    /// Two buffers lie closer than the gap declared for them.
    Gap(BufferId, BufferId),
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => f.write_str("the plan is not for this problem"),
            Self::Pool(id) => write!(f, "buffer {} lies in a pool it may not lie in", id.index()),
            Self::Alignment(id) => write!(f, "buffer {} is not aligned", id.index()),
            Self::Moved(id) => write!(f, "buffer {} is not where the problem fixes it", id.index()),
            Self::Outside(id) => write!(f, "buffer {} reaches beyond its pool", id.index()),
            Self::Limit(pool) => write!(f, "pool {} is larger than its limit", pool.index()),
            Self::Bound(pool) => write!(f, "pool {} is smaller than its stated lower bound", pool.index()),
            Self::Overlap(a, b) => {
                write!(f, "buffers {} and {} share bytes while both live", a.index(), b.index())
            }
            Self::Gap(a, b) => write!(f, "buffers {} and {} are closer than their gap", a.index(), b.index()),
        }
    }
}

impl std::error::Error for Violation {}

/// Checks that `plan` keeps every rule of `problem`.
///
/// Buffers of no bytes are held to pool, alignment and position only.
pub fn verify(problem: &Problem, plan: &Plan) -> Result<(), Violation> {
    if plan.places.len() != problem.buffers().len() || plan.pools.len() != problem.pools().len() {
        return Err(Violation::Length);
    }
    check_pools(problem, plan)?;
    for id in problem.ids() {
        check_buffer(problem, plan, id)?;
    }
    check_gaps(problem, plan)?;
    check_overlaps(problem, plan)
}

fn check_pools(problem: &Problem, plan: &Plan) -> Result<(), Violation> {
    for (index, (pool, planned)) in problem.pools().iter().zip(&plan.pools).enumerate() {
        if pool.limit.is_some_and(|limit| planned.size > limit) {
            return Err(Violation::Limit(PoolId(index)));
        }
        if planned.size < planned.lower_bound {
            return Err(Violation::Bound(PoolId(index)));
        }
    }
    Ok(())
}

fn check_buffer(problem: &Problem, plan: &Plan, id: BufferId) -> Result<(), Violation> {
    let buffer = &problem.buffers()[id.index()];
    let place = plan.places[id.index()];
    if !problem.candidates(id).contains(&place.pool) {
        return Err(Violation::Pool(id));
    }
    if !place.offset.is_multiple_of(buffer.alignment) {
        return Err(Violation::Alignment(id));
    }
    let stays = match buffer.position {
        Position::Free => true,
        Position::Fixed(offset) => place.offset == offset,
        Position::Inside { of, at } => {
            let container = plan.places[of.index()];
            place.pool == container.pool && container.offset.checked_add(at) == Some(place.offset)
        }
    };
    if !stays {
        return Err(Violation::Moved(id));
    }
    let end = place.offset.checked_add(buffer.size);
    if buffer.size > 0 && end.is_none_or(|end| end > plan.pools[place.pool.index()].size) {
        return Err(Violation::Outside(id));
    }
    Ok(())
}

fn check_gaps(problem: &Problem, plan: &Plan) -> Result<(), Violation> {
    for (first, second, gap) in problem.gaps() {
        if problem.buffers()[first.index()].size == 0 || problem.buffers()[second.index()].size == 0 {
            continue;
        }
        let (a, b) = (plan.places[first.index()], plan.places[second.index()]);
        if a.pool == b.pool && !share(problem, first, second) && !gap.holds(a.offset, b.offset) {
            return Err(Violation::Gap(first, second));
        }
    }
    Ok(())
}

/// Only buffers that share addresses can break the rule on live intervals, so
/// those are looked at, in the order of their offsets.
fn check_overlaps(problem: &Problem, plan: &Plan) -> Result<(), Violation> {
    let size = |id: BufferId| problem.buffers()[id.index()].size;
    let mut ids: Vec<BufferId> = problem.ids().filter(|&id| size(id) > 0).collect();
    ids.sort_by_key(|&id| (plan.places[id.index()].pool, plan.offset(id)));
    for (position, &lower) in ids.iter().enumerate() {
        let (pool, end) = (plan.places[lower.index()].pool, plan.offset(lower) + size(lower));
        let meets = |id: &BufferId| plan.places[id.index()].pool == pool && plan.offset(*id) < end;
        for &upper in ids[position + 1..].iter().take_while(|id| meets(id)) {
            if alive_together(problem, lower, upper)
                && problem.declared_gap(lower, upper).is_none()
                && !share(problem, lower, upper)
            {
                return Err(Violation::Overlap(lower, upper));
            }
        }
    }
    Ok(())
}

fn alive_together(problem: &Problem, first: BufferId, second: BufferId) -> bool {
    let (a, b) = (&problem.buffers()[first.index()].live, &problem.buffers()[second.index()].live);
    a.start.max(b.start) < a.end.min(b.end)
}

/// Whether the problem lays the two into the same bytes.
fn share(problem: &Problem, first: BufferId, second: BufferId) -> bool {
    container(problem, first) == container(problem, second)
}

fn container(problem: &Problem, id: BufferId) -> BufferId {
    match problem.buffers()[id.index()].position {
        Position::Inside { of, .. } => of,
        Position::Free | Position::Fixed(_) => id,
    }
}
