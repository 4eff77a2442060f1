//! The lowest free place among buffers that are nothing but alive for a while.
//!
//! Most problems have no other buffers, and for tens of thousands of them it
//! matters not to look at all that is placed.

use super::model::Item;

/// Placed buffers that are alive at some step, sorted by offset.
#[derive(Default)]
pub(super) struct Shelf {
    spans: Vec<Span>,
}

struct Span {
    offset: i64,
    end: i64,
    /// Steps during which it is alive.
    first: usize,
    last: usize,
}

impl Shelf {
    /// The lowest aligned offset at which the item overlaps nothing that is
    /// alive together with it.
    pub(super) fn lowest(&self, item: &Item) -> i64 {
        let (first, last) = item.live();
        let mut offset = 0;
        if first >= last {
            return offset;
        }
        for span in &self.spans {
            if span.offset >= offset + item.extent {
                break;
            }
            if span.end > offset && span.first < last && first < span.last {
                offset = item.align(span.end);
            }
        }
        offset
    }

    /// Adds a placed item.
    pub(super) fn insert(&mut self, item: &Item, offset: i64) {
        let (first, last) = item.live();
        if first >= last {
            return;
        }
        let position = self.spans.partition_point(|span| span.offset <= offset);
        let end = offset + item.extent;
        self.spans.insert(position, Span { offset, end, first, last });
    }
}
