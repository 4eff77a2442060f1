//! The problem as the planners see it: rigid items and their pairwise gaps.
//!
//! A buffer together with all that lie inside it is one item, because one
//! offset places them all. The gap of two items is the largest that any two
//! of their buffers ask for. All arithmetic is on `i64` and was checked once,
//! here, not to overflow.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::PlanError;
use super::bounds::shared_at_most;
use super::greedy::Layout;
use super::problem::{BufferId, Fault, Gap, InvalidProblem, PoolId, Position, Problem};

/// A buffer of an item.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) buffer: BufferId,
    /// Bytes between the start of the item and that of the buffer.
    pub(super) at: i64,
    pub(super) size: i64,
    start: usize,
    end: usize,
}

impl Member {
    /// Whether both are alive at some step.
    fn meets(&self, other: &Self) -> bool {
        self.start.max(other.start) < self.end.min(other.end)
    }
}

/// Buffers that one offset places.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// The buffer that contains all others.
    pub(super) container: BufferId,
    /// The buffers that have bytes.
    pub(super) members: Vec<Member>,
    /// Bytes from the start of the first buffer to the end of the last.
    pub(super) extent: i64,
    pub(super) alignment: i64,
    pub(super) fixed: Option<i64>,
    /// Pools that all its buffers may lie in, the cheapest first, then the preferred one.
    pub(super) pools: Vec<PoolId>,
    /// Bytes read and written in a run.
    traffic: u128,
    /// Some pair of buffers with a declared gap has one of its buffers.
    pub(super) declares: bool,
}

impl Item {
    /// The least offset from `from` up that has the alignment.
    pub(super) fn align(&self, from: i64) -> i64 {
        // Alignments are powers of two.
        (from + self.alignment - 1) & -self.alignment
    }

    /// Steps during which it has bytes in use, counted for each buffer.
    pub(super) fn steps_alive(&self) -> i64 {
        self.members.iter().map(|member| (member.end - member.start) as i64).sum()
    }

    /// Whether it is one buffer at most, free and without declared gaps.
    fn is_plain(&self) -> bool {
        self.members.len() <= 1 && self.fixed.is_none() && !self.declares
    }

    /// The steps from the first to the last, excluded, at which it has bytes in
    /// use.
    pub(super) fn live(&self) -> (usize, usize) {
        let end = self.members.iter().map(|member| member.end).max();
        (self.first_step(), end.unwrap_or(0))
    }

    /// The first step at which it has bytes in use.
    pub(super) fn first_step(&self) -> usize {
        self.members.iter().map(|member| member.start).min().unwrap_or(0)
    }
}

/// A set of buffers of which no two may share bytes without a declared gap:
/// those alive at one step, or such that conflict by declaration.
pub(super) type Clique = Vec<BufferId>;

/// Items, gaps and limits.
#[derive(Clone)]
pub(super) struct Model<'a> {
    pub(super) problem: &'a Problem,
    pub(super) items: Vec<Item>,
    /// Of each buffer: its item and its place there.
    homes: Vec<(usize, i64)>,
    /// Of each pool: bytes available.
    pub(super) limits: Vec<i64>,
    /// Pairs whose declared gap lets them share bytes.
    pub(super) overlaps: Vec<(BufferId, BufferId, Gap)>,
    /// Every item is one buffer at most, free and without declared gaps.
    pub(super) is_plain: bool,
    conflicts: OnceCell<Vec<i64>>,
    neighbours: OnceCell<Option<Neighbours>>,
}

/// Of each item: the items that it conflicts with, and the gaps to them.
pub(super) type Neighbours = Vec<Vec<(usize, Gap)>>;

/// Pairs in conflict whose gaps are kept, at most: some 200 MiB.
const MOST_NEIGHBOURS: usize = 4_000_000;

/// Sums of sizes, alignments and gaps stay below this, so that no sum of two
/// offsets overflows.
pub(super) const LARGEST: i64 = i64::MAX / 4;

