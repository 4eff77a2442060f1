//! Exact search for a packing below a given size.
//!
//! Items are placed from the bottom up. The state is, for each item not yet
//! placed, the lowest offset that it can still have. A node picks a section
//! at whose lowest level some items can lie, and tries each of them there;
//! the last child says that none does, and lifts them to where something else
//! can carry them. Since every plan can be pushed down until each item lies on
//! another or on the ground, no plan is missed.
//!
//! Three things keep this small: items that share no section fall into
//! components, each solved alone; states that failed are remembered; and a
//! search that does not end soon starts again with another strategy, choosing
//! first in sections that have failed often.

mod choice;
mod component;
mod instance;
mod state;
mod strategy;
mod tree;

pub(super) use instance::Instance;

use strategy::Strategies;
use tree::{Tree, Verdict};

/// What is known about a capacity.
pub(super) enum Answer {
    /// A packing: the offset of each item.
    Packing(Vec<i64>),
    /// There is none.
    Impossible,
    /// The nodes ran out.
    Unknown,
}

/// Nodes of the attempts of the first round: two an item, within these bounds. Most
/// packings are found by going down almost without a turn, one node an item.
const FIRST_ATTEMPT: (u64, u64) = (300, 2_000);

/// A search that can be asked about one capacity after another and goes on where it
/// stopped.
pub(super) struct Search<'a> {
    instance: &'a Instance,
    tree: Tree<'a>,
    strategies: Strategies,
}

impl<'a> Search<'a> {
    pub(super) fn new(instance: &'a Instance) -> Self {
        Self { instance, tree: Tree::new(instance), strategies: Strategies::new() }
    }

    /// Looks for a packing of at most `capacity` bytes; takes what it visits from `nodes`.
    ///
    /// `guide` holds the offsets of a packing that needs more: what lies low in it
    /// is tried low, too.
    pub(super) fn run(&mut self, capacity: i64, guide: &[i64], nodes: &mut u64) -> Answer {
        let unit = self.instance.unit;
        self.tree.aim(capacity.div_euclid(unit), guide.iter().map(|offset| offset / unit).collect());
        let items = self.instance.extent.len() as u64;
        let mut attempt = (2 * items).clamp(FIRST_ATTEMPT.0, FIRST_ATTEMPT.1);
        while *nodes > 0 {
            let strategy = self.strategies.next();
            let (verdict, visited) = self.tree.run(&strategy, attempt.min(*nodes));
            *nodes -= visited;
            match verdict {
                Verdict::Found => {
                    let offsets = self.tree.offsets().iter();
                    return Answer::Packing(offsets.map(|offset| offset * unit).collect());
                }
                Verdict::Exhausted => return Answer::Impossible,
                Verdict::OutOfNodes => {}
            }
            if strategy.ends_round {
                attempt += attempt / 4;
            }
        }
        Answer::Unknown
    }
}
