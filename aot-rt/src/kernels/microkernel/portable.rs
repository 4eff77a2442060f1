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
    for sums in sums {
        let [mut a, mut b, mut c, mut d] = *sums;
        for (&x, w) in x.iter().zip(weights.as_chunks::<FILTERS>().0) {
            let x = i32::from(x);
            a = a.wrapping_add(x * i32::from(w[0]));
            b = b.wrapping_add(x * i32::from(w[1]));
            c = c.wrapping_add(x * i32::from(w[2]));
            d = d.wrapping_add(x * i32::from(w[3]));
        }
        *sums = [a, b, c, d];
        weights = weights.get(FILTERS * filter..).unwrap_or_default();
    }
}
