//! Builds generated code for the targets that no board here has, with warnings as errors.

use std::fmt::Write as _;

use crate::images::{Folders, Level, cargo, make_folder, write, write_runner};
use crate::models::Model;
use crate::wasm;

const TARGETS: [&str; 3] = ["thumbv7em-none-eabi", "riscv32imac-unknown-none-elf", wasm::TARGET];

/// Builds a library of all `models` for each target.
pub(crate) fn build(folders: &Folders, models: &[Model]) -> Result<(), String> {
    let folder = folders.output.join("library");
    let mut source = String::from("//! All models.\n#![no_std]\n");
    for model in models {
        let runner = folder.join(model.name);
        write_runner(&runner, model, Level::Speed)?;
        // Writing to a string cannot fail.
        let _ = writeln!(
            source,
            "/// A model.\npub mod {} {{ include!({:?}); }}",
            model.name,
            runner.join("runner.rs")
        );
    }
    make_folder(&folder.join("src"))?;
    write(&folder.join("src/lib.rs"), source)?;
    folders.write_manifest(&folder)?;
    for target in TARGETS {
        cargo(folders, &folder, target, vec!["-Dwarnings".into()], &["build", "--release", "--lib"])?;
        println!("generated code builds for {target}");
    }
    Ok(())
}
