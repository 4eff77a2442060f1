//! Sums of quantized numbers in vectors.
#![expect(unsafe_code, reason = "inline assembly")]

use core::arch::asm;

use super::super::super::add::SumI8;

/// Multiplies four numbers and shifts them to the right, both rounded, the latter with ties away
/// from zero.
macro_rules! scale {
    ($numbers:literal, $multiplier:literal, $shift:literal) => {
        concat!(
            concat!("vqrdmulh.s32 ", $numbers, ", ", $numbers, ", ", $multiplier, "\n"),
            // Negative ones less 1, unless they are not shifted.
            concat!("vand q1, ", $numbers, ", ", $shift, "\n"),
            "vshr.s32 q1, q1, #31\n",
            concat!("vadd.i32 ", $numbers, ", ", $numbers, ", q1\n"),
            concat!("vrshl.s32 ", $numbers, ", ", $numbers, ", ", $shift, "\n"),
        )
    };
}

/// Sets every number of `b` to its sum with that of `a`; gives whether it has: not where numbers
/// are shifted to the left, or rounded once.
#[inline(always)]
pub(crate) fn add(sum: &SumI8, a: &[i8], b: &mut [i8]) -> bool {
    let shifts = [sum.a_shift, sum.b_shift, sum.output_shift];
    if sum.output.single_rounding || shifts.iter().any(|shift| *shift > 0) {
        return false;
    }
    let [a_shift, b_shift, shift] = shifts;
    let constants = [a_shift, b_shift, shift, sum.output.min, sum.output.max, sum.output.zero_point];
    // SAFETY: it reads the six constants, and reads and writes as many bytes as the shorter of `a`
    // and `b` has: the loop neither reads nor writes beyond. It writes nothing else but the
    // registers named.
    unsafe {
        asm!(
            "ldr lr, [{constants}]",
            "vdup.32 q3, lr",
            "ldr lr, [{constants}, #4]",
            "vdup.32 q4, lr",
            "ldr lr, [{constants}, #8]",
            "vdup.32 q5, lr",
            "ldr lr, [{constants}, #12]",
            "vdup.32 q6, lr",
            "ldr lr, [{constants}, #16]",
            "vdup.32 q7, lr",
            "ldr {constants}, [{constants}, #20]",
            "wlstp.32 lr, {len}, 3f",
            "2:",
            "vldrb.s32 q0, [r0], #4",
            "vadd.i32 q0, q0, {minus_a_zero}",
            "vshl.i32 q0, q0, #20",
            scale!("q0", "{a_multiplier}", "q3"),
            "vldrb.s32 q2, [r1]",
            "vadd.i32 q2, q2, {minus_b_zero}",
            "vshl.i32 q2, q2, #20",
            scale!("q2", "{b_multiplier}", "q4"),
            "vadd.i32 q0, q0, q2",
            scale!("q0", "{multiplier}", "q5"),
            "vadd.i32 q0, q0, {constants}",
            "vmax.s32 q0, q0, q6",
            "vmin.s32 q0, q0, q7",
            "vstrb.32 q0, [r1], #4",
            "letp lr, 2b",
            "3:",
            inout("r0") a.as_ptr() => _,
            inout("r1") b.as_mut_ptr() => _,
            constants = inout(reg) constants.as_ptr() => _,
            len = in(reg) a.len().min(b.len()),
            minus_a_zero = in(reg) sum.a_zero_point.wrapping_neg(),
            minus_b_zero = in(reg) sum.b_zero_point.wrapping_neg(),
            a_multiplier = in(reg) sum.a_multiplier,
            b_multiplier = in(reg) sum.b_multiplier,
            multiplier = in(reg) sum.output_multiplier,
            out("lr") _,
            out("d0") _, out("d1") _, out("d2") _, out("d3") _,
            out("d4") _, out("d5") _, out("d6") _, out("d7") _,
            out("d8") _, out("d9") _, out("d10") _, out("d11") _,
            out("d12") _, out("d13") _, out("d14") _, out("d15") _,
            options(nostack),
        );
    }
    true
}
