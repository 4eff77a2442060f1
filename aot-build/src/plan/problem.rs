//! What is to be planned: buffers, the pools they may lie in, and which of
//! them must keep clear of each other.
//!
//! Two buffers in one pool keep clear of each other when they are alive at a
//! common step. A [`Gap`] declared for a pair replaces that rule: it says how
//! far apart the two must *start*, in either order. So plain buffers, in-place
//! operators, outputs that overlap their dying input, and conflicts that are
//! not a matter of time are all one problem.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

/// A buffer of a [`Problem`], by its order of addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BufferId(pub(super) usize);

impl BufferId {
    /// Position in the problem, counted from 0.
    pub fn index(self) -> usize {
        self.0
    }
}

/// A pool of a [`Problem`], by its order of addition; the default is the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolId(pub(super) usize);

impl PoolId {
    /// Position in the problem, counted from 0.
    pub fn index(self) -> usize {
        self.0
    }
}

/// A named region of memory that buffers are placed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Name for messages and reports.
    pub name: String,
    /// Bytes available; `None` where the plan decides.
    pub limit: Option<usize>,
    /// What it costs to read or write a byte, in any unit. The planners put buffers where
    /// their traffic costs least; among equals, the order of preference decides.
    pub cost: u32,
}

impl Pool {
    /// A pool as large as the plan needs.
    pub fn unlimited(name: impl Into<String>) -> Self {
        Self { name: name.into(), limit: None, cost: 0 }
    }

    /// A pool of at most `limit` bytes.
    pub fn limited(name: impl Into<String>, limit: usize) -> Self {
        Self { name: name.into(), limit: Some(limit), cost: 0 }
    }

    /// The same with a cost for each byte read or written.
    pub fn costing(self, cost: u32) -> Self {
        Self { cost, ..self }
    }
}

/// A region of memory that is needed during some steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Bytes. A buffer of no bytes lies anywhere and disturbs nobody.
    pub size: usize,
    /// The offset is a multiple of this power of two.
    pub alignment: usize,
    /// Steps during which the bytes are needed, the end excluded. An empty
    /// interval meets no other: such a buffer has only declared conflicts.
    pub live: Range<usize>,
    /// Pools that it may lie in, the preferred one first; empty means all, in
    /// the order of the problem.
    pub pools: Vec<PoolId>,
    /// Where it must lie.
    pub position: Position,
    /// Bytes read and written in a run; `None` for twice the size: written once, read once.
    pub traffic: Option<usize>,
}

/// Who decides on the offset of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// The planner.
    Free,
    /// The caller: this offset.
    Fixed(usize),
    /// Another buffer, inside which it lies `at` bytes from the start and with
    /// which it shares those bytes: a reshape, a slice, an input of a
    /// concatenation. Both keep their own live intervals.
    Inside {
        /// The buffer that contains this one; itself not inside another.
        of: BufferId,
        /// Bytes between the two starts.
        at: usize,
    },
}

impl Buffer {
    /// A free buffer without alignment that may lie in any pool.
    pub fn new(size: usize, live: Range<usize>) -> Self {
        Self { size, alignment: 1, live, pools: Vec::new(), position: Position::Free, traffic: None }
    }

    /// The same with its offset a multiple of `alignment`.
    pub fn aligned(self, alignment: usize) -> Self {
        Self { alignment, ..self }
    }

    /// The same, restricted to `pools`, the preferred one first.
    pub fn in_pools(self, pools: impl Into<Vec<PoolId>>) -> Self {
        Self { pools: pools.into(), ..self }
    }

    /// The same with the bytes that a run reads and writes.
    pub fn with_traffic(self, bytes: usize) -> Self {
        Self { traffic: Some(bytes), ..self }
    }

    /// The same at an offset that the planner may not change.
    pub fn fixed(self, offset: usize) -> Self {
        Self { position: Position::Fixed(offset), ..self }
    }

    /// The same as a part of buffer `of`, `at` bytes from its start.
    pub fn inside(self, of: BufferId, at: usize) -> Self {
        Self { position: Position::Inside { of, at }, ..self }
    }
}

/// How far apart buffers `u` and `t` start when they lie in one pool:
/// `off_u + below <= off_t` or `off_t + above <= off_u`.
///
/// Plain buffers have `below = size_u`, `above = size_t`. An elementwise
/// operator that may run in either direction has 0 and 0: any offsets will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Distance when the first buffer of the pair lies below the second.
    pub below: i64,
    /// Distance when the first buffer of the pair lies above the second.
    pub above: i64,
}

impl Gap {
    /// The same requirement with the buffers of the pair exchanged.
    pub fn flipped(self) -> Self {
        Self { below: self.above, above: self.below }
    }

