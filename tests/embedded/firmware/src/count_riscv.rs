//! Ticks of a call: with QEMU's `-icount shift=0`, one an instruction.

use core::arch::asm;

/// Ticks that pass while `run` runs: fewer than 2^32.
#[inline(never)]
pub fn ticks(run: impl FnOnce()) -> u64 {
    let start = retired();
    run();
    retired().wrapping_sub(start).into()
}

/// Instructions since the start, modulo 2^32.
#[inline(always)]
fn retired() -> u32 {
    let instructions;
    // SAFETY: it only reads a register.
    unsafe { asm!("csrr {}, minstret", out(reg) instructions) };
    instructions
}
