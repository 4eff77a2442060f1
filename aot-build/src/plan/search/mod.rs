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

/// Nodes of the first attempt: so many, and so many tenths of one an item.
/// Many short attempts find more than a few long ones.
const FIRST_ATTEMPT: (u64, u64) = (300, 15);

/// Looks for a packing of at most `capacity` bytes; takes what it visits from
/// `nodes`.
///
/// `guide` holds the offsets of a packing that needs more: what lies low in it
/// is tried low, too.
pub(super) fn search(instance: &Instance, capacity: i64, guide: &[i64], nodes: &mut u64) -> Answer {
    let guide: Vec<i64> = guide.iter().map(|offset| offset / instance.unit).collect();
    let mut tree = Tree::new(instance, capacity.div_euclid(instance.unit), &guide);
    let items = instance.extent.len() as u64;
    let (mut fixed, per_item) = FIRST_ATTEMPT;
    for strategy in Strategies::new() {
        let limit = (fixed + items * per_item / 10).min(*nodes);
        let (verdict, visited) = tree.run(&strategy, limit);
        *nodes -= visited;
        match verdict {
            Verdict::Found => {
                let offsets = tree.offsets().iter();
                return Answer::Packing(offsets.map(|offset| offset * instance.unit).collect());
            }
            Verdict::Exhausted => return Answer::Impossible,
            Verdict::OutOfNodes if *nodes == 0 => return Answer::Unknown,
            Verdict::OutOfNodes => {}
        }
        if strategy.ends_round {
            fixed += fixed / 4;
        }
    }
    Answer::Unknown
}
