//! Depthwise convolutions with the vectors of Armv8.1-M: a window over eight channels, or
//! sixteen, at a time.
#![expect(unsafe_code, reason = "inline assembly")]

use core::arch::asm;
use core::mem::take;

use super::super::super::filters::Patch;
use super::super::has;

/// Channels of a vector.
const CHANNELS: usize = 8;

/// Room for sums has a multiple of this size.
pub(crate) const SUMS: usize = 2 * CHANNELS;

/// Adds the products of eight channels to the sums of the even ones and of the odd ones.
macro_rules! multiply_channels {
    ($load:literal, $x:literal, $weights:literal, $even:literal, $odd:literal) => {
        concat!(
            concat!($load, ".s16 q2, ", $x, "\n"),
            concat!($load, ".s16 q3, ", $weights, "\n"),
            "vadd.i16 q2, q2, q7\n",
            concat!("vmullb.s16 q6, q2, q3\nvadd.i32 ", $even, ", ", $even, ", q6\n"),
            concat!("vmullt.s16 q6, q2, q3\nvadd.i32 ", $odd, ", ", $odd, ", q6\n"),
        )
    };
}

/// Does so for all cells of the window.
macro_rules! for_each_cell {
    ($products:expr) => {
        concat!(
            "3:\n",
            "dls lr, {columns}\n",
            "2:\n",
            $products,
            "add r0, {x_step}\n",
            "add r1, {weights_step}\n",
            "le lr, 2b\n",
            "add r0, {x_jump}\n",
            "add r1, {weights_jump}\n",
            "cmp r0, {end}\n",
            "it hs\n",
            "subhs r0, {ring}\n",
            "subs {rows}, #1\n",
            "bne 3b\n",
        )
    };
}

/// Sets the sums of a vector from channels at `$x`, from `r0` on, of which the first `len` are
/// there.
///
/// SAFETY: it reads those of every cell of the window, and as many weights; others are masked. It
/// writes the sums, the registers named, and two words that it takes of the stack and gives back:
/// the mask may be in use by what the compiler has made vectors of. Sums are aligned for words.
macro_rules! sum_vector {
    ($x:literal, $window:ident, $channel:ident, $len:ident, $sums:ident) => {{
        let (x, weights, end) = $window.ends($channel);
        let minus_zero = i32::from($window.zero.wrapping_neg()) & 0xffff;
        asm!(
            "vstr p0, [sp, #-8]!",
            "vdup.16 q7, lr",
            "lsrs lr, lr, #16",
            "vctp.16 lr",
            "vmov.i32 q0, #0",
            "vmov.i32 q1, #0",
            "vmov.i32 q4, #0",
            for_each_cell!(concat!("vpstt\n", multiply_channels!("vldrbt", $x, "[r1]", "q0", "q1"))),
            "vst20.32 {{q0, q1}}, [{sums}]",
            "vst21.32 {{q0, q1}}, [{sums}]",
            "vldr p0, [sp], #8",
            inout("r0") x => _,
            inout("r1") weights => _,
            inout("lr") minus_zero | ($len as i32) << 16 => _,
            rows = inout(reg) $window.patch.rows => _,
            columns = in(reg) $window.patch.segments,
            x_step = in(reg) $window.patch.step[0],
            weights_step = in(reg) $window.patch.step[1],
            x_jump = in(reg) $window.jump[0],
            weights_jump = in(reg) $window.jump[1],
            end = in(reg) end,
            ring = in(reg) $window.x.len(),
            sums = in(reg) $sums.as_mut_ptr(),
            out("d0") _, out("d1") _, out("d2") _, out("d3") _,
            out("d4") _, out("d5") _, out("d6") _, out("d7") _, out("d8") _, out("d9") _,
            out("d12") _, out("d13") _, out("d14") _, out("d15") _,
        );
    }};
}

/// The cells under a window, and their weights.
pub(crate) struct Window<'a, const SHARED: bool> {
    /// Segments are the channels of a cell, or as many as share one channel of it.
    patch: &'a Patch,
    /// A ring of rows.
    x: &'a [i8],
    weights: &'a [i8],
    zero: i16,
    /// From behind a row to the next, in `x` and in the weights.
    jump: [usize; 2],
}

impl<'a, const SHARED: bool> Window<'a, SHARED> {
    /// The window `patch`, whose segments are the channels of a cell, or all share its first;
    /// `None` where it has no cells, or one that is not there.
    #[inline(always)]
    pub(crate) fn new(patch: &'a Patch, x: &'a [i8], zero: i16, weights: &'a [i8]) -> Option<Self> {
        let Patch { rows, segments, segment, start: [mut x_at, mut weights_at], row, step, ring } = *patch;
        if rows == 0 || ring < x.len() {
            return None;
        }
        let to_last = segments.checked_sub(1)?;
        let x_row = to_last.checked_mul(step[0])?.checked_add(if SHARED { 1 } else { segment })?;
        let weights_row = to_last.checked_mul(step[1])?.checked_add(segment)?;
        for _ in 0..rows {
            if !has(x, x_at, x_row) || !has(weights, weights_at, weights_row) {
                return None;
            }
            x_at = x_at.checked_add(row[0])?;
            if x_at >= x.len() {
                x_at -= x.len();
            }
            weights_at = weights_at.checked_add(row[1])?;
        }
        let jump = [0, 1].map(|i| row[i].wrapping_sub(segments.wrapping_mul(step[i])));
        Some(Self { patch, x, weights, zero, jump })
    }

