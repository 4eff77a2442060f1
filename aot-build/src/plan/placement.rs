//! What a planner returns: a place for every buffer, and what is known of the
//! sizes.

use super::planner::Planner;
use super::problem::{BufferId, PoolId};

/// Where a buffer lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The pool.
    pub pool: PoolId,
    /// Bytes from the start of the pool.
    pub offset: usize,
}

/// What a plan needs of one pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolPlan {
    /// Bytes: the end of the highest buffer.
    pub size: usize,
    /// No plan that puts the same buffers into this pool needs fewer bytes.
    pub lower_bound: usize,
    /// `size` is the least possible for the buffers in this pool: it equals
    /// the bound, or the search for less was exhausted.
    pub proved: bool,
}

impl PoolPlan {
    pub(super) fn new(size: i64, lower_bound: i64) -> Self {
        Self { size: size as usize, lower_bound: lower_bound as usize, proved: size == lower_bound }
    }
}

/// Places for all buffers of a problem, verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The place of each buffer, by [`BufferId::index`].
    pub places: Vec<Place>,
    /// The pools, by [`PoolId::index`].
    pub pools: Vec<PoolPlan>,
    /// No plan within the limits costs less traffic than this choice of pools.
    pub cheapest: bool,
    /// The method that made it.
    pub planner: Planner,
    /// States that the search visited.
    pub nodes: u64,
}

impl Plan {
    /// The offset of a buffer in its pool.
    pub fn offset(&self, buffer: BufferId) -> usize {
        self.places[buffer.index()].offset
    }

    /// Bytes of all pools together.
    pub fn size(&self) -> usize {
        self.pools.iter().map(|pool| pool.size).sum()
    }

    /// The lower bounds of all pools together.
    pub fn lower_bound(&self) -> usize {
        self.pools.iter().map(|pool| pool.lower_bound).sum()
    }

    /// Whether every pool is as small as its buffers allow.
    pub fn proved(&self) -> bool {
        self.pools.iter().all(|pool| pool.proved)
    }
}
