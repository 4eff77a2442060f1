//! Memory on the stack, filled and copied in vectors. Compilers call functions for that, which
//! take several times as long for as few bytes as there are here.
#![expect(unsafe_code, reason = "inline assembly")]

use core::arch::asm;
use core::mem::MaybeUninit;

/// Room for elements.
pub(crate) const fn room<T, const N: usize>() -> [MaybeUninit<T>; N] {
    [const { MaybeUninit::uninit() }; N]
}

/// Sums that are 0, `len` or none where there is no room for as many.
#[inline(always)]
pub(crate) fn cleared(room: &mut [MaybeUninit<i32>], len: usize) -> &mut [i32] {
    let room = room.get_mut(..len).unwrap_or_default();
    // SAFETY: it writes zeros to all of `room`: the loop writes nothing beyond. These are words,
    // aligned as such. All of them are initialised thereafter.
    unsafe {
        asm!(
            "vmov.i32 q0, #0",
            "wlstp.32 lr, lr, 3f",
            "2:",
            "vstrw.32 q0, [{room}], #16",
            "letp lr, 2b",
            "3:",
            inout("lr") room.len() => _,
            room = inout(reg) room.as_mut_ptr() => _,
            out("d0") _, out("d1") _,
            options(nostack, preserves_flags),
        );
        room.assume_init_mut()
    }
}

/// Cells that are all the same, `len` or none where there is no room for as many.
#[inline(always)]
pub(crate) fn filled(room: &mut [MaybeUninit<i8>], cell: i8, len: usize) -> &mut [i8] {
    let room = room.get_mut(..len).unwrap_or_default();
    // SAFETY: it writes `cell` to all of `room`: the loop writes nothing beyond. All of it is
    // initialised thereafter.
    unsafe {
        asm!(
            "vdup.8 q0, {cell}",
            "wlstp.8 lr, lr, 3f",
            "2:",
            "vstrb.8 q0, [{room}], #16",
            "letp lr, 2b",
            "3:",
            inout("lr") room.len() => _,
            cell = in(reg) i32::from(cell),
            room = inout(reg) room.as_mut_ptr() => _,
            out("d0") _, out("d1") _,
            options(nostack, preserves_flags),
        );
        room.assume_init_mut()
    }
}

/// Copies cells, as many as there are here and there.
#[inline(always)]
pub(crate) fn copy(from: &[i8], to: &mut [i8]) {
    // SAFETY: it reads and writes as many bytes as the shorter of both has, and no others: the
    // loop neither reads nor writes beyond.
    unsafe {
        asm!(
            "wlstp.8 lr, lr, 3f",
            "2:",
            "vldrb.u8 q0, [{from}], #16",
            "vstrb.8 q0, [{to}], #16",
            "letp lr, 2b",
            "3:",
            inout("lr") from.len().min(to.len()) => _,
            from = inout(reg) from.as_ptr() => _,
            to = inout(reg) to.as_mut_ptr() => _,
            out("d0") _, out("d1") _,
            options(nostack, preserves_flags),
        );
    }
}
