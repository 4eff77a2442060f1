//! Filters in blocks of four, of which a processor without vectors reads the weights of four
//! cells at a time: one address for all, and the words of four filters one behind the other.

use super::super::dot::FILTERS;

/// Cells whose weights are together.
const CELLS: usize = 4;

/// Whether this processor's kernels read filters that [`Constants::with_blocks`] has arranged,
/// in another order than in rows.
///
/// [`Constants::with_blocks`]: crate::Constants::with_blocks
pub(crate) const IN_BLOCKS: bool = !super::super::dot::VECTORS;

/// Filters among constants, for [`Constants::with_blocks`](crate::Constants::with_blocks).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filters {
    /// Byte at which they start, a multiple of four.
    pub at: usize,
    /// Groups that are arranged apart. Where there are several, each has a multiple of four bytes.
    pub groups: usize,
    /// Filters of a group.
    pub filters: usize,
    /// Weights of a filter.
    pub len: usize,
}

impl Filters {
    /// Arranges the filters of all groups.
    pub(crate) const fn arrange<const BYTES: usize>(self, from: &[u8; BYTES], to: &mut [u8; BYTES]) {
        assert!(self.at.is_multiple_of(4), "filters are not aligned to words");
        let group = self.filters * self.len;
        assert!(self.groups == 1 || group.is_multiple_of(4), "groups are not aligned to words");
        assert!(self.at + self.groups * group <= BYTES, "filters are out of bounds");
        let (mut first, end) = (self.at, self.at + self.groups * group);
        while first < end {
            let mut filter = 0;
            while filter + FILTERS <= self.filters {
                arrange_block(from, to, first + filter * self.len, self.len);
                filter += FILTERS;
            }
            first += group;
        }
    }
}

/// Arranges the block at `start`: of each filter four weights, then of each the next four; at
/// last of each those that are left.
const fn arrange_block<const BYTES: usize>(
    from: &[u8; BYTES],
    to: &mut [u8; BYTES],
    start: usize,
    len: usize,
) {
    let (mut at, mut cell) = (start, 0);
    while cell < len {
        let cells = if len - cell < CELLS { len - cell } else { CELLS };
        let mut filter = 0;
        while filter < FILTERS {
            let row = start + filter * len + cell;
            let mut i = 0;
            while i < cells {
                to[at] = from[row + i];
                (at, i) = (at + 1, i + 1);
            }
            filter += 1;
        }
        cell += cells;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_four_by_four() {
        // Two groups of five filters of six weights each: filter and weight are the digits.
        let mut rows = [0; 4 + 60];
        for (i, weight) in rows[4..].iter_mut().enumerate() {
            *weight = (10 * (i / 6) + i % 6) as u8;
        }
        let mut blocked = rows;
        Filters { at: 4, groups: 1, filters: 10, len: 6 }.arrange(&rows, &mut blocked);
        let first = [0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33];
        let last = [4, 5, 14, 15, 24, 25, 34, 35];
        let second = first.map(|weight| weight + 40);
        assert_eq!(blocked[..4], [0; 4]);
        assert_eq!((&blocked[4..20], &blocked[20..28]), (&first[..], &last[..]));
        assert_eq!(blocked[28..44], second);
        // Two filters do not make a block.
        assert_eq!(blocked[52..], rows[52..]);
        let mut groups = rows;
        Filters { at: 4, groups: 2, filters: 4, len: 6 }.arrange(&rows, &mut groups);
        assert_eq!(groups[..52], blocked[..52]);
        assert_eq!(groups[52..], rows[52..]);
    }
}
