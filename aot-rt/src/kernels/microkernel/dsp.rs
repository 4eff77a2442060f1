//! Processors with the DSP instructions of Armv7E-M and Armv8-M, which multiply two pairs of
//! 16-bit numbers and add both products.
//!
//! They are inline assembly, since `core` has no stable functions for them. Some set the flags
//! for overflow (Q) or for comparing halves (GE), which neither rustc nor this crate reads;
//! hence no `preserves_flags` there.
#![expect(unsafe_code, reason = "inline assembly")]

use core::arch::asm;

use super::super::dot::FILTERS;
use super::{each_has, has};

/// Four cells of 16 bits: the first and the third in a word, then the second and the fourth.
/// So `sxtb16` leaves the weights.
#[derive(Clone, Copy)]
#[repr(align(4))]
pub(crate) struct Four([i16; 4]);

/// Four zeros.
pub(super) const ZERO: Four = Four([0; 4]);

/// Where a cell is among four: the second and the third change places.
const fn place(at: usize) -> usize {
    (at & 1) << 1 | (at >> 1 & 1)
}

/// Sets one of four cells.
#[inline(always)]
pub(super) fn set(four: &mut Four, at: usize, x: i16) {
    if let Some(cell) = four.0.get_mut(place(at)) {
        *cell = x;
    }
}

/// One of four cells.
#[inline(always)]
fn get(four: &Four, at: usize) -> i16 {
    four.0.get(place(at)).copied().unwrap_or(0)
}

/// `-zero` in both halves of a word.
#[inline(always)]
const fn minus(zero: i16) -> u32 {
    let half = zero.wrapping_neg().cast_unsigned() as u32;
    half << 16 | half
}

/// Sets as many cells to `x - zero`.
#[inline(always)]
pub(super) fn widen(x: &[[i8; 4]], zero: i16, to: &mut [Four]) {
    if x.is_empty() || x.len() != to.len() {
        return;
    }
    let ends = x.as_ptr_range();
    // SAFETY: it reads `x` from `ends.start` to `ends.end`, four bytes at a time, and writes
    // eight bytes of `to` for each, which is as long; both are at least one long. These
    // processors load words from any address; `to` is aligned for them, as `strd` asks.
    unsafe {
        asm!(
            "2:",
            "ldr {w}, [{x}], #4",
            "sxtab16 {even}, {zero}, {w}",
            "sxtab16 {w}, {zero}, {w}, ror #8",
            "strd {even}, {w}, [{to}], #8",
            "cmp {x}, {end}",
            "bne 2b",
            x = inout(reg) ends.start => _,
            end = in(reg) ends.end,
            to = inout(reg) to.as_mut_ptr() => _,
            zero = in(reg) minus(zero),
            even = out(reg) _,
            w = out(reg) _,
            options(nostack),
        );
    }
}

/// Four cells times four filters: 21 instructions for 16 products.
macro_rules! four {
    () => {
        concat!(
            "ldrd {even}, {odd}, [{x}], #8\n",
            "ldr {w}, [{weights}, {filter}]\n",
            "sxtb16 {v}, {w}\n",
            "sxtb16 {w}, {w}, ror #8\n",
            "smlad {b}, {even}, {v}, {b}\n",
            "smlad {b}, {odd}, {w}, {b}\n",
            "ldr {w}, [{weights}, {filter}, lsl #1]\n",
            "sxtb16 {v}, {w}\n",
            "sxtb16 {w}, {w}, ror #8\n",
            "smlad {c}, {even}, {v}, {c}\n",
            "smlad {c}, {odd}, {w}, {c}\n",
            "ldr {w}, [{last}], #4\n",
            "sxtb16 {v}, {w}\n",
            "sxtb16 {w}, {w}, ror #8\n",
            "smlad {d}, {even}, {v}, {d}\n",
            "smlad {d}, {odd}, {w}, {d}\n",
            "ldr {w}, [{weights}], #4\n",
            "sxtb16 {v}, {w}\n",
            "sxtb16 {w}, {w}, ror #8\n",
            "smlad {a}, {even}, {v}, {a}\n",
            "smlad {a}, {odd}, {w}, {a}\n",
        )
    };
}

/// Half of a round, which small code does without.
#[cfg(not(aot_small))]
macro_rules! odd_four {
    () => {
        four!()
    };
}
#[cfg(aot_small)]
macro_rules! odd_four {
    () => {
        ""
    };
}

