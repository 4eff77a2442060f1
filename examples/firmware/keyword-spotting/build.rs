//! Compiles the network, for small flash.

use aot_build::config::Optimize;
use golden::Case;

fn main() -> Result<(), aot_build::Error> {
    let model = golden::choose(Case::published("mlperf_kws_int8", "s0"), Case::digits());
    aot_build::Builder::new(model).name("Network").optimize(Optimize::Size).compile()?;
    Ok(())
}
