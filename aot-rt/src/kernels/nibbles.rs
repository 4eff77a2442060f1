//! How weights of integers are stored. Of those of four bits, two are in a byte, the first in its
//! lower half.

use super::filters::{Located, blocked_products_i8, products_i8};
use super::loops::chunks;
use super::microkernel::DSP;
use super::microkernel::blocks::IN_BLOCKS;
use super::requantize::{Finish, OUTPUTS};
use crate::nibbles::{lower, upper};

/// How the weights of integer filters are stored.
pub(crate) trait Stored {
    /// Whether cells are taken as they lie in `x`, to be widened.
    const WIDENS: bool;

    /// Bytes of a filter of so many weights.
    fn bytes(filter: usize) -> usize;

    /// Products of cells with many filters, see [`products_i8`].
    fn products<F: Finish>(
        cells: impl Located<i8>,
        zero: i16,
        filters: (&[i8], usize),
        finish: &F,
        y: &mut [F::Y],
    );
}

/// A byte for each, filters in [blocks](super::microkernel::blocks) or in rows.
pub(crate) struct WholeBytes<const BLOCKED: bool>;

/// A byte for each, filters in rows.
pub(crate) type Bytes = WholeBytes<false>;

/// A byte for each, filters in blocks.
pub(crate) type Blocked = WholeBytes<true>;

/// Half a byte for each; every filter starts with a whole one.
pub(crate) struct Nibbles;

impl<const BLOCKED: bool> Stored for WholeBytes<BLOCKED> {
    const WIDENS: bool = if BLOCKED { IN_BLOCKS } else { DSP };

    #[inline(always)]
    fn bytes(filter: usize) -> usize {
        filter
    }

    #[inline(always)]
    fn products<F: Finish>(
        cells: impl Located<i8>,
        zero: i16,
        filters: (&[i8], usize),
        finish: &F,
        y: &mut [F::Y],
    ) {
        if BLOCKED {
            blocked_products_i8(cells, zero, filters, finish, y);
        } else {
            products_i8(cells, zero, filters, finish, y);
        }
    }
}

impl Stored for Nibbles {
    const WIDENS: bool = DSP;

    #[inline(always)]
    fn bytes(filter: usize) -> usize {
        filter.div_ceil(2)
    }

    /// Compiled once, like [`products_i8`].
    #[inline(never)]
    fn products<F: Finish>(
        cells: impl Located<i8>,
        zero: i16,
        (weights, filter): (&[i8], usize),
        finish: &F,
        y: &mut [F::Y],
    ) {
        let mut filters = chunks(weights, Self::bytes(filter));
        for (block, y) in y.chunks_mut(OUTPUTS).enumerate() {
            let mut sums = [0_i32; OUTPUTS];
            let sums = sums.get_mut(..y.len()).unwrap_or_default();
            for (sum, filter) in sums.iter_mut().zip(&mut filters) {
                cells.for_each(|x, at| *sum = sum.wrapping_add(dot_i4(x, zero, filter, at)));
            }
            finish.channels(block * OUTPUTS, sums, y);
        }
    }
}

/// `sum (x - x_zero) * w`, with the weights from number `at` of a filter on.
#[inline(always)]
fn dot_i4(x: &[i8], x_zero: i16, filter: &[i8], at: usize) -> i32 {
    let product = |x: i8, w: i8| i32::from(i16::from(x).wrapping_sub(x_zero)) * i32::from(w);
    let mut bytes = filter.get(at / 2..).unwrap_or_default().iter();
    let (mut sum, mut x) = (0_i32, x);
    if at % 2 == 1
        && let (Some((&first, rest)), Some(&byte)) = (x.split_first(), bytes.next())
    {
        (sum, x) = (product(first, upper(byte)), rest);
    }
    let (pairs, last) = x.as_chunks::<2>();
    for (&[a, b], &byte) in pairs.iter().zip(&mut bytes) {
        sum = sum.wrapping_add(product(a, lower(byte))).wrapping_add(product(b, upper(byte)));
    }
    match (last, bytes.next()) {
        (&[x], Some(&byte)) => sum.wrapping_add(product(x, lower(byte))),
        _ => sum,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::dot::dot_i8;
    use crate::kernels::tests::Random;

    #[test]
    fn nibbles_are_the_weights_that_they_hold() {
        let mut random = Random(3);
        let (x, stored) = (random.array::<31>(), random.array::<16>());
        let weights: [i8; 32] = core::array::from_fn(|i| {
            let byte = stored[i / 2];
            if i % 2 == 0 { lower(byte) } else { upper(byte) }
        });
        assert!(weights.contains(&-8) && weights.contains(&7));
        for at in 0..weights.len() {
            for len in 0..weights.len() - at {
                let expect = dot_i8(&x[..len], -7, &weights[at..at + len]);
                assert_eq!(dot_i4(&x[..len], -7, &stored, at), expect, "{len} from {at} on");
            }
        }
    }
}
