//! One pool's packing problem in the form that the search works on.
//!
//! All sizes are divided by their greatest common divisor, and conflicts are
//! covered by *sections*: sets of items that are all in conflict, such as the
//! items alive at one step. A section with items above level `h` needs at
//! least `h` plus the bytes of those items.

use std::collections::BTreeMap;
use std::ops::Range;

use super::super::bounds::{self, Section};
use super::super::model::Model;
use super::super::problem::Gap;

/// What an item asks of another that lies below it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) item: usize,
    /// The two keep this gap, the owner of the edge being the first.
    pub(super) gap: Gap,
}

/// An item's place in a section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seat {
    pub(super) item: usize,
    /// The position of the section in the item's `life`.
    pub(super) entry: usize,
}

/// Two items that may share bytes although both are in a section.
#[derive(Clone, Debug)]
pub(super) struct Saving {
    pub(super) item: usize,
    pub(super) sections: Vec<(usize, i64)>,
}

/// A packing problem for one pool; indices count the items of this pool.
pub(in super::super) struct Instance {
    /// Bytes of one unit of all other figures.
    pub(in super::super) unit: i64,
    /// No gap is wider than it must be: what cannot be packed here cannot be
    /// packed at all.
    pub(in super::super) is_exact: bool,
    pub(super) extent: Vec<i64>,
    /// The least extent.
    pub(super) smallest: i64,
    pub(super) alignment: Vec<i64>,
    pub(super) fixed: Vec<Option<i64>>,
    /// Of each item: those that lie clear of it.
    pub(super) clear: Vec<Vec<usize>>,
    /// Of each item: all other conflicts.
    pub(super) gapped: Vec<Vec<Edge>>,
    /// Items are in consecutive sections, and all that share one lie clear of each other.
    pub(super) is_plain: bool,
    /// Of each item: the conflicts in which it may start below the other, or
    /// together with it, after the other was placed.
    pub(super) loose: Vec<Vec<Edge>>,
    /// Of each item: the conflicts of which the search works out early which of the two
    /// lies below. All, where some items may share bytes; none where sections tell as much.
    pub(super) ordered: Vec<Vec<Edge>>,
    /// Of each item: sections that it is in, and its bytes there.
    pub(super) life: Vec<Vec<(usize, i64)>>,
    /// Of each item: the same sections, consecutive ones together.
    pub(super) spans: Vec<Vec<Range<usize>>>,
    /// Of each item: whether it is missing in a section between two of its own.
    pub(super) scattered: Vec<bool>,
    pub(super) has_scattered: bool,
    /// Of each item: pairs that may share bytes.
    pub(super) savings: Vec<Vec<Saving>>,
    /// Of each section: its items.
    pub(super) sections: Vec<Vec<Seat>>,
    /// Of each section: every item in it starts at a multiple of this.
    pub(super) grain: Vec<i64>,
    /// Items of equal class may be exchanged in every plan.
    pub(super) class: Vec<usize>,
}

impl Instance {
    /// The packing problem of the items `chosen` of a model.
    pub(in super::super) fn new(model: &Model<'_>, chosen: &[usize], sections: &[Section]) -> Self {
        let items = || chosen.iter().map(|&index| &model.items[index]);
        let mut instance = Self {
            unit: 1,
            is_exact: true,
            smallest: 0,
            extent: items().map(|item| item.extent).collect(),
            alignment: items().map(|item| item.alignment).collect(),
            fixed: items().map(|item| item.fixed).collect(),
            clear: vec![Vec::new(); chosen.len()],
            gapped: vec![Vec::new(); chosen.len()],
            is_plain: true,
            loose: Vec::new(),
            ordered: Vec::new(),
            life: vec![Vec::new(); chosen.len()],
            spans: Vec::new(),
            scattered: Vec::new(),
            has_scattered: false,
            savings: vec![Vec::new(); chosen.len()],
            sections: Vec::new(),
            grain: Vec::new(),
            class: Vec::new(),
        };
        for (first, second) in candidates(model, chosen) {
            instance.add_conflict(model, chosen, first, second);
        }
        let local: BTreeMap<usize, usize> =
            chosen.iter().enumerate().map(|(local, &index)| (index, local)).collect();
        for section in sections {
            instance.add_section(model, section, &local);
        }
        instance.divide();
        instance.spans = instance.life.iter().map(|life| spans(life)).collect();
        instance.scattered = instance.spans.iter().map(|spans| spans.len() > 1).collect();
        instance.has_scattered = instance.scattered.contains(&true);
        instance.is_plain = !instance.has_scattered
            && instance.gapped.iter().all(Vec::is_empty)
            && instance.savings.iter().all(Vec::is_empty);
        instance.smallest = instance.extent.iter().copied().min().unwrap_or(0);
        instance.loose = instance.loose_edges();
        instance.ordered = instance.ordered_edges();
        instance.class = instance.classes();
        instance
    }

    fn add_conflict(&mut self, model: &Model<'_>, chosen: &[usize], first: usize, second: usize) {
        let (a, b) = (chosen[first], chosen[second]);
        let Some(gap) = model.gap(a, b) else { return };
        self.is_exact &= model.is_exact(a, b);
        if gap == (Gap { below: self.extent[first], above: self.extent[second] }) {
            self.clear[first].push(second);
            self.clear[second].push(first);
        } else {
            self.gapped[first].push(Edge { item: second, gap });
            self.gapped[second].push(Edge { item: first, gap: gap.flipped() });
        }
    }

    /// All conflicts of an item.
    pub(super) fn edges(&self, item: usize) -> impl Iterator<Item = Edge> {
        let gap = move |other: usize| Gap { below: self.extent[item], above: self.extent[other] };
        let clear = self.clear[item].iter().map(move |&other| Edge { item: other, gap: gap(other) });
        clear.chain(self.gapped[item].iter().copied())
    }

