//! Filters in blocks of four, whose weights for a cell, or for four cells, are one behind the
//! other: there is one address for all of them, and they are read as words.

use super::super::dot::FILTERS;

/// Cells whose weights for a filter are together: as many as a word takes where two pairs of
/// numbers are multiplied in an instruction.
pub(crate) const CELLS: usize = if super::DSP { 4 } else { 1 };

/// Whether this processor's kernels read filters that [`Constants::with_blocks`] has arranged,
/// in another order than in rows.
///
/// [`Constants::with_blocks`]: crate::Constants::with_blocks
pub(crate) const IN_BLOCKS: bool = !(super::super::dot::VECTORS || super::HELIUM);

/// Filters among constants, for [`Constants::with_blocks`](crate::Constants::with_blocks).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filters {
    /// Byte at which they start.
    pub at: usize,
    /// Groups that are arranged apart.
    pub groups: usize,
    /// Filters of a group.
    pub filters: usize,
    /// Weights of a filter.
    pub len: usize,
}

impl Filters {
    /// Filters that start at byte `at`.
    #[must_use]
    pub const fn new(at: usize, groups: usize, filters: usize, len: usize) -> Self {
        Self { at, groups, filters, len }
    }

    /// Whether all blocks start at multiples of four bytes.
    #[must_use]
    pub const fn are_aligned(&self) -> bool {
        self.filters < FILTERS
            || self.at.is_multiple_of(4) && (self.groups == 1 || (self.filters * self.len).is_multiple_of(4))
    }

    /// Arranges the filters of all groups, with the weights of `cells` together.
    pub(crate) const fn arrange<const BYTES: usize>(
        self,
        cells: usize,
        from: &[u8; BYTES],
        to: &mut [u8; BYTES],
    ) {
        assert!(self.are_aligned(), "filters are not aligned to words");
        let group = self.filters * self.len;
        let (mut first, end) = (self.at, self.at + self.groups * group);
        assert!(end <= BYTES, "filters are out of bounds");
        while first < end {
            let mut filter = 0;
            while filter + FILTERS <= self.filters {
                arrange_block(from, to, first + filter * self.len, self.len, cells);
                filter += FILTERS;
            }
            first += group;
        }
    }
}

/// Arranges the block at `start`: of each filter the weights of `cells`, four or one, then of each
/// those of the next cells; at last of each one, for the cells that are left.
///
/// By words: compilers interpret this, at a microsecond and more for each round of a loop.
const fn arrange_block<const BYTES: usize>(
    from: &[u8; BYTES],
    to: &mut [u8; BYTES],
    start: usize,
    len: usize,
    cells: usize,
) {
    let (_, rows) = from.split_at(start);
    let (block, _) = to.split_at_mut(start).1.as_chunks_mut::<FILTERS>();
    let whole = if cells == 1 { 0 } else { len - len % cells };
    let mut filter = 0;
    while filter < FILTERS {
        let (row, _) = rows.split_at(filter * len).1.as_chunks::<FILTERS>();
        let mut four = 0;
        while four < whole / cells {
            block[four * FILTERS + filter] = row[four];
            four += 1;
        }
        filter += 1;
    }
    let mut cell = whole;
    while cell < len {
        block[cell] = [rows[cell], rows[len + cell], rows[2 * len + cell], rows[3 * len + cell]];
        cell += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two groups of four filters, and two more, of six weights each: filter and weight are the
    /// digits.
    const ROWS: [u8; 64] = {
        let (mut rows, mut i) = ([0; 64], 0);
        while i < 60 {
            rows[4 + i] = (10 * (i / 6) + i % 6) as u8;
            i += 1;
        }
        rows
    };

    fn arranged(groups: usize, filters: usize, cells: usize) -> [u8; 64] {
        let mut blocks = ROWS;
        Filters::new(4, groups, filters, 6).arrange(cells, &ROWS, &mut blocks);
        blocks
    }

    #[test]
    fn blocks_of_four_filters() {
        let fours = arranged(1, 10, 4);
        let first = [0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33];
        let rest = [4, 14, 24, 34, 5, 15, 25, 35];
        assert_eq!(fours[..4], [0; 4]);
        assert_eq!((&fours[4..20], &fours[20..28]), (&first[..], &rest[..]));
        assert_eq!(fours[28..44], first.map(|weight| weight + 40));
        // Two filters do not make a block.
        assert_eq!(fours[52..], ROWS[52..]);
        let ones = arranged(1, 10, 1);
        assert_eq!(ones[4..16], [0, 10, 20, 30, 1, 11, 21, 31, 2, 12, 22, 32]);
        // Groups by themselves.
        for (cells, blocks) in [(4, fours), (1, ones)] {
            assert_eq!(arranged(2, 4, cells), blocks);
        }
    }
}
