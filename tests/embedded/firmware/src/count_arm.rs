//! Ticks of a call, by SysTick: the runner knows how many make an instruction in QEMU.

use core::sync::atomic::{AtomicU32, Ordering};

const CONTROL: *mut u32 = 0xe000_e010 as *mut u32;
const RELOAD: *mut u32 = 0xe000_e014 as *mut u32;
const CURRENT: *mut u32 = 0xe000_e018 as *mut u32;

/// Counts down with the processor's clock, with an exception at each 0.
const ON: u32 = 0b111;
/// The timer has 24 bits.
const BITS: u32 = 24;

/// How often the timer came to 0. Each time costs the few instructions of the handler.
static ROUNDS: AtomicU32 = AtomicU32::new(0);

#[cortex_m_rt::exception]
fn SysTick() {
    ROUNDS.store(ROUNDS.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// Ticks that pass while `run` runs.
#[inline(never)]
pub fn ticks(run: impl FnOnce()) -> u64 {
    ROUNDS.store(0, Ordering::Relaxed);
    // SAFETY: the registers are Arm's on all Cortex-M, and nobody else uses the timer.
    unsafe {
        RELOAD.write_volatile((1 << BITS) - 1);
        CURRENT.write_volatile(0);
        CONTROL.write_volatile(ON);
    }
    let start = now();
    run();
    let end = now();
    // SAFETY: as above.
    unsafe { CONTROL.write_volatile(0) };
    end.wrapping_sub(start)
}

/// Ticks since the timer was started.
#[inline(always)]
fn now() -> u64 {
    loop {
        let rounds = ROUNDS.load(Ordering::Relaxed);
        // SAFETY: as above.
        let left = unsafe { CURRENT.read_volatile() };
        if rounds == ROUNDS.load(Ordering::Relaxed) {
            return (u64::from(rounds) << BITS) + u64::from((1_u32 << BITS) - 1 - left);
        }
    }
}
