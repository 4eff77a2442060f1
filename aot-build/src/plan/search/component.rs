//! Division of what is left into parts that do not touch.

use super::instance::Instance;
use super::state::State;

/// Items not yet placed that conflict with no other such item.
#[derive(Clone, Debug, Default)]
pub(super) struct Component {
    pub(super) items: Vec<usize>,
    /// The first section with one of the items, and the one after the last.
    pub(super) first: usize,
    pub(super) end: usize,
}

impl Component {
    /// All items of an instance.
    pub(super) fn whole(instance: &Instance) -> Self {
        Self { items: (0..instance.extent.len()).collect(), first: 0, end: instance.sections.len() }
    }

    /// The parts of what is left of it, the smallest last.
    ///
    /// A cut lies where no item has sections on both sides. Items alive during
    /// consecutive steps are divided wherever they can be.
    pub(super) fn split(&self, state: &State<'_>) -> Vec<Self> {
        let mut parts: Vec<Self> = Vec::new();
        let mut section = self.first;
        while section < self.end {
            let first = section;
            section += 1;
            if state.left(first) == 0 {
                continue;
            }
            while section < self.end && state.crossing[section] > 0 {
                section += 1;
            }
            parts.push(Self { items: Vec::new(), first, end: section });
        }
        let open = self.items.iter().filter(|&&item| !state.placed[item]);
        if let [part] = &mut parts[..] {
            part.items.reserve_exact(self.items.len());
            part.items.extend(open);
            return parts;
        }
        for &item in open {
            let start = state.instance.life[item][0].0;
            let part = parts.partition_point(|part| part.end <= start);
            parts[part].items.push(item);
        }
        parts.sort_by_key(|part| std::cmp::Reverse((part.end - part.first, part.items.len())));
        parts
    }
}
