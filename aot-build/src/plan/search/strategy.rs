//! The strategies that the search goes through, always in the same order.

/// Which of several items to try first: the largest figure wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemRank {
    /// Sections it is in.
    Life,
    /// Its bytes.
    Size,
    /// Its conflicts.
    Conflicts,
}

/// Which of several sections to branch at: the least figure wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SectionRank {
    /// The number of children, then the bytes to spare.
    Children,
    /// The level, then the same.
    Level,
    /// The number of children over the weight of past failures.
    Failures,
    /// The same with the weight squared.
    FailuresSquared,
}

/// How one attempt chooses.
#[derive(Clone, Debug)]
pub(super) struct Strategy {
    pub(super) items: ItemRank,
    pub(super) sections: SectionRank,
    /// Percent by which the rank of an item may be raised at random.
    pub(super) noise: u64,
    /// Try first what lies lowest in the guide, and only then by rank; offsets
    /// there may be raised at random by so many percent of the capacity.
    pub(super) wander: Option<u64>,
    /// The last of a round; the next round may take longer.
    pub(super) ends_round: bool,
}

/// A round, chosen by what solved the benchmarks with the fewest nodes.
const ROUND: [(ItemRank, SectionRank); 12] = [
    (ItemRank::Life, SectionRank::Children),
    (ItemRank::Life, SectionRank::Failures),
    (ItemRank::Size, SectionRank::Children),
    (ItemRank::Size, SectionRank::Level),
    (ItemRank::Conflicts, SectionRank::Failures),
    (ItemRank::Life, SectionRank::Children),
    (ItemRank::Conflicts, SectionRank::FailuresSquared),
    (ItemRank::Life, SectionRank::Failures),
    (ItemRank::Size, SectionRank::Children),
    (ItemRank::Size, SectionRank::Failures),
    (ItemRank::Life, SectionRank::Children),
    (ItemRank::Conflicts, SectionRank::Children),
];

/// Strategies without end.
pub(super) struct Strategies {
    next: usize,
}

impl Strategies {
    pub(super) fn new() -> Self {
        Self { next: 0 }
    }

    pub(super) fn next(&mut self) -> Strategy {
        let position = self.next % ROUND.len();
        let (items, sections) = ROUND[position];
        // The first four are tried as they are.
        let attempt = self.next as u64;
        let noise = if attempt < 4 { 0 } else { 20 + attempt * 7 % 60 };
        // Following the guide is what brings the hardest cases down; what it
        // never finds, attempts without it do.
        let wander = match attempt % 5 {
            0 => Some(noise),
            1 => Some(noise / 10),
            _ => None,
        };
        self.next += 1;
        Strategy { items, sections, noise, wander, ends_round: position + 1 == ROUND.len() }
    }
}
