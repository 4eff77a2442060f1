//! Compiles models that share memory, and the same models alone; and models in pools.

mod pools;

use std::path::PathBuf;

use aot_build::config::{InputPlacement, Memory, Optimize, Placement, Pool, PoolKind};
use aot_build::{Builder, Error};

const DIGITS: &str = "../../examples/digits/model/digits.tflite";
const FILTER: &str = "../conformance/cases/svdf_i8_memory_i8/model.tflite";

/// A model without a state, the same in another form, and one with a state.
fn models() -> [Builder; 3] {
    let placement = |builder: Builder| builder.inputs(InputPlacement::Caller).outputs(Placement::Caller);
    [
        Builder::new(DIGITS).name("Digits"),
        placement(Builder::new(DIGITS).name("Twin").optimize(Optimize::Size)),
        Builder::new(FILTER).name("Filter"),
    ]
}

fn main() -> Result<(), Error> {
    let out_dir = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    std::fs::write(out_dir.join("pools.rs"), pools::compile(&out_dir)).expect("OUT_DIR can be written");
    for (model, name) in models().into_iter().zip(["AloneDigits", "AloneTwin", "AloneFilter"]) {
        model.name(name).compile()?;
    }
    Builder::models(models()).shared_workspace("Three").compile()?;

    let section = |name: &str| Some(name.to_owned());
    let constants = Pool { kind: PoolKind::Constants, ..Pool::default() };
    Builder::models(models())
        .shared_workspace("Placed")
        .pool("dtcm", Pool { limit: Some(600), section: section(".bss_dtcm"), ..Pool::default() })
        .pool("sram", Pool { cost: 1, alignment: Some(32), ..Pool::default() })
        .pool("hot", Pool { limit: Some(256), copy: true, section: section(".bss_hot"), ..constants.clone() })
        .pool("cold", Pool { cost: 1, ..constants })
        .compile()?;

    // One that is fed row by row.
    let rows = Builder::new(DIGITS).name("ByRows").inputs(InputPlacement::Rows).memory(Memory::Min);
    Builder::models([rows, Builder::new(FILTER).name("Other")]).shared_workspace("Fed").compile()?;
    Ok(())
}
