//! Memory planning: which bytes of which pool each buffer gets.
//!
//! A [`Problem`] states buffers, live intervals, pools and gaps; [`plan`]
//! returns a [`Plan`] made by one of several [`Planner`]s, checked by
//! [`verify`], which shares nothing with them, together with a lower bound and
//! whether the plan is proved to be the smallest.
//!
//! Several models that never run at once are one problem: each has steps of its own, so they
//! share all bytes but those of state, which is alive at every step.
//!
//! ```
//! use aot_build::plan::{Buffer, Limits, Planner, Problem, plan};
//!
//! let mut problem = Problem::new();
//! // The first model runs in steps 0 to 2, the second in steps 3 to 5.
//! let models = [(0, [100, 60]), (3, [120, 30])];
//! for (first, sizes) in models {
//!     for (step, size) in (first..).zip(sizes) {
//!         problem.add(Buffer::new(size, step..step + 2));
//!     }
//! }
//! let state = problem.add(Buffer::new(8, 0..6).aligned(4).fixed(0));
//! let plan = plan(&problem, Planner::Optimal, &Limits::default())?;
//! assert_eq!(plan.offset(state), 0);
//! assert_eq!((plan.size(), plan.proved()), (8 + 160, true));
//! # Ok::<(), aot_build::plan::PlanError>(())
//! ```

mod bounds;
mod greedy;
mod hill_climb;
mod intervals;
mod model;
mod optimal;
mod placement;
mod placement_search;
mod planner;
mod problem;
mod random;
mod search;
mod shelf;
mod tokens;
mod verify;

#[cfg(test)]
mod tests;

use std::fmt;

use greedy::{Layout, Order};
use model::Model;
use optimal::Packing;

pub use intervals::{Intervals, IntervalsError, IntervalsFault, read_intervals};
pub use placement::{Place, Plan, PoolPlan};
pub use planner::{Limits, Planner, UnknownPlanner};
pub use problem::{Buffer, BufferId, Fault, Gap, InvalidProblem, Pool, PoolId, Position, Problem};
pub use tokens::{StorageTokens, TokenGraph, TokenKind, TokenNode, UnknownValue, Value, storage_tokens};
pub use verify::{Violation, verify};

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanError {
    /// The problem contradicts itself.
    Invalid(InvalidProblem),
    /// Sizes, alignments, gaps and fixed offsets add up to more than can be
    /// counted.
    TooLarge,
    /// The planner found no place for a buffer within the limits of several
    /// pools, or for one at a fixed offset.
    NoRoom {
        /// The buffer that was left over.
        buffer: BufferId,
        /// Whether it is certain that no plan exists.
        impossible: bool,
    },
    /// The planner found no plan within the limit of the only pool.
    OverLimit {
        /// Bytes of the plan that it found.
        needed: usize,
        /// No plan needs fewer bytes; above the limit, there is none within it.
        lower_bound: usize,
        /// Bytes of the pool.
        limit: usize,
    },
    /// The planner made a plan that breaks the rules: a fault of ours.
    Broken(Violation),
}

impl PlanError {
    /// The item found no room, which proves nothing.
    fn no_room(model: &Model<'_>, item: usize) -> Self {
        Self::NoRoom { buffer: model.items[item].container, impossible: false }
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(invalid) => invalid.fmt(f),
            Self::TooLarge => f.write_str("the sizes add up to more bytes than can be counted"),
            Self::NoRoom { buffer, impossible: true } => {
                write!(f, "no plan fits the pools: there is no room for buffer {}", buffer.index())
            }
            Self::NoRoom { buffer, impossible: false } => {
                write!(f, "found no plan that fits the pools: no room for buffer {}", buffer.index())
            }
            Self::OverLimit { needed, lower_bound, limit } => {
                let known = if lower_bound > limit {
                    "no plan needs less than"
                } else {
                    "it is not known whether one exists; no plan needs less than"
                };
                write!(f, "found no plan within {limit} bytes, only one of {needed}; {known} {lower_bound}")
            }
            Self::Broken(violation) => write!(f, "the planner is at fault: {violation}"),
        }
    }
}

impl std::error::Error for PlanError {}

impl From<InvalidProblem> for PlanError {
    fn from(invalid: InvalidProblem) -> Self {
        Self::Invalid(invalid)
    }
}

/// Plans a problem and verifies the plan.
pub fn plan(problem: &Problem, planner: Planner, limits: &Limits) -> Result<Plan, PlanError> {
    problem.check()?;
    let mut model = Model::new(problem)?;
    // What does not fit the only pool is still worth a plan: its size tells how
    // much is missing.
    let limit = match problem.pools() {
        [pool] => pool.limit,
        _ => None,
    };
    if limit.is_some() {
        model.limits[0] = model::LARGEST;
    }
    let packing = match planner {
        Planner::None => judged(&model, greedy::place_apart(&model)?),
        Planner::StorageTokens => judged(&model, tokens::place_by_tokens(&model)?),
        Planner::GreedyBySize => judged(&model, greedy::place_by(&model, Order::Size)?),
        Planner::GreedyByConflicts => judged(&model, greedy::place_by(&model, Order::Conflicts)?),
        Planner::HillClimb => hill_climb::pack(&model, limits)?,
        Planner::Optimal => optimal::pack(&model, limit, limits)?,
    };
    if let Some(limit) = limit
        && packing.pools[0].size > limit
    {
        let PoolPlan { size, lower_bound, .. } = packing.pools[0];
        return Err(PlanError::OverLimit { needed: size, lower_bound, limit });
    }
    let plan = Plan {
        places: problem.ids().map(|id| place_of(&model, &packing.layout, id)).collect(),
        pools: packing.pools,
        cheapest: packing.is_cheapest,
        planner,
        nodes: packing.nodes,
    };
    verify(problem, &plan).map_err(PlanError::Broken)?;
    Ok(plan)
}

/// A layout with what the bounds say about it.
fn judged(model: &Model<'_>, layout: Layout) -> Packing {
    let sizes = layout.sizes(model);
    let pools = sizes.iter().enumerate().map(|(index, &size)| {
        let chosen = layout.items_in(PoolId(index));
        let bound = bounds::lower_bound(model, &chosen, &bounds::sections(model, &chosen));
        PoolPlan::new(size, bound)
    });
    Packing { pools: pools.collect(), is_cheapest: model.is_cheapest(&layout), layout, nodes: 0 }
}

fn place_of(model: &Model<'_>, layout: &Layout, id: BufferId) -> Place {
    let (item, at) = model.home(id);
    let (pool, offset) = layout.places[item];
    // Offsets and parts were checked not to be negative or too large.
    Place { pool, offset: (offset + at) as usize }
}