impl<'a> Model<'a> {
    /// Groups the buffers of a problem whose parts were checked one by one.
    pub(super) fn new(problem: &'a Problem) -> Result<Self, PlanError> {
        check_sizes(problem)?;
        let mut items: Vec<Item> = Vec::new();
        let mut homes = vec![(usize::MAX, 0); problem.buffers().len()];
        for (id, buffer) in problem.ids().zip(problem.buffers()) {
            if matches!(buffer.position, Position::Inside { .. }) {
                continue;
            }
            homes[id.index()] = (items.len(), 0);
            items.push(Item {
                container: id,
                members: Vec::new(),
                extent: 0,
                alignment: 1,
                fixed: match buffer.position {
                    Position::Fixed(offset) => Some(offset as i64),
                    Position::Free | Position::Inside { .. } => None,
                },
                pools: problem.candidates(id),
                traffic: 0,
                declares: false,
            });
        }
        for (id, buffer) in problem.ids().zip(problem.buffers()) {
            if let Position::Inside { of, at } = buffer.position {
                homes[id.index()] = (homes[of.index()].0, at as i64);
            }
            let (item, at) = homes[id.index()];
            add_member(problem, id, at, &mut items[item])?;
        }
        for item in &mut items {
            item.pools.sort_by_key(|pool| problem.pools()[pool.index()].cost);
        }
        for (first, second, _) in problem.gaps() {
            items[homes[first.index()].0].declares = true;
            items[homes[second.index()].0].declares = true;
        }
        let limits = problem.pools().iter().map(|pool| limit_of(pool.limit)).collect();
        let size = |id: BufferId| problem.buffers()[id.index()].size as i64;
        let overlaps =
            |&(first, second, gap): &(_, _, _)| shared_at_most(size(first), size(second), gap, 1) > 0;
        let overlaps = problem.gaps().filter(overlaps).collect();
        Ok(Self {
            is_plain: items.iter().all(Item::is_plain),
            problem,
            items,
            homes,
            limits,
            overlaps,
            conflicts: OnceCell::new(),
            neighbours: OnceCell::new(),
        })
    }

    /// Of each item: the number of items that it conflicts with.
    pub(super) fn conflicts(&self) -> &[i64] {
        self.conflicts.get_or_init(
            || {
                if self.is_plain { self.count_by_steps() } else { self.count_by_pairs() }
            },
        )
    }

    fn count_by_pairs(&self) -> Vec<i64> {
        if let Some(neighbours) = self.neighbours() {
            return neighbours.iter().map(|list| list.len() as i64).collect();
        }
        let mut counts = vec![0; self.items.len()];
        for first in 0..counts.len() {
            for second in first + 1..counts.len() {
                if self.gap(first, second).is_some() {
                    counts[first] += 1;
                    counts[second] += 1;
                }
            }
        }
        counts
    }

    /// All gaps, if there are not too many to be kept: planners that place the
    /// same items again and again need not look at all pairs each time.
    pub(super) fn neighbours(&self) -> Option<&Neighbours> {
        self.neighbours.get_or_init(|| self.find_neighbours()).as_ref()
    }

