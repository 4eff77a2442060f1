//! What an image must not exceed.

use crate::images::Level;
use crate::report::Measured;

/// Most bytes of stack that a run may take: less than 1 KiB.
const STACK: u64 = 1023;

/// Most bytes of RAM beside the workspace: the runner's own flags and the one that hands it out,
/// each with what aligns it to 16 bytes as the workspace is, and what the linker leaves between.
const BESIDE_WORKSPACE: u64 = 48;

/// Most bytes of flash on the M4F at `size`: of a model, all but its constants or not.
const FLASH: [(&str, bool, u64); 3] = [
    ("mlperf_kws_int8", true, 8 << 10),
    ("tflm_hello_world_int8", false, 4 << 10),
    ("tflm_person_detect", false, 304 << 10),
];

/// The limits that are exceeded, a line each.
pub(crate) fn exceeded(figures: &Measured) -> Vec<String> {
    let mut problems = Vec::new();
    let mut check = |what: &str, bytes: u64, limit: u64| {
        if bytes > limit {
            problems.push(format!("{what}: {bytes} bytes, the limit is {limit}"));
        }
    };
    check(".data", figures.contents.data, 0);
    check("stack", figures.stack, STACK);
    check("RAM of the model beside its workspace", figures.ram() - figures.arena, BESIDE_WORKSPACE);
    if figures.board == "M4F" && figures.level == Level::Size {
        for (_, is_code, limit) in FLASH.into_iter().filter(|(name, ..)| *name == figures.model) {
            let (what, bytes) =
                if is_code { ("code", figures.code()) } else { ("flash", figures.contents.flash()) };
            check(what, bytes, limit);
        }
    }
    problems
}
