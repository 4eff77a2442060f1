//! What firmware needs beside its model, in QEMU: start-up, output, the end of the
//! program, and how deep the stack went. On a real board a crate for its chip does this.
#![no_std]

mod stack;
#[cfg(target_arch = "arm")]
mod vectors;

#[cfg(target_arch = "arm")]
pub use cortex_m_rt::entry;
#[cfg(target_arch = "riscv32")]
pub use riscv_rt::entry;
pub use semihosting::println;
pub use stack::{deepest, paint, taken};

/// Ends the program: QEMU's exit code is 0 for a success and 1 otherwise.
pub fn exit(success: bool) -> ! {
    semihosting::process::exit(i32::from(!success))
}

/// Bytes as signed integers.
pub const fn signed<const LEN: usize>(bytes: &[u8; LEN]) -> [i8; LEN] {
    let mut integers = [0; LEN];
    let mut i = 0;
    while i < LEN {
        integers[i] = bytes[i].cast_signed();
        i += 1;
    }
    integers
}

/// Bytes of flash and of static memory that the program takes, as the linker has placed it.
pub fn flash_and_ram() -> [usize; 2] {
    unsafe extern "C" {
        #[cfg_attr(target_arch = "arm", link_name = "__vector_table")]
        #[cfg_attr(target_arch = "riscv32", link_name = "_stext")]
        static START: u8;
        static __sidata: u8;
        static __sdata: u8;
        static __edata: u8;
        static __ebss: u8;
    }
    let [start, copied, data, end_of_data, end] =
        [&raw const START, &raw const __sidata, &raw const __sdata, &raw const __edata, &raw const __ebss]
            .map(|symbol| symbol.addr());
    [copied - start + (end_of_data - data), end - data]
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    println!("{info}");
    exit(false)
}
