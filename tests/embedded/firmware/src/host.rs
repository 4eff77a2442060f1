//! Files of the host, by semihosting. The crate of that name has panic paths here.

use core::arch::asm;
use core::ffi::CStr;

/// Mode of [`File::open`].
pub const READ: usize = 1;
/// Mode of [`File::open`].
pub const WRITE: usize = 5;

const SYS_OPEN: usize = 1;
const SYS_WRITE: usize = 5;
const SYS_READ: usize = 6;

/// A file of the host. One that cannot be opened reads and writes nothing.
pub struct File(usize);

impl File {
    pub fn open(name: &CStr, mode: usize) -> Self {
        Self(call(SYS_OPEN, (&raw const *&[name.as_ptr().addr(), mode, name.count_bytes()]).addr()))
    }

    /// Fills `bytes`; false where fewer are left.
    pub fn read(&self, bytes: &mut [u8]) -> bool {
        // The answer is how many bytes are missing.
        self.transfer(SYS_READ, bytes.as_mut_ptr().addr(), bytes.len()) == 0
    }

    /// Appends `bytes`; false where that fails.
    pub fn write(&self, bytes: &[u8]) -> bool {
        self.transfer(SYS_WRITE, bytes.as_ptr().addr(), bytes.len()) == 0
    }

    fn transfer(&self, operation: usize, start: usize, len: usize) -> usize {
        let arguments = [self.0, start, len];
        call(operation, arguments.as_ptr().addr())
    }
}

/// Asks the host.
#[inline(never)]
fn call(operation: usize, argument: usize) -> usize {
    let answer;
    // SAFETY: the host reads and writes the memory that the arguments name, which the
    // callers above have exclusively where it is written.
    unsafe {
        #[cfg(target_arch = "arm")]
        asm!("bkpt 0xab", inout("r0") operation => answer, in("r1") argument);
        #[cfg(target_arch = "riscv32")]
        asm!(
            // These three on one page, uncompressed.
            ".balign 16",
            ".option push",
            ".option norvc",
            "slli zero, zero, 0x1f",
            "ebreak",
            "srai zero, zero, 7",
            ".option pop",
            inout("a0") operation => answer, in("a1") argument,
        );
    }
    answer
}
