//! Cells times filters in blocks, where compilers find the instructions for that.

use super::super::dot::FILTERS;
use super::super::loops::part;
use super::processor::Four;

/// Adds `sum x * w` of the first `len` cells and of filters in [blocks](super::blocks), of which
/// each has `filter` weights, to their sums.
#[inline(never)]
pub(super) fn blocked_dots(
    x: &[Four],
    len: usize,
    sums: &mut [[i32; FILTERS]],
    mut weights: &[i8],
    filter: usize,
) {
    let x = part(x.as_flattened(), 0, len);
    let (fours, rest) = x.as_chunks::<4>();
    for to in sums {
        // Of their own, or compilers store them for every four cells.
        let mut sums = *to;
        let (blocks, _) = weights.as_chunks::<{ 4 * FILTERS }>();
        for (x, weights) in fours.iter().zip(blocks) {
            add(&mut sums, x, weights);
        }
        add(&mut sums, rest, weights.get(4 * FILTERS * fours.len()..).unwrap_or_default());
        *to = sums;
        weights = weights.get(FILTERS * filter..).unwrap_or_default();
    }
}

/// Adds the products of some cells.
#[inline(always)]
fn add(sums: &mut [i32; FILTERS], x: &[i16], weights: &[i8]) {
    let [mut a, mut b, mut c, mut d] = *sums;
    for (&x, w) in x.iter().zip(weights.as_chunks::<FILTERS>().0) {
        let product = |filter: usize| i32::from(x) * i32::from(w[filter]);
        a = a.wrapping_add(product(0));
        b = b.wrapping_add(product(1));
        c = c.wrapping_add(product(2));
        d = d.wrapping_add(product(3));
    }
    *sums = [a, b, c, d];
}
