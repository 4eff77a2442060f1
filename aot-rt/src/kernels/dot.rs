//! Dot products: the inner loops of matrix products and convolutions.
//!
//! Sums are kept in lanes, element `i` in lane `i % LANES`, so that a compiler forms
//! vector instructions. The order of an integer sum does not matter: where there are
//! no vectors, one lane needs the fewest registers.

/// Whether the target has vectors of 128 bits, and the registers to hold 32 sums.
pub(crate) const VECTORS: bool =
    cfg!(any(target_feature = "sse2", target_feature = "neon", target_feature = "simd128"));

/// Whether the target has vectors of 256 bits.
const WIDE_VECTORS: bool = cfg!(target_feature = "avx2");

/// Whether four filters share the reads of `x` in int8. With wide vectors, compilers
/// turn the four products into vectors across the filters, at a third of the speed.
pub(crate) const I8_SHARED_READS: bool = !WIDE_VECTORS;

/// Lanes of an integer sum. With eight, x86 multiplies and adds pairs of 16-bit
/// numbers in one instruction.
const I8_LANES: usize = if WIDE_VECTORS {
    16
} else if VECTORS {
    8
} else {
    1
};

/// Filters that share the reads of `x`.
pub(crate) const FILTERS: usize = 4;

/// `sum (x - x_zero) * w`; differences of int8 values fit 16 bits.
#[inline(always)]
pub(crate) fn dot_i8(x: &[i8], x_zero: i16, w: &[i8]) -> i32 {
    let ((x, x_tail), (w, w_tail)) = (x.as_chunks(), w.as_chunks());
    let mut lanes = [0; I8_LANES];
    for (x, w) in x.iter().zip(w) {
        multiply_add(&mut lanes, x, x_zero, w);
    }
    let products = x_tail.iter().zip(w_tail).map(|(&x, &w)| product(x, x_zero, w));
    products.fold(total(lanes), i32::wrapping_add)
}

/// Products of int16 and int8 that fit a sum of 32 bits, at `2^22` each.
const I16_PRODUCTS: usize = 256;

/// `sum x * w`, int16 times int8: whole blocks are summed in 32 bits.
#[inline(always)]
pub(crate) fn dot_i16(x: &[i16], w: &[i8]) -> i64 {
    fn block(x: &[i16], w: &[i8]) -> i64 {
        let products = x.iter().zip(w).map(|(&x, &w)| i32::from(x) * i32::from(w));
        products.fold(0, i32::wrapping_add).into()
    }
    let ((x, x_tail), (w, w_tail)) = (x.as_chunks::<I16_PRODUCTS>(), w.as_chunks::<I16_PRODUCTS>());
    let blocks = x.iter().zip(w).map(|(x, w)| block(x, w));
    blocks.fold(block(x_tail, w_tail), i64::wrapping_add)
}

/// [`dot_i8`] of four filters, added to `sums`.
#[inline(always)]
pub(crate) fn dot4_i8(sums: &mut [i32; FILTERS], x: &[i8], x_zero: i16, w: [&[i8]; FILTERS]) {
    // The lanes are summed up here: in registers that live through the caller's
    // loops, compilers do not see that pairs of them may be added.
    let (x, x_tail) = x.as_chunks();
    let [(a, a_tail), (b, b_tail), (c, c_tail), (d, d_tail)] = w.map(|w| w.as_chunks());
    let [mut a_lanes, mut b_lanes, mut c_lanes, mut d_lanes] = [[0; I8_LANES]; FILTERS];
    for ((((x, a), b), c), d) in x.iter().zip(a).zip(b).zip(c).zip(d) {
        multiply_add(&mut a_lanes, x, x_zero, a);
        multiply_add(&mut b_lanes, x, x_zero, b);
        multiply_add(&mut c_lanes, x, x_zero, c);
        multiply_add(&mut d_lanes, x, x_zero, d);
    }
    for (sum, lanes) in sums.iter_mut().zip([a_lanes, b_lanes, c_lanes, d_lanes]) {
        *sum = sum.wrapping_add(total(lanes));
    }
    let [a_sum, b_sum, c_sum, d_sum] = sums;
    for ((((&x, &a), &b), &c), &d) in x_tail.iter().zip(a_tail).zip(b_tail).zip(c_tail).zip(d_tail) {
        *a_sum = a_sum.wrapping_add(product(x, x_zero, a));
        *b_sum = b_sum.wrapping_add(product(x, x_zero, b));
        *c_sum = c_sum.wrapping_add(product(x, x_zero, c));
        *d_sum = d_sum.wrapping_add(product(x, x_zero, d));
    }
}

#[inline(always)]
fn multiply_add(lanes: &mut [i32; I8_LANES], x: &[i8; I8_LANES], x_zero: i16, w: &[i8; I8_LANES]) {
    for ((lane, &x), &w) in lanes.iter_mut().zip(x).zip(w) {
        *lane = lane.wrapping_add(product(x, x_zero, w));
    }
}

#[inline(always)]
fn product(x: i8, x_zero: i16, w: i8) -> i32 {
    i32::from(i16::from(x).wrapping_sub(x_zero)) * i32::from(w)
}

#[inline(always)]
fn total(lanes: [i32; I8_LANES]) -> i32 {
    lanes.iter().fold(0, |total, &lane| total.wrapping_add(lane))
}
