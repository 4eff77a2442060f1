//! Cells times filters in blocks, for Armv7-M and what comes after it: eight registers more than
//! before can be worked in.
//!
//! With DSP instructions two pairs of numbers are multiplied in one, without one pair. What is
//! around that is the same.
#![expect(unsafe_code, reason = "inline assembly")]

use core::arch::asm;

use super::super::dot::FILTERS;
use super::each_has;
use super::processor::Four;

/// Four cells times four filters in a block: 18 instructions for 16 products.
#[cfg(aot_dsp)]
macro_rules! block {
    () => {
        concat!(
            "ldrd r4, r5, [r0], #8\n",
            "ldm r1!, {{r8, r9, r10, r12}}\n",
            "sxtb16 r3, r8\n",
            "sxtb16 r8, r8, ror #8\n",
            "smlad r6, r4, r3, r6\n",
            "smlad r6, r5, r8, r6\n",
            "sxtb16 r3, r9\n",
            "sxtb16 r9, r9, ror #8\n",
            "smlad r7, r4, r3, r7\n",
            "smlad r7, r5, r9, r7\n",
            "sxtb16 r3, r10\n",
            "sxtb16 r10, r10, ror #8\n",
            "smlad r11, r4, r3, r11\n",
            "smlad r11, r5, r10, r11\n",
            "sxtb16 r3, r12\n",
            "sxtb16 r12, r12, ror #8\n",
            "smlad lr, r4, r3, lr\n",
            "smlad lr, r5, r12, lr\n",
        )
    };
}

/// A cell times the four filters whose weights are in a word, the filters' sums being in `r6`,
/// `r7`, `r11` and `lr`: 9 instructions for 4 products.
#[cfg(not(aot_dsp))]
macro_rules! cell {
    ($w:literal) => {
        concat!(
            "ldrsh r4, [r0], #2\n",
            "sxtb r3, ",
            $w,
            "\n",
            "mla r6, r3, r4, r6\n",
            "sxtb r3, ",
            $w,
            ", ror #8\n",
            "mla r7, r3, r4, r7\n",
            "sxtb r3, ",
            $w,
            ", ror #16\n",
            "mla r11, r3, r4, r11\n",
            "asr r3, ",
            $w,
            ", #24\n",
            "mla lr, r3, r4, lr\n",
        )
    };
}

/// Four cells times four filters in a block: 37 instructions for 16 products.
#[cfg(not(aot_dsp))]
macro_rules! block {
    () => {
        concat!("ldm r1!, {{r8, r9, r10, r12}}\n", cell!("r8"), cell!("r9"), cell!("r10"), cell!("r12"),)
    };
}

/// The first of its rounds: of eight cells, where an odd number of fours skips half of it, or
/// of four.
#[cfg(not(aot_small))]
macro_rules! round {
    () => {
        concat!("tst r3, #8\nbne 3f\n2:\n", block!(), "3:\n", block!())
    };
}
#[cfg(aot_small)]
macro_rules! round {
    () => {
        concat!("2:\n", block!())
    };
}

/// The cells that are left, `r5` of them.
#[cfg(aot_dsp)]
macro_rules! rest {
    () => {
        concat!(
            "ldrd r4, r10, [r0]\n",
            "6:\n",
            "ldr r8, [r1], #4\n",
            "sxtb16 r9, r8\n",
            "sxtb16 r8, r8, ror #8\n",
            "smlabb r6, r4, r9, r6\n",
            "smlabb r7, r4, r8, r7\n",
            "smlabt r11, r4, r9, r11\n",
            "smlabt lr, r4, r8, lr\n",
            // The next cell is the lower half of the other word, then the upper one of this.
            "lsr r8, r4, #16\n",
            "mov r4, r10\n",
            "mov r10, r8\n",
            "subs r5, r5, #1\n",
            "bne 6b\n",
        )
    };
}
#[cfg(not(aot_dsp))]
macro_rules! rest {
    () => {
        concat!("6:\n", "ldr r8, [r1], #4\n", cell!("r8"), "subs r5, r5, #1\n", "bne 6b\n",)
    };
}

/// Adds `sum x * w` of the first `len` cells and of filters in [blocks](super::blocks), of which
/// each has `filter` weights, to their sums; nothing where there are not as many cells or weights,
/// or where weights are not aligned to words.
///
/// All registers that there are: eight cells a round, as in [`dots`]; then those that are left.
#[inline(never)]
pub(super) fn blocked_dots(
    x: &[Four],
    len: usize,
    sums: &mut [[i32; FILTERS]],
    weights: &[i8],
    filter: usize,
) {
    let block = filter.saturating_mul(FILTERS);
    if x.len() < len.div_ceil(4) || !each_has(weights, (sums.len(), block), FILTERS * len) {
        return;
    }
    if !weights.as_ptr().addr().is_multiple_of(4) {
        return;
    }
    let end = x.as_ptr().wrapping_add(len / 4);
    // From behind the weights of these cells to those of the next block.
    let step = block.wrapping_sub(FILTERS * len);
    let ends = sums.as_mut_ptr_range();
    // SAFETY: for every four sums from `ends.start` to `ends.end`, it reads `len / 4` times eight
    // bytes of `x`, and eight more where `len` is no multiple of four, which is `len.div_ceil(4)`
    // elements: the first check has found them to be there. For each it reads sixteen bytes of the
    // weights, of the last four as many for each cell that is left: `FILTERS * len`, which the
    // first check has found to be there, too, with those of the next four sums `block` further.
    // It writes the sums, the registers named, and seven words that it takes of the stack and
    // gives back, two of which keep the registers that are not to be named. `sums` are aligned to
    // words, as is `x` where it is read by words, with DSP instructions; the second check has found
    // the weights to be, as `ldrd`, `strd` and `ldm` ask.
    unsafe {
        asm!(
            "push {{r6, r7}}",
            "push {{r0, r3, r4, r5, r8}}",
            "4:",
            "ldr r0, [sp]",
            "ldr r3, [sp, #4]",
            "ldrd r6, r7, [r3]",
            "ldrd r11, lr, [r3, #8]",
            "subs r3, r2, r0",
            "beq 5f",
            round!(),
            "cmp r0, r2",
            "bne 2b",
            "5:",
            "ldr r5, [sp, #16]",
            "cbz r5, 7f",
            rest!(),
            "7:",
            "ldr r3, [sp, #4]",
            "strd r6, r7, [r3], #8",
            "strd r11, lr, [r3], #8",
            "ldrd r4, r5, [sp, #8]",
            "add r1, r1, r5",
            "str r3, [sp, #4]",
            "cmp r3, r4",
            "bne 4b",
            "add sp, sp, #20",
            "pop {{r6, r7}}",
            inout("r0") x.as_ptr() => _,
            inout("r1") weights.as_ptr() => _,
            in("r2") end,
            inout("r3") ends.start => _,
            inout("r4") ends.end => _,
            inout("r5") step => _,
            inout("r8") len % 4 => _,
            out("r9") _,
            out("r10") _,
            out("r11") _,
            out("r12") _,
            out("lr") _,
        );
    }
}
