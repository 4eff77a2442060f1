//! How deep a call goes, by paint.

use core::arch::asm;

/// What nobody leaves on a stack.
const PAINT: u32 = 0xc5c5_3a3a;

unsafe extern "C" {
    /// Where static memory ends: the stack may grow down to it.
    static mut __sheap: u32;
}

/// What `run` gives, and the bytes of stack that it takes at its deepest.
#[inline(never)]
pub fn deepest<R>(run: impl FnOnce() -> R) -> (R, usize) {
    let top: *mut u32;
    // SAFETY: it only copies a register.
    unsafe {
        #[cfg(target_arch = "arm")]
        asm!("mov {}, sp", out(reg) top, options(nomem, nostack));
        #[cfg(target_arch = "riscv32")]
        asm!("mv {}, sp", out(reg) top, options(nomem, nostack));
    }
    let bottom = &raw mut __sheap;
    let mut word = bottom;
    while word < top {
        // SAFETY: below this frame and above static memory, nobody has anything.
        unsafe {
            word.write_volatile(PAINT);
            word = word.add(1);
        }
    }
    let result = framed(run);
    let mut word = bottom;
    // SAFETY: the words from `bottom` to `top` were written above.
    while word < top && unsafe { word.read_volatile() } == PAINT {
        // SAFETY: at most at `top`.
        word = unsafe { word.add(1) };
    }
    (result, top.addr() - word.addr())
}

/// In a frame of its own, below the one that is measured from.
#[inline(never)]
fn framed<R>(run: impl FnOnce() -> R) -> R {
    run()
}
