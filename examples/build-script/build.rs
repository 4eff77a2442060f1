//! Compiles the network; `aot.toml` beside this file configures it.

fn main() -> Result<(), aot_build::Error> {
    aot_build::Builder::new("../digits/model/digits.tflite").compile()?;
    Ok(())
}
