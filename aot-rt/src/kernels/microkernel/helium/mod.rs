//! Processors with the vectors of Armv8.1-M, Helium: 16 numbers of 8 bits, or four of 32.
//!
//! They are inline assembly, since compilers find few of the instructions, and no function of
//! `core` gives them. A loop knows how many elements are left (`dlstp`, `letp`): what a vector
//! has beyond them is neither read nor written, nor is it added. Some instructions set the flag
//! for saturation (Q), which neither rustc nor this crate reads.
#![expect(unsafe_code, reason = "inline assembly")]

mod memory;
mod sum;
mod window;

use core::arch::asm;

use super::super::OutputI8;
use super::super::dot::FILTERS;
use super::{each_has, has};
pub(crate) use memory::{cleared, copy, filled, room};
pub(crate) use sum::add;
pub(crate) use window::{SUMS, Window};

/// Numbers of 8 bits in a vector.
const LANES: usize = 16;

/// Adds `sum (x - zero) * w` of filters, `filter` weights apart, to their sums; nothing where
/// there are not as many weights. `zero` is an int8 number.
#[inline(never)]
pub(crate) fn add_products(sums: &mut [i32], x: &[i8], zero: i16, weights: &[i8], filter: usize) {
    debug_assert!(i8::try_from(zero).is_ok());
    if x.is_empty() || !each_has(weights, (sums.len(), filter), x.len()) {
        return;
    }
    let (blocks, rest) = sums.as_chunks_mut();
    if !rest.is_empty() {
        add_rest(rest, x, zero, weights.get(FILTERS * filter * blocks.len()..).unwrap_or_default(), filter);
    }
    if !blocks.is_empty() {
        let filters = [0, 1, 2, 3].map(|n| weights.as_ptr().wrapping_add(n * filter));
        // SAFETY: the check above has found `x.len()` weights of every filter up to the last to
        // be there, and these are not more filters.
        unsafe { add_to_blocks(blocks, x, zero, filters, FILTERS * filter) };
    }
}

/// [`add_products`] of the filters that are not a block: it is one in which the last of them
/// stands for those that are not there.
#[inline(never)]
fn add_rest(sums: &mut [i32], x: &[i8], zero: i16, weights: &[i8], filter: usize) {
    let Some(last) = sums.len().checked_sub(1).and_then(|last| last.checked_mul(filter)) else { return };
    if x.is_empty() || !has(weights, last, x.len()) {
        return;
    }
    let filters = [0, 1, 2, 3].map(|n| weights.as_ptr().wrapping_add(last.min(n * filter)));
    let mut block = [[0; FILTERS]];
    // SAFETY: the check above has found `x.len()` weights of every filter up to the last to be
    // there, and no pointer is beyond that.
    unsafe { add_to_blocks(&mut block, x, zero, filters, 0) };
    for (sum, products) in sums.iter_mut().zip(block.as_flattened()) {
        *sum = sum.wrapping_add(*products);
    }
}

/// [`add_products`] of blocks of four filters, the first of which are at `filters`, and
/// `block` weights further for each block.
///
/// A difference from the zero point does not fit 8 bits. So the zero point is multiplied by
/// itself: `sum (x - zero) * w` is `sum x * w + sum -zero * w`. A negative `zero` may have no
/// negative in 8 bits, but `!x` has, which is `-x - 1`: then it is the negative of
/// `sum !x * w + sum (zero + 1) * w`.
///
/// # Safety
///
/// There are blocks and cells, and as many weights at each filter as cells.
#[inline(always)]
unsafe fn add_to_blocks(
    sums: &mut [[i32; FILTERS]],
    x: &[i8],
    zero: i16,
    filters: [*const i8; FILTERS],
    block: usize,
) {
    // All ones if negative, else 0.
    let mask = i32::from(zero >> 15);
    let factor = (i32::from(zero) ^ !mask) + 1;
    // From where a block ends, in whole vectors, to the next.
    let step = block.wrapping_sub((x.len() + LANES - 1) & !(LANES - 1));
    let ends = sums.as_mut_ptr_range();
    let [a, b, c, d] = filters;
    // SAFETY: for every four sums from `ends.start` to `ends.end`, it reads `x`, and as many
    // weights of four filters, which the caller says are there: the loop reads no element beyond
    // the number in `lr`. It writes the sums, the registers named, and four words that it takes
    // of the stack and gives back. Vectors are read from any address of their elements' alignment.
    unsafe {
        asm!(
            "push.w {{r0, r2, r4, r8}}",
            "asrs r0, r8, #1",
            "vdup.8 q3, r0",
            "vdup.8 q2, lr",
            "4:",
            "ldrd {x}, lr, [sp]",
            "movs r0, #0",
            "movs r2, #0",
            "movs r4, #0",
            "mov.w r8, #0",
            "dlstp.8 lr, lr",
            "2:",
            "vldrb.u8 q0, [{x}], #16",
            "veor q0, q0, q3",
            "vldrb.u8 q1, [{a}], #16",
            "vmlava.s8 r0, q0, q1",
            "vmlava.s8 r0, q2, q1",
            "vldrb.u8 q1, [{b}], #16",
            "vmlava.s8 r2, q0, q1",
            "vmlava.s8 r2, q2, q1",
            "vldrb.u8 q1, [{c}], #16",
            "vmlava.s8 r4, q0, q1",
            "vmlava.s8 r4, q2, q1",
            "vldrb.u8 q1, [{d}], #16",
            "vmlava.s8 r8, q0, q1",
            "vmlava.s8 r8, q2, q1",
            "letp lr, 2b",
            "vmov q0[2], q0[0], r0, r4",
            "vmov q0[3], q0[1], r2, r8",
            "ldrd r0, r2, [sp, #8]",
            "vldrw.u32 q1, [{sums}]",
            "vmla.i32 q1, q0, r2",
            "vstrw.32 q1, [{sums}], #16",
            "add {a}, r0",
            "add {b}, r0",
            "add {c}, r0",
            "add {d}, r0",
            "cmp {sums}, {end}",
            "bne 4b",
            "add sp, sp, #16",
            inout("r0") x.as_ptr() => _,
            inout("r2") x.len() => _,
            inout("r4") step => _,
            inout("r8") mask | 1 => _,
            inout("lr") factor => _,
            x = out(reg) _,
            a = inout(reg) a => _,
            b = inout(reg) b => _,
            c = inout(reg) c => _,
            d = inout(reg) d => _,
            sums = inout(reg) ends.start => _,
            end = in(reg) ends.end,
            out("d0") _, out("d1") _, out("d2") _, out("d3") _,
            out("d4") _, out("d5") _, out("d6") _, out("d7") _,
        );
    }
}

