//! The instructions.
//!
//! Some set the flags for overflow (Q) or for comparing halves (GE), which neither rustc nor
//! this crate reads; hence no `preserves_flags` there.
#![expect(unsafe_code, reason = "inline assembly")]

use core::arch::asm;

use crate::kernels::dot::FILTERS;

/// `sum (x + minus_zero) * w` of four filters: `3 * filter + 4 * x.len()` weights, else 0.
///
/// A loop of its own, since it takes more registers than a compiler leaves to it: for 16
/// products 4 words of weights, one of `x`, and 10 instructions that widen.
#[inline(always)]
pub(super) fn dots(x: &[[i8; 4]], minus_zero: u32, weights: &[i8], filter: usize) -> [i32; FILTERS] {
    let [mut a, mut b, mut c, mut d] = [0; FILTERS];
    if x.is_empty() || weights.len() < 3 * filter + 4 * x.len() {
        return [a, b, c, d];
    }
    let ends = x.as_ptr_range();
    // SAFETY: it reads `x` from `ends.start` to `ends.end`, four bytes at a time, and as many
    // of `weights` from 0, `filter`, `2 * filter` and `3 * filter` on, which the check above
    // has found to be there. It writes nothing but the registers named. These processors load words from any
    // address.
    unsafe {
        asm!(
            "2:",
            "ldr {odd}, [{x}], #4",
            "ldr {w}, [{weights}]",
            "sxtab16 {even}, {zero}, {odd}",
            "sxtab16 {odd}, {zero}, {odd}, ror #8",
            "sxtb16 {v}, {w}",
            "sxtb16 {w}, {w}, ror #8",
            "smlad {a}, {even}, {v}, {a}",
            "smlad {a}, {odd}, {w}, {a}",
            "ldr {w}, [{weights}, {filter}]",
            "sxtb16 {v}, {w}",
            "sxtb16 {w}, {w}, ror #8",
            "smlad {b}, {even}, {v}, {b}",
            "smlad {b}, {odd}, {w}, {b}",
            "ldr {w}, [{weights}, {filter}, lsl #1]",
            "sxtb16 {v}, {w}",
            "sxtb16 {w}, {w}, ror #8",
            "smlad {c}, {even}, {v}, {c}",
            "smlad {c}, {odd}, {w}, {c}",
            "add {w}, {weights}, {filter}",
            "ldr {w}, [{w}, {filter}, lsl #1]",
            "adds {weights}, {weights}, #4",
            "sxtb16 {v}, {w}",
            "sxtb16 {w}, {w}, ror #8",
            "smlad {d}, {even}, {v}, {d}",
            "smlad {d}, {odd}, {w}, {d}",
            "cmp {x}, {end}",
            "bne 2b",
            x = inout(reg) ends.start => _,
            end = in(reg) ends.end,
            weights = inout(reg) weights.as_ptr() => _,
            filter = in(reg) filter,
            zero = in(reg) minus_zero,
            even = out(reg) _,
            odd = out(reg) _,
            w = out(reg) _,
            v = out(reg) _,
            a = inout(reg) a,
            b = inout(reg) b,
            c = inout(reg) c,
            d = inout(reg) d,
            options(readonly, nostack),
        );
    }
    [a, b, c, d]
}

/// Adds the sums of `(x + minus_zero) * w` of four channels to theirs.
///
/// Nothing where a tap is beyond `x` or `weights`; the caller has looked at the largest.
#[inline(always)]
pub(super) fn add_taps(
    sums: &mut [i32; FILTERS],
    taps: &[[usize; 2]],
    x: &[i8],
    minus_zero: u32,
    weights: &[i8],
) {
    let [a, b, c, d] = sums;
    let ends = taps.as_ptr_range();
    if ends.is_empty() {
        return;
    }
    // SAFETY: it reads the taps from `ends.start` to `ends.end`, eight bytes at a time, and
    // four bytes of `x` and of `weights` from each tap's offsets on, which `Listed::add_to`
    // has found to be there. It writes nothing but the registers named. These processors
    // load words from any address.
    unsafe {
        asm!(
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
            tap = inout(reg) ends.start => _,
            end = in(reg) ends.end,
            x = in(reg) x.as_ptr(),
            weights = in(reg) weights.as_ptr(),
            zero = in(reg) minus_zero,
            even = out(reg) _,
            v = out(reg) _,
            w = out(reg) _,
            t = out(reg) _,
            a = inout(reg) *a,
            b = inout(reg) *b,
            c = inout(reg) *c,
            d = inout(reg) *d,
            options(readonly, nostack),
        );
    }
}