    fn find_neighbours(&self) -> Option<Neighbours> {
        let mut neighbours: Neighbours = vec![Vec::new(); self.items.len()];
        let mut pairs = 0;
        let mut add = |first: usize, second: usize| {
            if let Some(gap) = self.gap(first, second) {
                pairs += 1;
                neighbours[first].push((second, gap));
                neighbours[second].push((first, gap.flipped()));
            }
            pairs <= MOST_NEIGHBOURS
        };
        let lives: Vec<_> = (0..self.items.len()).map(|item| self.life(item)).collect();
        let meet = |a: usize, b: usize| lives[a].start.max(lives[b].start) < lives[a].end.min(lives[b].end);
        // In the order of their starts, each with those that have not ended.
        let mut order: Vec<usize> = (0..lives.len()).filter(|&item| !lives[item].is_empty()).collect();
        order.sort_by_key(|&item| lives[item].start);
        let mut alive: Vec<usize> = Vec::new();
        for item in order {
            alive.retain(|&other| lives[other].end > lives[item].start);
            if !alive.iter().all(|&other| add(other, item)) {
                return None;
            }
            alive.push(item);
        }
        // And those that keep apart by declaration, whenever they live.
        let declared = self.problem.gaps().map(|(a, b, _)| (self.home(a).0, self.home(b).0));
        let declared: BTreeSet<_> = declared.map(|(a, b)| (a.min(b), a.max(b))).collect();
        let apart = declared.into_iter().filter(|&(a, b)| a != b && !meet(a, b));
        if !apart.into_iter().all(|(a, b)| add(a, b)) {
            return None;
        }
        for list in &mut neighbours {
            list.sort_unstable_by_key(|(item, _)| *item);
        }
        Some(neighbours)
    }

    /// The steps from the first to the last at which a buffer of the item is alive.
    fn life(&self, item: usize) -> Range<usize> {
        let lives =
            self.items[item].members.iter().map(|member| &self.problem.buffers()[member.buffer.index()].live);
        let lives = lives.filter(|live| !live.is_empty());
        lives
            .cloned()
            .reduce(|life, live| life.start.min(live.start)..life.end.max(live.end))
            .unwrap_or_default()
    }

    /// Items alive together with one: all that start before it ends, without
    /// those that end before it starts, and without itself.
    fn count_by_steps(&self) -> Vec<i64> {
        let alive = || self.items.iter().map(Item::live).filter(|(start, end)| start < end);
        let mut starts: Vec<usize> = alive().map(|(start, _)| start).collect();
        let mut ends: Vec<usize> = alive().map(|(_, end)| end).collect();
        starts.sort_unstable();
        ends.sort_unstable();
        let count = |(start, end): (usize, usize)| {
            if start == end {
                return 0;
            }
            let started = starts.partition_point(|&other| other < end);
            let ended = ends.partition_point(|&other| other <= start);
            (started - ended) as i64 - 1
        };
        self.items.iter().map(|item| count(item.live())).collect()
    }

    /// What the traffic of an item costs in a pool.
    pub(super) fn cost_in(&self, item: usize, pool: PoolId) -> u128 {
        self.items[item].traffic * u128::from(self.problem.pools()[pool.index()].cost)
    }

    /// What the traffic of all items costs.
    pub(super) fn cost(&self, layout: &Layout) -> u128 {
        let places = layout.places.iter().enumerate();
        places.map(|(item, &(pool, _))| self.cost_in(item, pool)).sum()
    }

    /// Whether every item lies where its traffic costs least.
    pub(super) fn is_cheapest(&self, layout: &Layout) -> bool {
        let least = |item: usize| self.items[item].pools.first().map_or(0, |&pool| self.cost_in(item, pool));
        let mut places = layout.places.iter().enumerate();
        places.all(|(item, &(pool, _))| self.cost_in(item, pool) == least(item))
    }

    /// How much more an item costs in its dearest pool than in its cheapest.
    pub(super) fn regret(&self, item: usize) -> u128 {
        let pools = &self.items[item].pools;
        let cost = |pool: Option<&PoolId>| pool.map_or(0, |&pool| self.cost_in(item, pool));
        cost(pools.last()) - cost(pools.first())
    }

    /// Whether it matters for the cost of traffic which pool an item lies in.
    pub(super) fn has_costs(&self) -> bool {
        (0..self.items.len()).any(|item| self.regret(item) > 0)
    }

    /// The same with a pool for each item, and no limits.
    pub(super) fn assigned(&self, pools: &[Option<PoolId>]) -> Self {
        let mut model = self.clone();
        for (item, &pool) in model.items.iter_mut().zip(pools) {
            item.pools = pool.into_iter().collect();
        }
        model.limits.fill(LARGEST);
        model
    }

