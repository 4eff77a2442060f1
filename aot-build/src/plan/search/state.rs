//! The partial packing: placed items, lowest offsets of the others, and the
//! trail by which both are taken back.

use super::instance::{Instance, Seat};

/// The state of the search, with the means to undo every change.
pub(super) struct State<'a> {
    pub(super) instance: &'a Instance,
    pub(super) capacity: i64,
    /// Of each item: placed at `low`, for good or for now.
    pub(super) placed: Vec<bool>,
    /// Of each item: its offset if placed, else the lowest that it may have.
    pub(super) low: Vec<i64>,
    /// Of each section: the least `low` of its items not yet placed.
    pub(super) floor: Vec<i64>,
    /// Of each section: bytes that its items not yet placed need.
    pub(super) open: Vec<i64>,
    /// Of each section: its items, those not yet placed first.
    seats: Vec<Vec<Seat>>,
    /// Of each section: how many of its items are not yet placed.
    left: Vec<usize>,
    /// Of each item and each entry of its life: where in `seats` it is.
    seat_of: Vec<Vec<usize>>,
    /// Of each section: how often it has failed, fading.
    pub(super) failures: Vec<f64>,
    trail: Vec<Change>,
    /// Sections whose floor must be computed anew, with no repeats.
    stale: Vec<usize>,
    is_stale: Vec<bool>,
}

enum Change {
    Low { item: usize, before: i64 },
    Floor { section: usize, before: i64 },
    Placed { item: usize },
}

/// The state cannot be completed within the capacity.
#[derive(Debug)]
pub(super) struct DeadEnd;

impl<'a> State<'a> {
    pub(super) fn new(instance: &'a Instance, capacity: i64) -> Self {
        let (items, sections) = (instance.extent.len(), instance.sections.len());
        Self {
            instance,
            capacity,
            placed: vec![false; items],
            low: vec![0; items],
            floor: vec![0; sections],
            open: vec![0; sections],
            seats: Vec::new(),
            left: Vec::new(),
            seat_of: Vec::new(),
            failures: vec![0.0; sections],
            trail: Vec::new(),
            stale: Vec::new(),
            is_stale: vec![false; sections],
        }
    }

    /// Back to the start: only items at fixed offsets are placed.
    pub(super) fn reset(&mut self) -> Result<(), DeadEnd> {
        self.trail.clear();
        self.floor.fill(0);
        self.open.fill(0);
        self.stale.clear();
        self.is_stale.fill(false);
        self.seats = self.instance.sections.clone();
        self.left = self.seats.iter().map(Vec::len).collect();
        self.seat_of = self.instance.life.iter().map(|life| vec![0; life.len()]).collect();
        for seats in &self.seats {
            for (position, seat) in seats.iter().enumerate() {
                self.seat_of[seat.item][seat.entry] = position;
            }
        }
        self.placed.fill(true);
        self.low.fill(0);
        for (item, &fixed) in self.instance.fixed.iter().enumerate() {
            match fixed {
                Some(offset) => {
                    self.low[item] = offset;
                    self.leave(item);
                }
                None => {
                    self.shift_open(item, 1);
                    self.placed[item] = false;
                }
            }
        }
        for item in 0..self.placed.len() {
            if self.placed[item] {
                if self.low[item] + self.instance.extent[item] > self.capacity {
                    return Err(DeadEnd);
                }
            } else {
                self.raise(item, 0)?;
                self.mark_stale(item);
            }
        }
        self.settle()
    }

    pub(super) fn mark(&self) -> usize {
        self.trail.len()
    }

    pub(super) fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            match self.trail.pop() {
                Some(Change::Low { item, before }) => self.low[item] = before,
                Some(Change::Floor { section, before }) => self.floor[section] = before,
                Some(Change::Placed { item }) => {
                    self.shift_open(item, 1);
                    self.placed[item] = false;
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
    pub(super) fn place(&mut self, item: usize) -> Result<(), DeadEnd> {
        self.placed[item] = true;
        self.shift_open(item, -1);
        self.leave(item);
        self.trail.push(Change::Placed { item });
        self.mark_stale(item);
        let instance = self.instance;
        for edge in &instance.edges[item] {
            if self.placed[edge.item] {
                continue;
            }
            // No item not yet placed lies lower. It may start where this one
            // does, or a little above, only if its gap says so.
            let start_together = edge.gap.above <= 0;
            let least = if start_together { self.low[edge.item] } else { self.low[item] + edge.gap.below };
            self.raise(edge.item, least)?;
        }
        self.settle()
    }

    /// Raises the lowest offset of an item to the next one, from `least` up,
    /// that is aligned and clear of all placed items.
    pub(super) fn raise(&mut self, item: usize, least: i64) -> Result<(), DeadEnd> {
        let instance = self.instance;
        let mut offset = instance.align(item, least.max(self.low[item]));
        let mut moved = !instance.loose[item].is_empty();
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
        if offset + instance.extent[item] > self.capacity {
            self.blame(item);
            return Err(DeadEnd);
        }
        if offset > self.low[item] {
            self.trail.push(Change::Low { item, before: self.low[item] });
            self.low[item] = offset;
            self.mark_stale(item);
        }
        Ok(())
    }

    /// Computes the floors that changed and checks that what is open above
    /// them fits.
    pub(super) fn settle(&mut self) -> Result<(), DeadEnd> {
        let mut result = Ok(());
        while let Some(section) = self.stale.pop() {
            self.is_stale[section] = false;
            if result.is_err() {
                continue;
            }
            let Some(floor) = self.unplaced(section).map(|item| self.low[item]).min() else {
                continue;
            };
            if floor != self.floor[section] {
                self.trail.push(Change::Floor { section, before: self.floor[section] });
                self.floor[section] = floor;
            }
            if self.slack(section) < 0 {
                self.failures[section] += 1.0;
                result = Err(DeadEnd);
            }
        }
        result
    }

    /// Items of a section that are not yet placed.
    pub(super) fn unplaced(&self, section: usize) -> impl Iterator<Item = usize> {
        self.seats[section][..self.left[section]].iter().map(|seat| seat.item)
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

    /// Bytes to spare in a section.
    pub(super) fn slack(&self, section: usize) -> i64 {
        let grain = self.instance.grain[section];
        ((self.capacity + grain - 1) & -grain) - self.floor[section] - self.open[section]
    }

    fn blame(&mut self, item: usize) {
        for section in self.stale.drain(..) {
            self.is_stale[section] = false;
        }
        if let Some(&(section, _)) = self.instance.life[item]
            .iter()
            .max_by_key(|&&(section, _)| self.floor[section] + self.open[section])
        {
            self.failures[section] += 1.0;
        }
    }

    fn mark_stale(&mut self, item: usize) {
        for &(section, _) in &self.instance.life[item] {
            if !self.is_stale[section] {
                self.is_stale[section] = true;
                self.stale.push(section);
            }
        }
    }

    /// Counts an item among those not yet placed, or no longer.
    fn shift_open(&mut self, item: usize, sign: i64) {
        for &(section, bytes) in &self.instance.life[item] {
            self.open[section] += sign * bytes;
        }
        for saving in self.instance.savings[item].iter().filter(|saving| !self.placed[saving.item]) {
            for &(section, bytes) in &saving.sections {
                self.open[section] -= sign * bytes;
            }
        }
    }
}