/// Four sums with their bias, in `q0`.
macro_rules! biased {
    () => {
        concat!(
            "vldrw.u32 q0, [{sums}], #16\n",
            "vldrw.u32 q2, [{bias}], #16\n",
            "vadd.i32 q0, q0, q2\n",
            "vadd.i32 q0, q0, {offset}\n",
        )
    };
}

/// Writes the results of four products, in `q0`, which are shifted by what is in `q1`, to the
/// right, with ties away from zero.
macro_rules! write_results {
    () => {
        concat!(
            // Negative ones less 1, unless they are not shifted.
            "vand q2, q0, q1\n",
            "vshr.s32 q2, q2, #31\n",
            "vadd.i32 q0, q0, q2\n",
            "vrshl.s32 q0, q0, q1\n",
            "vadd.i32 q0, q0, {zero}\n",
            "vmax.s32 q0, q0, q4\n",
            "vmin.s32 q0, q0, q5\n",
            "vstrb.32 q0, [r0], #4\n",
        )
    };
}

/// Sets `y` to the scaled sums, less `offset`; rounds twice. Nothing where anything is missing.
///
/// `sums`, `bias`: one for each output, as there are `multipliers` and `shifts`, unless one is for
/// all. `vqrdmulh` rounds as the first rounding does.
#[inline(always)]
pub(crate) fn requantize(
    (multipliers, shifts): (&[i32], &[i8]),
    (sums, bias): (&[i32], &[i32]),
    offset: i32,
    output: OutputI8,
    y: &mut [i8],
) {
    let len = y.len();
    if len == 0 || sums.len() < len || bias.len() < len {
        return;
    }
    if let (&[multiplier], &[shift]) = (multipliers, shifts) {
        // SAFETY: it reads `sums` and `bias`, writes `y`, and does so at no index beyond `len`;
        // the check above has found all to be as long. It writes nothing else but the registers
        // named. Sums and bias are aligned for words.
        unsafe {
            asm!(
                "vdup.32 q1, {right}",
                "vdup.32 q4, {min}",
                "vdup.32 q5, {max}",
                "dlstp.32 lr, lr",
                "2:",
                biased!(),
                "vshl.s32 q0, {left}",
                "vqrdmulh.s32 q0, q0, {multiplier}",
                write_results!(),
                "letp lr, 2b",
                inout("lr") len => _,
                right = in(reg) i32::from(shift.min(0)),
                left = in(reg) i32::from(shift.max(0)),
                multiplier = in(reg) multiplier,
                min = in(reg) output.min,
                max = in(reg) output.max,
                zero = in(reg) output.zero_point,
                offset = in(reg) offset.wrapping_neg(),
                sums = inout(reg) sums.as_ptr() => _,
                bias = inout(reg) bias.as_ptr() => _,
                inout("r0") y.as_mut_ptr() => _,
                out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _,
                out("d8") _, out("d9") _, out("d10") _, out("d11") _,
                options(nostack),
            );
        }
    } else if multipliers.len() >= len && shifts.len() >= len {
        // SAFETY: as above, and it reads `multipliers`, which are aligned for words, and
        // `shifts` in the same way.
        unsafe {
            asm!(
                "vmov.i32 q3, #0",
                "vdup.32 q4, {min}",
                "vdup.32 q5, {max}",
                "dlstp.32 lr, lr",
                "2:",
                biased!(),
                "vldrb.s32 q1, [r1], #4",
                "vmax.s32 q2, q1, q3",
                "vmin.s32 q1, q1, q3",
                "vshl.s32 q0, q0, q2",
                "vldrw.u32 q2, [{multipliers}], #16",
                "vqrdmulh.s32 q0, q0, q2",
                write_results!(),
                "letp lr, 2b",
                inout("lr") len => _,
                inout("r1") shifts.as_ptr() => _,
                multipliers = inout(reg) multipliers.as_ptr() => _,
                min = in(reg) output.min,
                max = in(reg) output.max,
                zero = in(reg) output.zero_point,
                offset = in(reg) offset.wrapping_neg(),
                sums = inout(reg) sums.as_ptr() => _,
                bias = inout(reg) bias.as_ptr() => _,
                inout("r0") y.as_mut_ptr() => _,
                out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _,
                out("d6") _, out("d7") _, out("d8") _, out("d9") _, out("d10") _, out("d11") _,
                options(nostack),
            );
        }
    }
}
