//! Exceptions and interrupts of the boards.

use crate::exit;

unsafe extern "C" {
    fn DefaultHandler();
}

/// The boards' own 32 interrupts, as a device crate would have them.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".vector_table.interrupts")]
pub static __INTERRUPTS: [unsafe extern "C" fn(); 32] = [DefaultHandler; 32];

/// The program ends as a failure instead of hanging.
#[cortex_m_rt::exception(trampoline = false)]
unsafe fn HardFault() -> ! {
    exit(false)
}
