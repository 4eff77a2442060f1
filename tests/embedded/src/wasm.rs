//! Runs the models as WebAssembly in Node.js, and compares their outputs with the reference's.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use aot_build::Compiled;
use aot_build::codegen::snake_case;

use crate::images::{Folders, Level, cargo, make_folder, write, write_runner};
use crate::models::{Model, Set};

/// Name among those of the boards.
pub(crate) const NAME: &str = "wasm32";

pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// What a module has beside its model: nothing panics, so the handler is not in it.
const HEAD: &str = "#![no_std]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! { loop {} }
";

/// Runs the `models` on their sets of inputs; gives how many passed and how many failed.
pub(crate) fn check(folders: &Folders, models: &[Model]) -> Result<[usize; 2], String> {
    if Command::new("node").arg("--version").output().is_err() {
        println!("SKIPPED: no `node` to run WebAssembly");
        return Ok([0, 0]);
    }
    let mut failed = 0;
    for model in models {
        let folder = folders.output.join("wasm");
        let compiled = build(folders, &folder, model)?;
        let module = folders.output.join("target").join(TARGET).join("speed/images.wasm");
        let (input, output) = (&compiled.program.inputs[0], &compiled.program.outputs[0]);
        let sets = model.sets(input, output)?;
        let bytes = [input, output].map(|port| port.ty.bytes());
        let problems = sets.iter().flat_map(|set| match run(&module, set, bytes, &folder) {
            Ok(outputs) => set.problems(&outputs, &compiled),
            Err(error) => vec![error],
        });
        let problems: Vec<_> = problems.collect();
        let bytes = sets.iter().map(|set| set.outputs.len()).sum::<usize>();
        println!("{NAME} {:22} {} sets, {bytes} bytes", model.name, sets.len());
        problems.iter().for_each(|problem| println!("  FAILED: {problem}"));
        failed += usize::from(!problems.is_empty());
    }
    Ok([models.len() - failed, failed])
}

/// Builds the module of `model`: its functions give where the input and the output are, and run it.
fn build(folders: &Folders, folder: &Path, model: &Model) -> Result<Compiled, String> {
    let runner = folder.join(model.name);
    let compiled = write_runner(&runner, model, Level::Speed)?;
    let (input, output) = (&compiled.program.inputs[0].name, &compiled.program.outputs[0].name);
    let mut source = String::from(HEAD);
    // Writing to a string cannot fail.
    let _ = writeln!(source, "include!({:?});", runner.join("runner.rs"));
    let _ = writeln!(source, "static mut RUNNER: Runner = Runner::new();");
    for (name, result, body) in [
        ("input", "*mut u8", format!("runner.{}_mut().as_mut_ptr().cast()", snake_case(input))),
        ("output", "*const u8", format!("runner.{}().as_ptr().cast()", snake_case(output))),
        ("run", "()", "{ runner.run_in_place(); }".into()),
    ] {
        let _ = writeln!(
            source,
            "#[unsafe(no_mangle)]
extern \"C\" fn {name}() -> {result} {{
    // SAFETY: there is one thread.
    let runner = unsafe {{ &mut *&raw mut RUNNER }};
    {body}
}}"
        );
    }
    make_folder(&folder.join("src"))?;
    write(&folder.join("src/lib.rs"), source)?;
    folders.write_manifest(folder)?;
    let arguments = ["rustc", "--profile", "speed", "--lib", "--crate-type", "cdylib"];
    cargo(folders, folder, TARGET, vec!["-Dwarnings".into()], &arguments)?;
    Ok(compiled)
}

/// Runs the module on the inputs of `set`, one after the other, with `folder` for its files.
/// An input and an output have so many bytes.
fn run(module: &Path, set: &Set, bytes: [usize; 2], folder: &Path) -> Result<Vec<u8>, String> {
    let at = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::write(folder.join("inputs"), &set.inputs).map_err(at)?;
    fs::write(folder.join("outputs"), []).map_err(at)?;
    let mut node = Command::new("node");
    node.current_dir(folder).args(["--input-type=module", "--eval", include_str!("wasm.mjs")]);
    let output = node.arg(module).args(bytes.map(|bytes| bytes.to_string())).output();
    let output = output.map_err(|error| format!("node: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    fs::read(folder.join("outputs")).map_err(at)
}