/// Adds `sum x * w` of filters, `filter` weights apart, to their sums, four by four; nothing
/// where there are not as many weights.
///
/// Loops of their own, since they take more registers than a compiler leaves to them: what
/// four filters share is on the stack. Eight cells a round, of which an odd number of fours
/// skips the first half at first.
#[inline(never)]
pub(super) fn dots(x: &[Four], sums: &mut [[i32; FILTERS]], weights: &[i8], filter: usize) {
    if x.is_empty() || !each_has(weights, (FILTERS * sums.len(), filter), 4 * x.len()) {
        return;
    }
    let (cells, ends) = (x.as_ptr_range(), sums.as_mut_ptr_range());
    // SAFETY: for every four sums from `ends.start` to `ends.end`, it reads `x` from
    // `cells.start` to `cells.end`, eight bytes at a time, and four bytes of the weights of each
    // of four filters for each, which the check above has found to be there. It writes the
    // sums, the registers named, and four words that it takes of the stack and gives back.
    // These processors load words from any address; `x` and `sums` are aligned for them, as
    // `ldrd` and `strd` ask.
    unsafe {
        asm!(
            "sub sp, sp, #16",
            "strd {x}, {weights}, [sp]",
            "strd {w}, {v}, [sp, #8]",
            "4:",
            "ldrd {x}, {weights}, [sp]",
            "ldr {w}, [sp, #8]",
            "ldrd {a}, {b}, [{w}]",
            "ldrd {c}, {d}, [{w}, #8]",
            "add {last}, {filter}, {filter}, lsl #1",
            "add {last}, {last}, {weights}",
            "sub {v}, {end}, {x}",
            "tst {v}, #8",
            "bne 3f",
            "2:",
            odd_four!(),
            "3:",
            four!(),
            "cmp {x}, {end}",
            "bne 2b",
            "ldrd {weights}, {w}, [sp, #4]",
            "strd {a}, {b}, [{w}], #8",
            "strd {c}, {d}, [{w}], #8",
            "add {weights}, {weights}, {filter}, lsl #2",
            "strd {weights}, {w}, [sp, #4]",
            "ldr {v}, [sp, #12]",
            "cmp {w}, {v}",
            "bne 4b",
            "add sp, sp, #16",
            x = inout(reg) cells.start => _,
            end = in(reg) cells.end,
            weights = inout(reg) weights.as_ptr() => _,
            filter = in(reg) filter,
            last = out(reg) _,
            even = out(reg) _,
            odd = out(reg) _,
            w = inout(reg) ends.start => _,
            v = inout(reg) ends.end => _,
            a = out(reg) _,
            b = out(reg) _,
            c = out(reg) _,
            d = out(reg) _,
        );
    }
}

/// `sum x * w` of as many cells as there are weights, and `sum`.
#[inline(never)]
pub(super) fn dot(x: &[Four], weights: &[i8], mut sum: i32) -> i32 {
    let whole = x.len().min(weights.len() / 4);
    if whole > 0 {
        // SAFETY: it reads eight bytes of `x` and four of the weights `whole` times, which is at
        // least once and as often as both have them. It writes the registers named. These
        // processors load words from any address; `x` is aligned for them, as `ldrd` asks.
        unsafe {
            asm!(
                "2:",
                "ldrd {even}, {odd}, [{x}], #8",
                "ldr {w}, [{weights}], #4",
                "sxtb16 {v}, {w}",
                "sxtb16 {w}, {w}, ror #8",
                "smlad {sum}, {even}, {v}, {sum}",
                "smlad {sum}, {odd}, {w}, {sum}",
                "cmp {x}, {end}",
                "bne 2b",
                x = inout(reg) x.as_ptr() => _,
                end = in(reg) x.as_ptr().wrapping_add(whole),
                weights = inout(reg) weights.as_ptr() => _,
                sum = inout(reg) sum,
                even = out(reg) _,
                odd = out(reg) _,
                w = out(reg) _,
                v = out(reg) _,
                options(nostack),
            );
        }
    }
    let Some(last) = x.get(whole) else { return sum };
    for (at, &w) in weights.iter().skip(4 * whole).enumerate() {
        sum = sum.wrapping_add(i32::from(get(last, at)) * i32::from(w));
    }
    sum
}