    fn add_section(&mut self, model: &Model<'_>, section: &Section, local: &BTreeMap<usize, usize>) {
        let number = self.sections.len();
        self.grain.push(section.grain);
        let mut seats = Vec::with_capacity(section.items.len());
        for &(index, weight) in &section.items {
            let item = local[&index];
            seats.push(Seat { item, entry: self.life[item].len() });
            self.life[item].push((number, bounds::rounded(weight, section.grain)));
        }
        self.sections.push(seats);
        for (first, second, saving) in section.savings(model) {
            let (first, second) = (local[&first], local[&second]);
            for (a, b) in [(first, second), (second, first)] {
                match self.savings[a].iter_mut().find(|known| known.item == b) {
                    Some(known) => known.sections.push((number, saving)),
                    None => self.savings[a].push(Saving { item: b, sections: vec![(number, saving)] }),
                }
            }
        }
    }

    /// Divides all figures by the largest unit that every offset is a multiple
    /// of.
    ///
    /// Offsets are sums of figures, rounded up to alignments. An alignment that
    /// divides all figures rounds nothing; next to any other, the unit must
    /// divide that alignment too, so be a power of two.
    fn divide(&mut self) {
        let divisor = self.figures().into_iter().fold(0, |divisor, figure| gcd(divisor, *figure)).max(1);
        let alignments = self.alignment.iter().chain(&self.grain);
        let rounding = alignments.filter(|&alignment| divisor % alignment != 0);
        let unit = rounding.fold(divisor, |unit, &alignment| gcd(unit, alignment));
        for figure in self.figures() {
            *figure /= unit;
        }
        for alignment in self.alignment.iter_mut().chain(&mut self.grain) {
            *alignment = (*alignment / unit).max(1);
        }
        self.unit = unit;
    }

    /// Every figure that an offset may be a sum of.
    fn figures(&mut self) -> Vec<&mut i64> {
        let mut figures: Vec<&mut i64> = Vec::new();
        figures.extend(self.extent.iter_mut());
        figures.extend(self.fixed.iter_mut().flatten());
        figures.extend(
            self.gapped.iter_mut().flatten().flat_map(|edge| [&mut edge.gap.below, &mut edge.gap.above]),
        );
        figures.extend(self.life.iter_mut().flatten().map(|(_, weight)| weight));
        let savings = self.savings.iter_mut().flatten();
        figures.extend(savings.flat_map(|saving| saving.sections.iter_mut().map(|(_, bytes)| bytes)));
        figures
    }

    fn loose_edges(&self) -> Vec<Vec<Edge>> {
        let loose = |edge: &Edge| edge.gap.below <= 0 || self.fixed[edge.item].is_some();
        (0..self.extent.len()).map(|item| self.edges(item).filter(loose).collect()).collect()
    }

    fn ordered_edges(&self) -> Vec<Vec<Edge>> {
        if self.savings.iter().all(Vec::is_empty) {
            return vec![Vec::new(); self.extent.len()];
        }
        (0..self.extent.len()).map(|item| self.edges(item).collect()).collect()
    }

    /// Numbers the sets of items that differ in nothing.
    ///
    /// Of plain items, equal sections mean equal conflicts. Not so of items
    /// that need not keep clear of all that shares a section with them.
    fn classes(&self) -> Vec<usize> {
        let mut known = BTreeMap::new();
        let class = |item: usize| {
            let is_plain = self.savings[item].is_empty() && self.gapped[item].is_empty();
            let own = if is_plain { None } else { Some(item) };
            let next = known.len();
            *known.entry((own, self.extent[item], self.alignment[item], &self.life[item])).or_insert(next)
        };
        (0..self.extent.len()).map(class).collect()
    }

    /// The end, in bytes, of the highest item.
    pub(in super::super) fn height(&self, offsets: &[i64]) -> i64 {
        let ends = offsets.iter().zip(&self.extent).filter(|&(_, &extent)| extent > 0);
        ends.map(|(&offset, &extent)| offset + extent * self.unit).max().unwrap_or(0)
    }

    /// The least aligned offset from `from` up.
    pub(super) fn align(&self, item: usize, from: i64) -> i64 {
        (from + self.alignment[item] - 1) & -self.alignment[item]
    }
}

/// Pairs of positions in `chosen`, in order, that hold every pair in conflict.
fn candidates(model: &Model<'_>, chosen: &[usize]) -> Box<dyn Iterator<Item = (usize, usize)>> {
    let count = chosen.len();
    if !model.is_plain {
        let pairs = move |first| (first + 1..count).map(move |second| (first, second));
        return Box::new((0..count).flat_map(pairs));
    }
    // Few of all pairs are alive together, and an item meets those that start
    // after it and before its end.
    let live: Vec<(usize, usize)> = chosen.iter().map(|&item| model.items[item].live()).collect();
    let mut by_start: Vec<usize> = (0..count).collect();
    by_start.sort_unstable_by_key(|&item| live[item].0);
    let mut pairs = Vec::new();
    for (position, &first) in by_start.iter().enumerate() {
        for &second in &by_start[position + 1..] {
            if live[second].0 >= live[first].1 {
                break;
            }
            pairs.push((first.min(second), first.max(second)));
        }
    }
    pairs.sort_unstable();
    Box::new(pairs.into_iter())
}

/// The sections of a life, consecutive ones together.
fn spans(life: &[(usize, i64)]) -> Vec<Range<usize>> {
    let runs = life.chunk_by(|before, after| before.0 + 1 == after.0);
    runs.map(|run| run[0].0..run[0].0 + run.len()).collect()
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}
