//! The instructions.
//!
//! Some set the flags for overflow (Q) or for comparing halves (GE), which neither rustc nor
//! this crate reads; hence no `preserves_flags` there.
#![expect(unsafe_code, reason = "inline assembly")]

use core::arch::asm;

use crate::kernels::dot::FILTERS;

#[inline(always)]
pub(super) fn add_bytes(pair: u32, bytes: u32) -> u32 {
    let sums;
    // SAFETY: it reads and writes the registers named, no memory and no stack.
    unsafe {
        asm!("sxtab16 {}, {}, {}", lateout(reg) sums, in(reg) pair, in(reg) bytes,
            options(pure, nomem, nostack, preserves_flags));
    }
    sums
}

#[inline(always)]
pub(super) fn add_rotated_bytes(pair: u32, bytes: u32) -> u32 {
    let sums;
    // SAFETY: as in `add_bytes`.
    unsafe {
        asm!("sxtab16 {}, {}, {}, ror #8", lateout(reg) sums, in(reg) pair, in(reg) bytes,
            options(pure, nomem, nostack, preserves_flags));
    }
    sums
}

#[inline(always)]
pub(super) fn multiply_add_low(sum: i32, a: u32, b: u32) -> i32 {
    let total;
    // SAFETY: as in `add_bytes`.
    unsafe {
        asm!("smlabb {}, {}, {}, {}", lateout(reg) total, in(reg) a, in(reg) b, in(reg) sum,
            options(pure, nomem, nostack));
    }
    total
}

#[inline(always)]
pub(super) fn multiply_add_high(sum: i32, a: u32, b: u32) -> i32 {
    let total;
    // SAFETY: as in `add_bytes`.
    unsafe {
        asm!("smlatt {}, {}, {}, {}", lateout(reg) total, in(reg) a, in(reg) b, in(reg) sum,
            options(pure, nomem, nostack));
    }
    total
}

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