    /// Sets `sums` to those of `(x - zero) * w` of `len` channels from `first` on; nothing where
    /// there are fewer. What is behind these [`SUMS`] may change, too.
    #[inline(never)]
    pub(crate) fn sums(&self, mut first: usize, len: usize, mut sums: &mut [i32]) {
        let end = first.saturating_add(len);
        if end > self.patch.segment {
            return;
        }
        while first < end {
            let (left, room) = (end - first, take(&mut sums));
            if !SHARED && left >= SUMS {
                let Some((two, rest)) = room.split_first_chunk_mut() else { return };
                // SAFETY: the check above has found as many channels to be there.
                unsafe { self.two_vectors(first, two) };
                (first, sums) = (first + SUMS, rest);
            } else {
                let Some((one, rest)) = room.split_first_chunk_mut() else { return };
                // SAFETY: as above, the channels that are left.
                unsafe { self.vector(first, left.min(CHANNELS), one) };
                (first, sums) = (first + CHANNELS, rest);
            }
        }
    }

    /// Where a channel of the first cell and its weight are, and the end of the ring.
    #[inline(always)]
    fn ends(&self, channel: usize) -> (*const i8, *const i8, *const i8) {
        let [x, weights] = self.patch.start;
        (
            self.x.as_ptr().wrapping_add(if SHARED { x } else { x + channel }),
            self.weights.as_ptr().wrapping_add(weights + channel),
            self.x.as_ptr_range().end,
        )
    }

    /// [`sums`](Self::sums) of two vectors.
    ///
    /// # Safety
    ///
    /// There are as many channels from `channel` on.
    #[inline(always)]
    unsafe fn two_vectors(&self, channel: usize, sums: &mut [i32; SUMS]) {
        let (x, weights, end) = self.ends(channel);
        // SAFETY: it reads 16 channels of every cell of the window from `channel` on, and as
        // many weights: [`new`](Self::new), which has gone the same way, has found all cells to
        // be there, and the caller says that they have these channels. It writes `sums` and the
        // registers named. `sums` is aligned for words.
        unsafe {
            asm!(
                "vdup.16 q7, lr",
                "vmov.i32 q0, #0",
                "vmov.i32 q1, #0",
                "vmov.i32 q4, #0",
                "vmov.i32 q5, #0",
                for_each_cell!(concat!(
                    multiply_channels!("vldrb", "[r0]", "[r1]", "q0", "q1"),
                    multiply_channels!("vldrb", "[r0, #8]", "[r1, #8]", "q4", "q5")
                )),
                "vst20.32 {{q0, q1}}, [{sums}]",
                "vst21.32 {{q0, q1}}, [{sums}]!",
                "vst20.32 {{q4, q5}}, [{sums}]",
                "vst21.32 {{q4, q5}}, [{sums}]",
                inout("r0") x => _,
                inout("r1") weights => _,
                inout("lr") i32::from(self.zero.wrapping_neg()) => _,
                rows = inout(reg) self.patch.rows => _,
                columns = in(reg) self.patch.segments,
                x_step = in(reg) self.patch.step[0],
                weights_step = in(reg) self.patch.step[1],
                x_jump = in(reg) self.jump[0],
                weights_jump = in(reg) self.jump[1],
                end = in(reg) end,
                ring = in(reg) self.x.len(),
                sums = inout(reg) sums.as_mut_ptr() => _,
                out("d0") _, out("d1") _, out("d2") _, out("d3") _,
                out("d4") _, out("d5") _, out("d6") _, out("d7") _,
                out("d8") _, out("d9") _, out("d10") _, out("d11") _,
                out("d12") _, out("d13") _, out("d14") _, out("d15") _,
                options(nostack),
            );
        }
    }

    /// [`sums`](Self::sums) of a vector of which there are `len` channels; the others are 0.
    ///
    /// # Safety
    ///
    /// There are as many channels from `channel` on.
    #[inline(always)]
    unsafe fn vector(&self, channel: usize, len: usize, sums: &mut [i32; CHANNELS]) {
        if SHARED {
            // SAFETY: as the macro says, with `q4` for which channels are read: 0, which is there
            // of every cell.
            unsafe { sum_vector!("[r0, q4]", self, channel, len, sums) };
        } else {
            // SAFETY: as the macro says, which are there.
            unsafe { sum_vector!("[r0]", self, channel, len, sums) };
        }
    }
}
