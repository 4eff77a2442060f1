//! Compiles a network with state: microWakeWord's "okay nabu" where it is there, else a
//! layer of the tests.

use golden::Case;

fn main() -> Result<(), aot_build::Error> {
    let layer = "../../../tests/conformance/cases/svdf_i8_rank2";
    let own = Case { model: format!("{layer}/model.tflite").into(), set: format!("{layer}/s0").into() };
    let model = golden::choose(Case::published("mww_okay_nabu", "s1"), own);
    aot_build::Builder::new(model).name("Network").compile()?;
    Ok(())
}
