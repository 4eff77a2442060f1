//! The planners by name, and how far they may search.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// How offsets are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Planner {
    /// Every buffer has bytes of its own.
    None,
    /// Buffers are handed from one to the next as whole storage tokens, in the
    /// order of their first steps; no token is ever divided.
    StorageTokens,
    /// The largest buffer first, each into the lowest place that is free.
    GreedyBySize,
    /// The buffer with most conflicts first.
    GreedyByConflicts,
    /// The order of a greedy planner, improved by exchanges.
    HillClimb,
    /// The smallest plan there is, proved where the search reaches that far.
    #[default]
    Optimal,
}

impl Planner {
    /// All planners, in the order of their ambition.
    pub const ALL: [Self; 6] = [
        Self::None,
        Self::StorageTokens,
        Self::GreedyBySize,
        Self::GreedyByConflicts,
        Self::HillClimb,
        Self::Optimal,
    ];

    /// The name in configurations and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::StorageTokens => "storage_tokens",
            Self::GreedyBySize => "greedy_by_size",
            Self::GreedyByConflicts => "greedy_by_conflicts",
            Self::HillClimb => "hill_climb",
            Self::Optimal => "optimal",
        }
    }
}

impl fmt::Display for Planner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no planner has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPlanner(pub String);

impl fmt::Display for UnknownPlanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Planner::ALL.map(Planner::name).join(", ");
        write!(f, "there is no planner `{}`; there are {names}", self.0)
    }
}

impl std::error::Error for UnknownPlanner {}

impl FromStr for Planner {
    type Err = UnknownPlanner;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|planner| planner.name() == name);
        found.ok_or_else(|| UnknownPlanner(name.to_owned()))
    }
}

/// How much work a planner may do.
///
/// Counted in states of the search, never in seconds, so that every machine
/// makes the same plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// States that the search may visit, all attempts together.
    pub nodes: u64,
    /// Bytes that are few enough for a pool: once a plan needs no more, none is looked
    /// for that needs less. `None` where only the least will do.
    pub enough: Option<usize>,
}

impl Limits {
    /// Whether a pool of `size` bytes need not be made smaller.
    pub(super) fn is_enough(&self, size: usize) -> bool {
        self.enough.is_some_and(|enough| size <= enough)
    }
}

impl Default for Limits {
    /// Enough to prove every network that we know, in well below a second when optimised.
    /// Where nothing can be proved, a state takes some microseconds.
    fn default() -> Self {
        Self { nodes: 700_000, enough: None }
    }
}
