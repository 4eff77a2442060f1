//! Finds out which network is there; the macro compiles it.

use golden::Case;

fn main() {
    golden::choose(Case::published("mlperf_vww_int8", "s0"), Case::digits());
}