    /// Whether no two items at fixed offsets are kept further apart than they must.
    pub(super) fn fixed_are_exact(&self) -> bool {
        let fixed: Vec<usize> = (0..self.items.len()).filter(|&i| self.items[i].fixed.is_some()).collect();
        fixed.iter().all(|&a| fixed.iter().all(|&b| a == b || self.is_exact(a, b)))
    }

    /// Bytes of a buffer.
    pub(super) fn size(&self, buffer: BufferId) -> i64 {
        self.problem.buffers()[buffer.index()].size as i64
    }

    /// Whether there is a step at which both buffers are alive.
    pub(super) fn alive_together(&self, first: BufferId, second: BufferId) -> bool {
        let live = |id: BufferId| &self.problem.buffers()[id.index()].live;
        live(first).start.max(live(second).start) < live(first).end.min(live(second).end)
    }

    /// The item of a buffer and the place of the buffer in it.
    pub(super) fn home(&self, buffer: BufferId) -> (usize, i64) {
        self.homes[buffer.index()]
    }

    /// What two different items keep apart when they lie in one pool; `None`
    /// when any two offsets will do.
    ///
    /// Where two buffers each forbid a stretch of distances, what lies between
    /// the stretches is given up too.
    pub(super) fn gap(&self, first: usize, second: usize) -> Option<Gap> {
        let (a, b) = (&self.items[first], &self.items[second]);
        if let ([m], [n]) = (&a.members[..], &b.members[..])
            && !(a.declares && b.declares)
        {
            // Nearly all pairs of large problems.
            return m.meets(n).then_some(Gap { below: m.size, above: n.size });
        }
        self.member_gaps(first, second)
            .reduce(|a, b| Gap { below: a.below.max(b.below), above: a.above.max(b.above) })
    }

    /// Whether [`Model::gap`] forbids no more than the buffers ask for.
    pub(super) fn is_exact(&self, first: usize, second: usize) -> bool {
        let mut gaps: Vec<Gap> = self.member_gaps(first, second).collect();
        // Each forbids the distances above `-above` and below `below`.
        gaps.sort_unstable_by_key(|gap| (-gap.above, gap.below));
        let mut reached = i64::MIN;
        gaps.iter().enumerate().all(|(position, gap)| {
            let joins = position == 0 || 1 - gap.above <= reached;
            reached = reached.max(gap.below);
            joins
        })
    }

    /// What the buffers of two items keep apart, as distances of the items.
    fn member_gaps(&self, first: usize, second: usize) -> impl Iterator<Item = Gap> {
        let (a, b) = (&self.items[first], &self.items[second]);
        let pairs = a.members.iter().flat_map(move |m| b.members.iter().map(move |n| (m, n)));
        pairs.filter_map(move |(m, n)| {
            let needed = self.member_gap(a, m, b, n)?;
            let below = needed.below + m.at - n.at;
            let above = needed.above + n.at - m.at;
            // Else every distance is below or above: nothing is forbidden.
            (below + above > 1).then_some(Gap { below, above })
        })
    }

    fn member_gap(&self, a: &Item, m: &Member, b: &Item, n: &Member) -> Option<Gap> {
        if a.declares
            && b.declares
            && let Some(gap) = self.problem.declared_gap(m.buffer, n.buffer)
        {
            return Some(gap);
        }
        m.meets(n).then_some(Gap { below: m.size, above: n.size })
    }