    /// Whether the two offsets satisfy it.
    pub(super) fn holds(self, first: usize, second: usize) -> bool {
        // Offsets of a checked plan lie below `i64::MAX`; 128 bits need no proof.
        let (first, second) = (first as i128, second as i128);
        first + i128::from(self.below) <= second || second + i128::from(self.above) <= first
    }
}

/// Buffers, pools and the pairs with gaps of their own.
///
/// ```
/// use aot_build::plan::{Buffer, Limits, Planner, Problem, plan};
///
/// let mut problem = Problem::new();
/// let first = problem.add(Buffer::new(64, 0..2));
/// let second = problem.add(Buffer::new(32, 1..3).aligned(16));
/// let third = problem.add(Buffer::new(64, 2..4));
/// let plan = plan(&problem, Planner::Optimal, &Limits::default())?;
/// assert_eq!((plan.size(), plan.proved()), (96, true));
/// assert_eq!(plan.offset(first), plan.offset(third));
/// # let _ = second;
/// # Ok::<(), aot_build::plan::PlanError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pools: Vec<Pool>,
    buffers: Vec<Buffer>,
    /// Declared gaps; the first buffer of a key is the smaller.
    gaps: BTreeMap<(BufferId, BufferId), Gap>,
}

impl Default for Problem {
    fn default() -> Self {
        Self::new()
    }
}

impl Problem {
    /// A problem with one pool, `workspace`, as large as the plan needs.
    pub fn new() -> Self {
        Self::with_pools([Pool::unlimited("workspace")])
    }

    /// A problem with the given pools, in order of preference.
    pub fn with_pools(pools: impl Into<Vec<Pool>>) -> Self {
        Self { pools: pools.into(), buffers: Vec::new(), gaps: BTreeMap::new() }
    }

    /// Adds a pool after the others.
    pub fn add_pool(&mut self, pool: Pool) -> PoolId {
        self.pools.push(pool);
        PoolId(self.pools.len() - 1)
    }

    /// Adds a buffer.
    pub fn add(&mut self, buffer: Buffer) -> BufferId {
        self.buffers.push(buffer);
        BufferId(self.buffers.len() - 1)
    }

    /// Declares the gap that `first` and `second` keep, whenever they live.
    ///
    /// It takes the place of an earlier gap of the pair, and of the rule that
    /// buffers alive together share no byte.
    pub fn set_gap(&mut self, first: BufferId, second: BufferId, gap: Gap) {
        if first <= second {
            self.gaps.insert((first, second), gap);
        } else {
            self.gaps.insert((second, first), gap.flipped());
        }
    }

    /// Declares that `first` and `second` share no byte, whenever they live.
    pub fn set_conflict(&mut self, first: BufferId, second: BufferId) {
        let below = saturated(self.buffers[first.0].size);
        let above = saturated(self.buffers[second.0].size);
        self.set_gap(first, second, Gap { below, above });
    }

    /// The pools, by [`PoolId::index`].
    pub fn pools(&self) -> &[Pool] {
        &self.pools
    }

