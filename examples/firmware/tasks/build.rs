//! Compiles the network, with steps that other tasks do not wait long for.

use std::num::NonZeroU64;

use golden::Case;

/// Most multiply-accumulates of a step.
const STEP: NonZeroU64 = NonZeroU64::new(30_000).unwrap();

fn main() -> Result<(), aot_build::Error> {
    let model = golden::choose(Case::published("mlperf_kws_int8", "s0"), Case::digits());
    aot_build::Builder::new(model).name("Network").max_step_macs(STEP).compile()?;
    Ok(())
}
