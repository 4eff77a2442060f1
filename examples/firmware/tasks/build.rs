//! Compiles the network, with steps that other tasks do not wait long for.

use golden::Case;

fn main() -> Result<(), aot_build::Error> {
    let model = golden::choose(Case::published("mlperf_kws_int8", "s0"), Case::digits());
    aot_build::Builder::new(model).name("Network").max_step_macs(20_000).compile()?;
    Ok(())
}
