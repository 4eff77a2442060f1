//! Layers that run together, row by row.
//!
//! A row of a layer needs a few rows of the one before. Computing each row when the
//! next layer needs it keeps only those: between two layers there is a ring of rows
//! instead of a tensor. Nothing is computed twice.

use super::images::remainder;
use super::loops::{part, part_mut};
use super::window::min;

/// A layer of a run: how many rows it makes, and what for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowLayer {
    /// Rows of `y`.
    pub rows: usize,
    /// The operands whose rows it needs.
    pub sources: [RowSource; 2],
}

/// Which rows of an operand a layer needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowSource {
    /// Where the rows come from.
    pub origin: RowOrigin,
    /// Rows of the operand.
    pub rows: usize,
    /// Rows of the operand from one row of `y` to the next.
    pub stride: usize,
    /// Rows that the first row of `y` reaches down, those of the padding included.
    pub reach: usize,
    /// Rows of padding above the operand.
    pub padding: usize,
}

/// Where rows come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOrigin {
    /// They are all there.
    Whole,
    /// The caller pushes one after the other.
    Pushed,
    /// An earlier layer of the run makes them.
    Layer(usize),
}

impl RowSource {
    /// An operand of which nothing is needed.
    pub const NONE: Self = Self { origin: RowOrigin::Whole, rows: 0, stride: 0, reach: 0, padding: 0 };

    /// Rows that must be there for row `row` of `y`.
    #[must_use]
    pub const fn needed(&self, row: usize) -> usize {
        min((row * self.stride + self.reach).saturating_sub(self.padding), self.rows)
    }
}

/// How far the layers of a run have come.
#[derive(Clone, Copy, Debug)]
pub struct Rows<const LAYERS: usize> {
    done: [usize; LAYERS],
}

impl<const LAYERS: usize> Default for Rows<LAYERS> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const LAYERS: usize> Rows<LAYERS> {
    /// Before the first row.
    #[must_use]
    pub const fn new() -> Self {
        Self { done: [0; LAYERS] }
    }

    /// The layer to compute next, and its row, when `pushed` rows have been pushed;
    /// `None` when it takes more of them, or all is done.
    ///
    /// ```
    /// use aot_rt::kernels::{RowLayer, RowOrigin, RowSource, Rows};
    /// // A layer of 3 rows, and a window of two rows over it.
    /// let first = RowLayer { rows: 3, sources: [RowSource::NONE; 2] };
    /// let window = RowSource { origin: RowOrigin::Layer(0), rows: 3, stride: 1, reach: 2, padding: 0 };
    /// let second = RowLayer { rows: 2, sources: [window, RowSource::NONE] };
    /// let mut rows = Rows::<2>::new();
    /// let order: Vec<_> = core::iter::from_fn(|| rows.next(&[first, second], 0)).collect();
    /// assert_eq!(order, [(0, 0), (0, 1), (1, 0), (0, 2), (1, 1)]);
    /// ```
    pub fn next(&mut self, layers: &[RowLayer; LAYERS], pushed: usize) -> Option<(usize, usize)> {
        next(&mut self.done, layers, pushed)
    }
}

/// See [`Rows::next`]; `done` holds the rows that each layer has made.
pub fn next(done: &mut [usize], layers: &[RowLayer], pushed: usize) -> Option<(usize, usize)> {
    let (layer, row) = ahead(done, layers, pushed)?;
    *done.get_mut(layer)? += 1;
    Some((layer, row))
}

/// What [`next`] would give.
fn ahead(done: &[usize], layers: &[RowLayer], pushed: usize) -> Option<(usize, usize)> {
    // The last layer that is not complete, and then what it waits for.
    let unfinished = |(done, layer): (&usize, &RowLayer)| *done < layer.rows;
    let mut index = done.iter().zip(layers).rposition(unfinished)?;
    'descend: loop {
        let row = *done.get(index)?;
        for source in &layers.get(index)?.sources {
            let needed = source.needed(row);
            match source.origin {
                RowOrigin::Whole => (),
                RowOrigin::Pushed if pushed < needed => return None,
                RowOrigin::Pushed => (),
                RowOrigin::Layer(earlier) => {
                    if *done.get(earlier)? < needed {
                        index = earlier;
                        continue 'descend;
                    }
                }
            }
        }
        return Some((index, row));
    }
}

/// The layer whose row comes next where nothing is pushed; `None` when all is done: then
/// `done` is set back for the layers that come after.
///
/// ```
/// use aot_rt::kernels::{RowLayer, RowSource, next_layer, next_row};
/// let layers = [RowLayer { rows: 2, sources: [RowSource::NONE; 2] }];
/// let mut done = [0; 3];
/// assert_eq!(next_row(&mut done, &layers, 0), Some((0, 0)));
/// assert_eq!(next_layer(&mut done, &layers), Some(0));
/// assert_eq!(next_row(&mut done, &layers, 0), Some((0, 1)));
/// assert_eq!((next_layer(&mut done, &layers), done), (None, [0; 3]));
/// ```
pub fn next_layer(done: &mut [usize], layers: &[RowLayer]) -> Option<usize> {
    let next = ahead(done, layers, 0).map(|(layer, _)| layer);
    if next.is_none() {
        done.fill(0);
    }
    next
}

/// Row `row` in a ring of `rows` rows.
#[inline(always)]
#[must_use]
pub fn ring_row<T>(ring: &[T], rows: usize, row: usize) -> &[T] {
    let len = ring.len().checked_div(rows).unwrap_or(0);
    part(ring, remainder(row, rows) * len, len)
}

/// Row `row` in a ring of `rows` rows, exclusively.
#[inline(always)]
#[must_use]
pub fn ring_row_mut<T>(ring: &mut [T], rows: usize, row: usize) -> &mut [T] {
    let len = ring.len().checked_div(rows).unwrap_or(0);
    part_mut(ring, remainder(row, rows) * len, len)
}
