//! Cells times filters in blocks, for Armv6-M: its instructions name eight registers, of the
//! others only some do.
#![expect(unsafe_code, reason = "inline assembly")]

use core::arch::asm;

use super::super::dot::FILTERS;
use super::processor::Four;

/// A cell times four filters: 15 instructions for 4 products.
macro_rules! cell {
    () => {
        concat!(
            "ldrsh r2, [r0, r4]\n",
            "adds r0, #2\n",
            "ldrsb r3, [r1, r4]\n",
            "muls r3, r2, r3\n",
            "add r8, r3\n",
            "ldrsb r3, [r1, r5]\n",
            "muls r3, r2, r3\n",
            "add r9, r3\n",
            "ldrsb r3, [r1, r6]\n",
            "muls r3, r2, r3\n",
            "add r10, r3\n",
            "ldrsb r3, [r1, r7]\n",
            "muls r3, r2, r3\n",
            "add r11, r3\n",
            "adds r1, #4\n",
        )
    };
}

/// Adds `sum x * w` of the first `len` cells and of filters in [blocks](super::blocks), of which
/// each has `filter` weights, to their sums; nothing where there are not as many cells or weights.
///
/// Two cells a round, of which an odd number skips the first half at first.
#[inline(never)]
pub(super) fn blocked_dots(
    x: &[Four],
    len: usize,
    sums: &mut [[i32; FILTERS]],
    weights: &[i8],
    filter: usize,
) {
    let x = x.as_flattened();
    let block = filter.saturating_mul(FILTERS);
    // Block by block: whether a product wraps, its upper word says, which takes a call here.
    let mut left = weights.len();
    for _ in 1..sums.len() {
        let Some(behind) = left.checked_sub(block) else { return };
        left = behind;
    }
    if sums.is_empty() || len == 0 || x.len() < len || left < FILTERS * len {
        return;
    }
    // From behind the weights of these cells to those of the next block.
    let step = block.wrapping_sub(FILTERS * len);
    let ends = sums.as_mut_ptr_range();
    // SAFETY: for every four sums from `ends.start` to `ends.end`, it reads `len` cells of `x`,
    // two bytes each, and four weights for each: the checks above have found them to be there,
    // with the weights of the next four sums `block` further. It writes the sums, the registers
    // named, and eleven words that it takes of the stack and gives back, seven of which keep the
    // registers that are not to be named. `x` and `sums` are aligned, as `ldrsh`, `ldr` and `stm`
    // ask.
    unsafe {
        asm!(
            "push {{r6, r7}}",
            "mov r6, r8",
            "mov r7, r9",
            "push {{r6, r7}}",
            "mov r6, r10",
            "mov r7, r11",
            "push {{r6, r7}}",
            "mov r6, r12",
            "push {{r6}}",
            "push {{r0, r3, r4, r5}}",
            "mov r12, r2",
            "movs r4, #0",
            "movs r5, #1",
            "movs r6, #2",
            "movs r7, #3",
            "4:",
            "ldr r0, [sp]",
            "ldr r3, [sp, #4]",
            "ldr r2, [r3]",
            "mov r8, r2",
            "ldr r2, [r3, #4]",
            "mov r9, r2",
            "ldr r2, [r3, #8]",
            "mov r10, r2",
            "ldr r2, [r3, #12]",
            "mov r11, r2",
            "mov r2, r12",
            "subs r2, r2, r0",
            "lsls r2, r2, #30",
            "bmi 3f",
            "2:",
            cell!(),
            "3:",
            cell!(),
            "cmp r0, r12",
            "bne 2b",
            "ldr r3, [sp, #4]",
            "mov r2, r8",
            "stm r3!, {{r2}}",
            "mov r2, r9",
            "stm r3!, {{r2}}",
            "mov r2, r10",
            "stm r3!, {{r2}}",
            "mov r2, r11",
            "stm r3!, {{r2}}",
            "str r3, [sp, #4]",
            "ldr r2, [sp, #12]",
            "adds r1, r1, r2",
            "ldr r2, [sp, #8]",
            "cmp r3, r2",
            "bne 4b",
            "add sp, #16",
            "pop {{r2}}",
            "mov r12, r2",
            "pop {{r2, r3}}",
            "mov r10, r2",
            "mov r11, r3",
            "pop {{r2, r3}}",
            "mov r8, r2",
            "mov r9, r3",
            "pop {{r6, r7}}",
            inout("r0") x.as_ptr() => _,
            inout("r1") weights.as_ptr() => _,
            inout("r2") x.as_ptr().wrapping_add(len) => _,
            inout("r3") ends.start => _,
            inout("r4") ends.end => _,
            inout("r5") step => _,
        );
    }
}
