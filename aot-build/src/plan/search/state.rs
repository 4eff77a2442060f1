//! The partial packing: placed items, lowest offsets of the others, and the
//! trail by which both are taken back.

use std::ops::Range;

use super::instance::{Edge, Instance, Seat};

/// The state of the search, with the means to undo every change.
pub(super) struct State<'a> {
    pub(super) instance: &'a Instance,
    pub(super) capacity: i64,
    /// Of each item: placed at `low`, for good or for now.
    pub(super) placed: Vec<bool>,
    /// Of each item: its offset if placed, else the lowest that it may have.
    low: Vec<i64>,
    /// Of each section: the least `low` of its items not yet placed.
    floor: Vec<i64>,
    /// Of each section: how many of its items not yet placed can lie there. As wide as the
    /// floors, so that the two are worked through together.
    standing: Vec<i64>,
    /// Of each section: bytes that its items not yet placed need.
    open: Vec<i64>,
    /// Of each section: its items, those not yet placed first.
    seats: Vec<Vec<Seat>>,
    /// Of each section: how many of its items are not yet placed.
    left: Vec<usize>,
    /// Of each item and each entry of its life: where in `seats` it is.
    seat_of: Vec<Vec<usize>>,
    /// Of each section: items not yet placed that begin before it and do not
    /// end before it.
    pub(super) crossing: Vec<u32>,
    /// Of each section: how often it has failed, fading.
    pub(super) failures: Vec<f64>,
    trail: Vec<Change>,
    /// The sections whose floors items have left, and what lies between them.
    touched: Option<Range<usize>>,
    /// Of each section: how many more items than in the one before it can lie on what was
    /// placed last.
    landed: Vec<i64>,
    /// Items that were raised since pairs were last ordered.
    raised: Vec<usize>,
}

enum Change {
    Low { item: usize, before: i64 },
    Floor { section: usize, before: i64 },
    Placed { item: usize },
}

/// How often pairs are ordered between two looks at the sections, for each item.
const ORDERINGS: usize = 4;

/// The state cannot be completed within the capacity.
#[derive(Debug)]
pub(super) struct DeadEnd;

impl<'a> State<'a> {
    /// A state that [`State::reset`] makes ready.
    pub(super) fn new(instance: &'a Instance, capacity: i64) -> Self {
        let (items, sections) = (instance.extent.len(), instance.sections.len());
        let seat_of = instance.life.iter().map(|life| vec![0; life.len()]);
        Self {
            instance,
            capacity,
            placed: vec![true; items],
            low: vec![0; items],
            // Lower than any item, so that it is computed.
            floor: vec![-1; sections],
            standing: vec![0; sections],
            open: vec![0; sections],
            seats: instance.sections.clone(),
            left: vec![0; sections],
            seat_of: seat_of.collect(),
            crossing: vec![0; sections],
            failures: vec![0.0; sections],
            trail: Vec::new(),
            touched: Some(0..sections),
            landed: vec![0; sections + 1],
            raised: Vec::new(),
        }
    }

    /// Back to the start: only items at fixed offsets are placed, and those
    /// that conflict with nothing.
    pub(super) fn reset(&mut self) -> Result<(), DeadEnd> {
        let failures = std::mem::take(&mut self.failures);
        *self = Self::new(self.instance, self.capacity);
        self.failures = failures;
        for section in 0..self.seats.len() {
            self.left[section] = self.seats[section].len();
            for (position, seat) in self.seats[section].iter().enumerate() {
                self.seat_of[seat.item][seat.entry] = position;
            }
        }
        for (item, &fixed) in self.instance.fixed.iter().enumerate() {
            self.low[item] = fixed.unwrap_or(0);
            if fixed.is_some() || self.instance.life[item].is_empty() {
                self.leave(item);
            } else {
                self.count_open(item, 1);
                self.placed[item] = false;
            }
        }
        for item in 0..self.placed.len() {
            if !self.placed[item] {
                self.raise(item, 0)?;
            } else if self.reaches_too_high(item) {
                return Err(DeadEnd);
            }
        }
        self.raised.extend((0..self.placed.len()).filter(|&item| !self.placed[item]));
        self.settle()
    }