    /// The largest sets of buffers alive at one step, in the order of steps: all, or
    /// only the one with most bytes.
    pub(super) fn live_sets(&self, all: bool) -> Vec<Clique> {
        let mut events: Vec<(usize, bool, BufferId)> = Vec::new();
        for member in self.items.iter().flat_map(|item| &item.members) {
            if member.start < member.end {
                events.push((member.start, true, member.buffer));
                events.push((member.end, false, member.buffer));
            }
        }
        // At one step, ends come first: `false` sorts before `true`.
        events.sort_unstable();
        let mut live = BTreeSet::new();
        let mut sets = Vec::new();
        let (mut load, mut heaviest) = (0, (0, 0));
        let mut grown = false;
        for (position, &(_, starts, buffer)) in events.iter().enumerate() {
            if grown && !starts {
                if all {
                    sets.push(live.iter().copied().collect());
                } else if load > heaviest.0 {
                    heaviest = (load, position);
                }
            }
            load += if starts { self.size(buffer) } else { -self.size(buffer) };
            replay(&mut live, starts, buffer);
            grown = starts;
        }
        if !all {
            live.clear();
            events[..heaviest.1].iter().for_each(|&(_, starts, buffer)| replay(&mut live, starts, buffer));
            sets.push(live.into_iter().collect());
        }
        sets
    }

    /// The items of a clique and how many bytes of each it needs.
    pub(super) fn weights(&self, clique: &[BufferId]) -> Vec<(usize, i64)> {
        let mut parts: BTreeMap<usize, Vec<(i64, i64)>> = BTreeMap::new();
        for &buffer in clique {
            let (item, at) = self.home(buffer);
            parts.entry(item).or_default().push((at, at + self.size(buffer)));
        }
        parts.into_iter().map(|(item, ranges)| (item, covered(ranges))).collect()
    }
}

fn replay(live: &mut BTreeSet<BufferId>, starts: bool, buffer: BufferId) {
    if starts {
        live.insert(buffer);
    } else {
        live.remove(&buffer);
    }
}

/// Bytes in at least one of the ranges.
fn covered(mut ranges: Vec<(i64, i64)>) -> i64 {
    ranges.sort_unstable();
    let mut reached = 0;
    let mut bytes = 0;
    for (start, end) in ranges {
        bytes += (end - start.max(reached)).max(0);
        reached = reached.max(end);
    }
    bytes
}

fn limit_of(limit: Option<usize>) -> i64 {
    limit.and_then(|limit| i64::try_from(limit).ok()).map_or(LARGEST, |limit| limit.min(LARGEST))
}

fn add_member(problem: &Problem, id: BufferId, at: i64, item: &mut Item) -> Result<(), PlanError> {
    let buffer = &problem.buffers()[id.index()];
    item.alignment = item.alignment.max(buffer.alignment as i64);
    item.traffic += buffer.traffic.map_or(2 * buffer.size as u128, |bytes| bytes as u128);
    let allowed = problem.candidates(id);
    item.pools.retain(|pool| allowed.contains(pool));
    if item.pools.is_empty() {
        return Err(PlanError::Invalid(InvalidProblem { buffer: id, fault: Fault::NoPool }));
    }
    if let Some(offset) = item.fixed
        && (offset + at) % buffer.alignment as i64 != 0
    {
        let fault = Fault::FixedUnaligned { offset: (offset + at) as usize, alignment: buffer.alignment };
        return Err(PlanError::Invalid(InvalidProblem { buffer: id, fault }));
    }
    if buffer.size > 0 {
        let size = buffer.size as i64;
        item.extent = item.extent.max(at + size);
        item.members.push(Member { buffer: id, at, size, start: buffer.live.start, end: buffer.live.end });
    }
    Ok(())
}

/// Bounds the largest offset that any plan can come to.
fn check_sizes(problem: &Problem) -> Result<(), PlanError> {
    let mut total: i128 = 0;
    for buffer in problem.buffers() {
        let fixed = match buffer.position {
            Position::Fixed(offset) => offset,
            Position::Free | Position::Inside { .. } => 0,
        };
        total += buffer.size as i128 + buffer.alignment as i128 + fixed as i128;
    }
    for (_, _, gap) in problem.gaps() {
        total += i128::from(gap.below).abs() + i128::from(gap.above).abs();
    }
    if total > i128::from(LARGEST) { Err(PlanError::TooLarge) } else { Ok(()) }
}