    /// The buffers, by [`BufferId::index`].
    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// The ids of all buffers, in order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = BufferId> + use<> {
        (0..self.buffers.len()).map(BufferId)
    }

    /// The declared gaps, each pair once, the smaller id first.
    pub fn gaps(&self) -> impl Iterator<Item = (BufferId, BufferId, Gap)> {
        self.gaps.iter().map(|(&(first, second), &gap)| (first, second, gap))
    }

    /// The gap declared for a pair.
    pub fn declared_gap(&self, first: BufferId, second: BufferId) -> Option<Gap> {
        if first <= second {
            self.gaps.get(&(first, second)).copied()
        } else {
            self.gaps.get(&(second, first)).map(|gap| gap.flipped())
        }
    }

    /// Pools that a buffer may lie in, the preferred one first.
    pub fn candidates(&self, buffer: BufferId) -> Vec<PoolId> {
        let pools = &self.buffers[buffer.0].pools;
        if pools.is_empty() { (0..self.pools.len()).map(PoolId).collect() } else { pools.clone() }
    }

    /// Takes away the limit of the last pool that a buffer may lie in, of those that have one,
    /// and lets it be the last resort of all buffers; whether there was one.
    pub(crate) fn lift_limit(&mut self, buffer: BufferId) -> bool {
        let limited = |pool: &PoolId| self.pools[pool.0].limit.is_some();
        let Some(pool) = self.candidates(buffer).into_iter().rfind(limited) else { return false };
        let pool = &mut self.pools[pool.0];
        (pool.limit, pool.cost) = (None, u32::MAX);
        true
    }

    /// Checks what the types cannot say.
    pub(super) fn check(&self) -> Result<(), InvalidProblem> {
        for id in self.ids() {
            self.check_buffer(id).map_err(|fault| InvalidProblem { buffer: id, fault })?;
        }
        for &(first, second) in self.gaps.keys() {
            let fault = if second.0 >= self.buffers.len() {
                Some(Fault::UnknownBuffer(second))
            } else if first == second {
                Some(Fault::GapToItself)
            } else {
                None
            };
            if let Some(fault) = fault {
                return Err(InvalidProblem { buffer: first, fault });
            }
        }
        Ok(())
    }

    fn check_buffer(&self, id: BufferId) -> Result<(), Fault> {
        let buffer = &self.buffers[id.0];
        if !buffer.alignment.is_power_of_two() {
            return Err(Fault::Alignment(buffer.alignment));
        }
        if buffer.live.start > buffer.live.end {
            return Err(Fault::Live(buffer.live.clone()));
        }
        let candidates = self.candidates(id);
        if candidates.is_empty() {
            return Err(Fault::NoPool);
        }
        if let Some(&pool) = candidates.iter().find(|pool| pool.0 >= self.pools.len()) {
            return Err(Fault::UnknownPool(pool));
        }
        match buffer.position {
            Position::Free => Ok(()),
            Position::Fixed(offset) if offset.is_multiple_of(buffer.alignment) => Ok(()),
            Position::Fixed(offset) => Err(Fault::FixedUnaligned { offset, alignment: buffer.alignment }),
            Position::Inside { of, at } => self.check_inside(buffer, of, at),
        }
    }

    fn check_inside(&self, buffer: &Buffer, of: BufferId, at: usize) -> Result<(), Fault> {
        let Some(container) = self.buffers.get(of.0) else {
            return Err(Fault::UnknownBuffer(of));
        };
        if matches!(container.position, Position::Inside { .. }) {
            return Err(Fault::Nested(of));
        }
        if !at.is_multiple_of(buffer.alignment) {
            return Err(Fault::FixedUnaligned { offset: at, alignment: buffer.alignment });
        }
        if at.checked_add(buffer.size).is_none_or(|end| end > container.size) {
            return Err(Fault::Outside { of, at, container: container.size });
        }
        Ok(())
    }
}

/// `size`, or the largest distance where it is beyond all planning.
fn saturated(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

/// A [`Problem`] that contradicts itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidProblem {
    /// The buffer at fault.
    pub buffer: BufferId,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What is wrong with a buffer of a [`Problem`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The alignment is not a power of two.
    Alignment(usize),
    /// The live interval ends before it starts.
    Live(Range<usize>),
    /// The problem has no pool.
    NoPool,
    /// It names a pool that the problem does not have.
    UnknownPool(PoolId),
    /// It names a buffer that the problem does not have.
    UnknownBuffer(BufferId),
    /// It lies inside a buffer that itself lies inside another.
    Nested(BufferId),
    /// A given offset is not a multiple of the alignment.
    FixedUnaligned {
        /// The given offset.
        offset: usize,
        /// The alignment of the buffer.
        alignment: usize,
    },
    /// It reaches beyond the end of the buffer that it lies inside.
    Outside {
        /// The containing buffer.
        of: BufferId,
        /// Bytes between the two starts.
        at: usize,
        /// Bytes of the containing buffer.
        container: usize,
    },
    /// A gap is declared between the buffer and itself.
    GapToItself,
}

impl fmt::Display for InvalidProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "buffer {}: ", self.buffer.0)?;
        match &self.fault {
            Fault::Alignment(found) => write!(f, "alignment {found} is not a power of two"),
            Fault::Live(live) => {
                write!(f, "live interval ends at {} before it starts at {}", live.end, live.start)
            }
            Fault::NoPool => f.write_str("the problem has no pool"),
            Fault::UnknownPool(pool) => write!(f, "the problem has no pool {}", pool.0),
            Fault::UnknownBuffer(other) => write!(f, "the problem has no buffer {}", other.0),
            Fault::Nested(of) => {
                write!(f, "lies inside buffer {}, which lies inside another", of.0)
            }
            Fault::FixedUnaligned { offset, alignment } => {
                write!(f, "offset {offset} is not a multiple of its alignment {alignment}")
            }
            Fault::Outside { of, at, container } => {
                write!(f, "does not fit at byte {at} of buffer {}, which has {container} bytes", of.0)
            }
            Fault::GapToItself => f.write_str("has a gap to itself"),
        }
    }
}

impl std::error::Error for InvalidProblem {}
