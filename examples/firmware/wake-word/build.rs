//! Compiles a network with state: microWakeWord's "okay nabu" where it is there, else one that
//! reads digits as their rows come in.

use golden::Case;

fn main() -> Result<(), aot_build::Error> {
    let own = Case { model: "model/rows.json".into(), set: "model/s0".into() };
    let model = golden::choose(Case::published("mww_okay_nabu", "s1"), own);
    aot_build::Builder::new(model).name("Network").compile()?;
    Ok(())
}
