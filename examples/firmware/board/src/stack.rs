//! How deep the stack goes, by paint.

use core::arch::asm;

/// What nobody leaves on a stack.
const PAINT: u32 = 0xc5c5_3a3a;

unsafe extern "C" {
    /// Where static memory ends: the stack may grow down to it.
    static mut __sheap: u32;
    /// Where the stack begins.
    static mut _stack_start: u32;
}

/// What `run` gives, and the bytes of stack that it takes at its deepest.
#[inline(never)]
pub fn deepest<R>(run: impl FnOnce() -> R) -> (R, usize) {
    let top = paint();
    let result = framed(run);
    (result, top.addr() - lowest(top).addr())
}

/// In a frame of its own, below the one that is measured from.
#[inline(never)]
fn framed<R>(run: impl FnOnce() -> R) -> R {
    run()
}

/// Bytes of stack that the whole program has taken at its deepest since [`paint`].
pub fn taken() -> usize {
    let start = &raw mut _stack_start;
    start.addr() - lowest(start).addr()
}

/// Paints the stack below the caller's frame, and gives where that ends.
#[inline(always)]
pub fn paint() -> *mut u32 {
    let top: *mut u32;
    // SAFETY: it only copies a register.
    unsafe {
        #[cfg(target_arch = "arm")]
        asm!("mov {}, sp", out(reg) top, options(nomem, nostack));
        #[cfg(target_arch = "riscv32")]
        asm!("mv {}, sp", out(reg) top, options(nomem, nostack));
    }
    let mut word = &raw mut __sheap;
    while word < top {
        // SAFETY: below this frame and above static memory, nobody has anything.
        unsafe {
            word.write_volatile(PAINT);
            word = word.add(1);
        }
    }
    top
}

/// The lowest word below `top` that is not paint.
#[inline(always)]
fn lowest(top: *mut u32) -> *mut u32 {
    let mut word = &raw mut __sheap;
    // SAFETY: the words up to `top` are of the stack.
    while word < top && unsafe { word.read_volatile() } == PAINT {
        // SAFETY: at most at `top`.
        word = unsafe { word.add(1) };
    }
    word
}