    /// Whether an item has bytes above the capacity; one without bytes disturbs nobody.
    fn reaches_too_high(&self, item: usize) -> bool {
        let extent = self.instance.extent[item];
        extent > 0 && self.low[item] + extent > self.capacity
    }

    /// The trail as it is now, for [`State::undo`].
    pub(super) fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Takes back all that was done since `mark`.
    pub(super) fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            match self.trail.pop() {
                Some(Change::Low { item, before }) => {
                    self.low[item] = before;
                    self.sit(item);
                }
                Some(Change::Floor { section, before }) => {
                    self.floor[section] = before;
                    // It was computed anew because none was left.
                    self.standing[section] = 0;
                }
                Some(Change::Placed { item }) => {
                    self.count_open(item, 1);
                    self.placed[item] = false;
                    self.sit(item);
                    // The last to leave sits right behind those left.
                    for &(section, _) in &self.instance.life[item] {
                        self.left[section] += 1;
                    }
                }
                None => {}
            }
        }
    }

    /// Places an item at its lowest offset.
    ///
    /// No item that it conflicts with and that is not yet placed may have a
    /// lower one.
    pub(super) fn place(&mut self, item: usize) -> Result<(), DeadEnd> {
        self.placed[item] = true;
        self.count_open(item, -1);
        self.leave(item);
        self.trail.push(Change::Placed { item });
        self.rise(item);
        let instance = self.instance;
        let top = self.low[item] + instance.extent[item];
        // Where all lies clear, what lands on top is counted as it is raised.
        let landing = instance.spans[item].first().filter(|_| instance.is_plain);
        for &other in &instance.clear[item] {
            if self.placed[other] {
                continue;
            }
            if self.low[other] < top {
                self.raise(other, top)?;
            }
            if let Some(sections) = landing
                && self.low[other] == top
            {
                self.land(other, sections);
            }
        }
        if let Some(sections) = landing {
            self.settle_on(top, sections.clone())?;
        }
        for edge in &instance.gapped[item] {
            if self.placed[edge.item] {
                continue;
            }
            // The other will not lie lower. It may start where this one does,
            // or a little above, only if its gap says so.
            let start_together = edge.gap.above <= 0;
            let least = if start_together { self.low[edge.item] } else { self.low[item] + edge.gap.below };
            self.raise(edge.item, least)?;
        }
        self.settle()
    }

    /// Counts an item that can lie on what was placed last, in `sections`.
    fn land(&mut self, item: usize, sections: &Range<usize>) {
        for span in &self.instance.spans[item] {
            let (start, end) = (span.start.max(sections.start), span.end.min(sections.end));
            if start < end {
                self.landed[start] += 1;
                self.landed[end] -= 1;
            }
        }
    }

    /// Raises the lowest offset of an item to the next one, from `least` up,
    /// that is aligned and clear of all placed items.
    pub(super) fn raise(&mut self, item: usize, least: i64) -> Result<(), DeadEnd> {
        let before = self.low[item];
        if least < before {
            return Ok(());
        }
        let offset = self.clear_from(item, least);
        if offset + self.instance.extent[item] > self.capacity {
            self.blame(item);
            return Err(DeadEnd);
        }
        if offset > before {
            self.trail.push(Change::Low { item, before });
            self.rise(item);
            self.low[item] = offset;
            if !self.instance.ordered[item].is_empty() {
                self.raised.push(item);
            }
        }
        Ok(())
    }

    /// Orders the pairs of which one cannot lie below the other any more, for want of room
    /// above that one.
    ///
    /// Only so many: three that must all lie below the next would chase each other up in
    /// steps of their gaps.
    fn order(&mut self) -> Result<(), DeadEnd> {
        let instance = self.instance;
        let mut rounds = ORDERINGS * self.placed.len();
        while let Some(item) = self.raised.pop() {
            if self.placed[item] {
                continue;
            }
            rounds -= 1;
            if rounds == 0 {
                self.raised.clear();
                break;
            }
            for edge in &instance.ordered[item] {
                if !self.placed[edge.item] {
                    self.order_pair(item, edge)?;
                }
            }
        }
        Ok(())
    }

    fn order_pair(&mut self, item: usize, edge: &Edge) -> Result<(), DeadEnd> {
        let fits = |upper: usize, offset: i64| offset + self.instance.extent[upper] <= self.capacity;
        let from_item = self.low[item] + edge.gap.below;
        let from_other = self.low[edge.item] + edge.gap.above;
        let (lies_above, lies_below) = (!fits(edge.item, from_item), !fits(item, from_other));
        if lies_above {
            self.raise(item, from_other)?;
        }
        if lies_below {
            self.raise(edge.item, from_item)?;
        }
        Ok(())
    }

    fn clear_from(&self, item: usize, least: i64) -> i64 {
        let instance = self.instance;
        let mut offset = instance.align(item, least);
        let mut moved = true;
        while moved {
            moved = false;
            for edge in instance.loose[item].iter().filter(|edge| self.placed[edge.item]) {
                let other = self.low[edge.item];
                if other < offset + edge.gap.below && offset < other + edge.gap.above {
                    offset = instance.align(item, other + edge.gap.above);
                    moved = true;
                }
            }
        }
        offset
    }

    /// The lowest offset above the present one at which an item can lie on
    /// another.
    pub(super) fn next_support(&self, item: usize) -> Option<i64> {
        let (instance, low) = (self.instance, self.low[item]);
        let placed = instance.loose[item].iter().filter(|edge| self.placed[edge.item]);
        let placed = placed.map(|edge| self.low[edge.item] + edge.gap.above).filter(|&end| end > low);
        let open = instance.edges(item).filter(|edge| !self.placed[edge.item]);
        // What is not yet placed may end up higher than it can lie now.
        let open = open.map(|edge| (self.low[edge.item] + edge.gap.above).max(low + 1));
        placed.chain(open).map(|offset| instance.align(item, offset)).min()
    }

    /// Computes the floors that changed and checks that what is open above
    /// them fits.
    pub(super) fn settle(&mut self) -> Result<(), DeadEnd> {
        self.order()?;
        for section in self.touched.take().into_iter().flatten() {
            if self.standing[section] > 0 || self.floor[section] == i64::MAX {
                continue;
            }
            let (mut floor, mut standing) = (i64::MAX, 0);
            for low in self.unplaced(section).map(|item| self.low[item]) {
                if low < floor {
                    (floor, standing) = (low, 1);
                } else if low == floor {
                    standing += 1;
                }
            }
            self.set_floor(section, floor, standing)?;
        }
        Ok(())
    }

    /// Sets the floors of sections on which items can lie on what was placed last, with its
    /// end at `top`.
    fn settle_on(&mut self, top: i64, sections: Range<usize>) -> Result<(), DeadEnd> {
        let mut standing = 0;
        self.landed[sections.end] = 0;
        for section in sections {
            standing += std::mem::take(&mut self.landed[section]);
            if standing > 0 && self.standing[section] == 0 {
                self.set_floor(section, top, standing)?;
            }
        }
        Ok(())
    }

    /// Sets the floor of a section that has lost its own; what is open above must fit.
    fn set_floor(&mut self, section: usize, floor: i64, standing: i64) -> Result<(), DeadEnd> {
        self.trail.push(Change::Floor { section, before: self.floor[section] });
        self.floor[section] = floor;
        self.standing[section] = standing;
        if floor < i64::MAX && self.slack(section) < 0 {
            self.failures[section] += 1.0;
            self.forget();
            return Err(DeadEnd);
        }
        Ok(())
    }

    /// Counts a failure where an item that does not fit is most cramped.
    fn blame(&mut self, item: usize) {
        self.forget();
        let used = |section: usize| self.floor[section].saturating_add(self.open[section]);
        let life = self.instance.life[item].iter();
        if let Some(&(section, _)) = life.max_by_key(|&&(section, _)| used(section)) {
            self.failures[section] += 1.0;
        }
    }

    /// Drops what was noted of changes that are to be undone.
    fn forget(&mut self) {
        self.raised.clear();
        self.landed.fill(0);
        self.touched = None;
    }

    /// An item leaves the floors on which it stands.
    fn rise(&mut self, item: usize) {
        let low = self.low[item];
        for span in &self.instance.spans[item] {
            let floors = self.floor[span.clone()].iter().zip(&mut self.standing[span.clone()]);
            for (&floor, standing) in floors {
                *standing -= i64::from(floor == low);
            }
            let touched = self.touched.take().unwrap_or_else(|| span.clone());
            self.touched = Some(touched.start.min(span.start)..touched.end.max(span.end));
        }
    }

    /// An item is back on the floors on which it stood.
    fn sit(&mut self, item: usize) {
        let low = self.low[item];
        for span in &self.instance.spans[item] {
            let floors = self.floor[span.clone()].iter().zip(&mut self.standing[span.clone()]);
            for (&floor, standing) in floors {
                *standing += i64::from(floor == low);
            }
        }
    }

    /// Counts an item among those not yet placed, or no longer.
    fn count_open(&mut self, item: usize, sign: i64) {
        let life = &self.instance.life[item];
        for &(section, bytes) in life {
            self.open[section] += sign * bytes;
        }
        for saving in &self.instance.savings[item] {
            if !self.placed[saving.item] {
                for &(section, bytes) in &saving.sections {
                    self.open[section] -= sign * bytes;
                }
            }
        }
        if let (Some(&(first, _)), Some(&(last, _))) = (life.first(), life.last()) {
            for crossing in &mut self.crossing[first + 1..=last] {
                *crossing = crossing.wrapping_add_signed(sign as i32);
            }
        }
    }

    /// Moves an item behind the items not yet placed, in each of its sections.
    fn leave(&mut self, item: usize) {
        for (entry, &(section, _)) in self.instance.life[item].iter().enumerate() {
            self.left[section] -= 1;
            let (seat, last) = (self.seat_of[item][entry], self.left[section]);
            let other = self.seats[section][last];
            self.seats[section].swap(seat, last);
            self.seat_of[other.item][other.entry] = seat;
            self.seat_of[item][entry] = last;
        }
    }

    /// Of each item: its offset if placed, else the lowest that it may have.
    pub(super) fn lows(&self) -> &[i64] {
        &self.low
    }

    /// The least offset that an item of the section can still have; the largest
    /// number when none is left.
    pub(super) fn floor(&self, section: usize) -> i64 {
        self.floor[section]
    }

    /// Items of the section that are not yet placed.
    pub(super) fn left(&self, section: usize) -> usize {
        self.left[section]
    }

    /// Bytes to spare in a section that has items left.
    pub(super) fn slack(&self, section: usize) -> i64 {
        let grain = self.instance.grain[section];
        ((self.capacity + grain - 1) & -grain) - self.floor[section] - self.open[section]
    }

    /// Items of a section that can lie at its floor.
    pub(super) fn at_floor(&self, section: usize) -> impl Iterator<Item = usize> {
        self.unplaced(section).filter(move |&item| self.low[item] == self.floor[section])
    }

    /// How many items of a section can lie at its floor.
    pub(super) fn standing(&self, section: usize) -> i64 {
        self.standing[section]
    }

    /// Whether no section of an item has a lower floor than the item.
    pub(super) fn is_grounded(&self, item: usize) -> bool {
        let life = &self.instance.life[item];
        life.iter().all(|&(section, _)| self.floor[section] == self.low[item])
    }

    fn unplaced(&self, section: usize) -> impl Iterator<Item = usize> {
        self.seats[section][..self.left[section]].iter().map(|seat| seat.item)
    }

    /// Names what is left of `items` and how low it may lie.
    pub(super) fn key(&self, items: &[usize]) -> u128 {
        let mut key = 0_u128;
        for &item in items {
            key = key.wrapping_add(mixed(item, self.low[item]));
            for edge in self.instance.loose[item].iter().filter(|edge| self.placed[edge.item]) {
                if self.low[edge.item] + edge.gap.above > self.low[item] {
                    let pair = mixed(item, self.low[edge.item]).rotate_left(64);
                    key = key.wrapping_add(pair ^ mixed(edge.item, 0));
                }
            }
        }
        key
    }
}

/// Two numbers made one, with all bits depending on both.
fn mixed(a: usize, b: i64) -> u128 {
    const FACTORS: [u128; 2] =
        [0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835, 0xff51_afd7_ed55_8ccd_c4ce_b9fe_1a85_ec53];
    let mut x = (a as u128 + 1) << 64 | b as u64 as u128;
    for factor in FACTORS {
        x = x.wrapping_mul(factor);
        x ^= x >> 67;
    }
    x
}