/// Sets `y`, from the last output on, to the scaled sums, until one is shifted to the left or
/// has a multiplier below `2^30`; gives how many are left. Rounds twice.
///
/// `sums`, `bias`, `multipliers`, `shifts`: one for each output. With a
/// multiplier of `2^30` or more, `2 * multiplier - 2^32` fits a word, and
/// `(x * multiplier + 2^30) >> 31` is the upper word of its product with `x`, and of `x` words,
/// rounded: one instruction.
#[inline(always)]
pub(crate) fn requantize(
    (multipliers, shifts): (&[i32], &[i8]),
    (sums, bias): (&[i32], &[i32]),
    zero_point: i32,
    y: &mut [i8],
) -> usize {
    let left = y.len();
    let there = sums.len().min(bias.len()).min(multipliers.len()).min(shifts.len());
    if left == 0 || there < left {
        return left;
    }
    // One less than are left.
    let last: i32;
    // SAFETY: it reads `sums`, `bias`, `multipliers` and `shifts`, and writes `y`, at indices
    // from `left - 1` down to 0; the check above has found all to be as long. It writes nothing
    // else but the registers named.
    unsafe {
        asm!(
            "2:",
            "ldr {x}, [{sums}, {i}, lsl #2]",
            "ldr {m}, [{bias}, {i}, lsl #2]",
            "ldrsb {s}, [{shifts}, {i}]",
            "add {x}, {x}, {m}",
            "ldr {m}, [{multipliers}, {i}, lsl #2]",
            "mvns {s}, {s}",
            "bmi 3f",
            "lsls {m}, {m}, #1",
            "bpl 3f",
            "smmlar {x}, {x}, {m}, {x}",
            // The second rounding, ties away from zero; the zero point twice.
            "add {x}, {x}, {x}, asr #31",
            "asr {x}, {x}, {s}",
            "qadd {x}, {x}, {zero}",
            "ssat {x}, #8, {x}, asr #1",
            "strb {x}, [{y}, {i}]",
            "subs {i}, {i}, #1",
            "bpl 2b",
            "3:",
            i = inout(reg) y.len() - 1 => last,
            sums = in(reg) sums.as_ptr(),
            bias = in(reg) bias.as_ptr(),
            multipliers = in(reg) multipliers.as_ptr(),
            shifts = in(reg) shifts.as_ptr(),
            y = in(reg) y.as_mut_ptr(),
            zero = in(reg) 2 * zero_point + 1,
            x = out(reg) _,
            m = out(reg) _,
            s = out(reg) _,
            options(nostack),
        );
    }
    last.wrapping_add(1) as usize
}

/// Adds the sums of `(x - zero) * w` to those of channels that follow each other, four by
/// four; nothing where a tap is beyond `x` or `weights`: `last` has the largest offsets.
#[inline(never)]
pub(super) fn add_taps(
    sums: &mut [[i32; FILTERS]],
    (taps, last): (&[[usize; 2]], [usize; 2]),
    x: &[i8],
    zero: i16,
    weights: &[i8],
) {
    let channels = FILTERS * sums.len();
    if taps.is_empty() || channels == 0 || !has(x, last[0], channels) || !has(weights, last[1], channels) {
        return;
    }
    let (ends, taps) = (sums.as_mut_ptr_range(), taps.as_ptr_range());
    // SAFETY: for every four sums from `ends.start` to `ends.end`, it reads the taps from
    // `taps.start` to `taps.end`, eight bytes at a time, and four bytes of `x` and of `weights`
    // from each tap's offsets on, plus four for every four sums before: the check above has
    // found the largest of them to be there. It writes the sums, the registers named, and four
    // words that it takes of the stack and gives back. These processors load words from any
    // address; taps and sums are aligned for them, as `ldrd` and `strd` ask.
    unsafe {
        asm!(
            "sub sp, sp, #16",
            "strd {tap}, {v}, [sp]",
            "str {w}, [sp, #8]",
            "4:",
            "ldrd {tap}, {v}, [sp]",
            "ldrd {a}, {b}, [{v}]",
            "ldrd {c}, {d}, [{v}, #8]",
            "2:",
            "ldrd {v}, {w}, [{tap}], #8",
            "ldr {v}, [{x}, {v}]",
            "ldr {w}, [{weights}, {w}]",
            "sxtab16 {even}, {zero}, {v}",
            "sxtab16 {v}, {zero}, {v}, ror #8",
            "sxtb16 {t}, {w}",
            "sxtb16 {w}, {w}, ror #8",
            "smlabb {a}, {even}, {t}, {a}",
            "smlatt {c}, {even}, {t}, {c}",
            "smlabb {b}, {v}, {w}, {b}",
            "smlatt {d}, {v}, {w}, {d}",
            "cmp {tap}, {end}",
            "bne 2b",
            "ldrd {v}, {w}, [sp, #4]",
            "strd {a}, {b}, [{v}], #8",
            "strd {c}, {d}, [{v}], #8",
            "str {v}, [sp, #4]",
            "adds {x}, {x}, #4",
            "adds {weights}, {weights}, #4",
            "cmp {v}, {w}",
            "bne 4b",
            "add sp, sp, #16",
            tap = inout(reg) taps.start => _,
            end = in(reg) taps.end,
            x = inout(reg) x.as_ptr() => _,
            weights = inout(reg) weights.as_ptr() => _,
            zero = in(reg) minus(zero),
            even = out(reg) _,
            v = inout(reg) ends.start => _,
            w = inout(reg) ends.end => _,
            t = out(reg) _,
            a = out(reg) _,
            b = out(reg) _,
            c = out(reg) _,
            d = out(reg) _,
        );
    }
}
