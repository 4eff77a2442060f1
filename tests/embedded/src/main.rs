//! Builds an image of each model for each board, runs it in QEMU, compares its outputs
//! with the reference's bit for bit, and measures it. One more image on each board compares
//! kernels with their definitions.
//!
//!     tools/install-embedded.sh
//!     cargo run -p aot-embedded
//!     cargo run -p aot-embedded -- M4F mlperf_kws_int8
//!
//! Names of boards (`wasm32` is one) and of models restrict it to these, and list the largest symbols of each
//! image. Without any, and when nothing fails or is missing, the tables of
//! `docs/embedded-figures.md` and of `README.md` are written anew.

mod boards;
mod chapter;
mod elf;
mod images;
mod limits;
mod models;
mod qemu;
mod readme;
mod report;
mod targets;
mod wasm;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use boards::{BOARDS, Board};
use elf::Contents;
use images::{Folders, Image, Level};
use models::Model;
use report::Measured;

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    match run(&names) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(failed) => {
            println!("{failed} images failed");
            ExitCode::FAILURE
        }
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Gives the number of images that failed.
fn run(names: &[String]) -> Result<usize, String> {
    let start = Instant::now();
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let workspace = workspace.canonicalize().map_err(|error| format!("{}: {error}", workspace.display()))?;
    let shared = std::env::var_os("AOT_SHARED").map_or_else(|| workspace.join("../shared"), PathBuf::from);
    let models = models::all(&workspace, &shared);
    let missing = models::missing(&models);
    let Chosen { boards, wasm, models } = choose(models, names)?;
    let output = workspace.join("target/embedded");
    let folders = Folders { workspace, output };

    let (mut measured, mut failed) = (Vec::new(), 0);
    for board in boards {
        for level in board.levels() {
            let before = measured.len();
            failed += check_board(&folders, board, *level, &models, &mut measured)?;
            report::write(&folders.output, &measured)?;
            if !names.is_empty() {
                measured[before..].iter().for_each(|it| println!("{}:\n{}", it.model, it.largest()));
            }
        }
    }
    let [passed_as_wasm, failed_as_wasm] = if wasm { wasm::check(&folders, &models)? } else { [0, 0] };
    failed += failed_as_wasm;
    if names.is_empty() {
        targets::build(&folders, &models)?;
        chapter::check(&folders)?;
        if failed == 0 && missing.is_empty() {
            report::write(&folders.workspace.join("docs"), &measured)?;
            readme::update(&folders, &measured)?;
        }
    }
    if !missing.is_empty() {
        println!("SKIPPED, not in {}: {}", shared.display(), missing.join(", "));
    }
    let passed = measured.len() + passed_as_wasm;
    println!("{passed} passed, {failed} failed, {} s", start.elapsed().as_secs());
    Ok(failed)
}

/// What is checked.
struct Chosen {
    boards: Vec<&'static Board>,
    /// Whether the models are run as WebAssembly.
    wasm: bool,
    models: Vec<Model>,
}

/// The boards and the models that are named, or all where none is.
fn choose(models: Vec<Model>, names: &[String]) -> Result<Chosen, String> {
    let is_named = |name: &str| names.iter().any(|wanted| wanted == name);
    let known = BOARDS.iter().map(|board| board.name).chain(models.iter().map(|model| model.name));
    if let Some(name) =
        names.iter().find(|name| *name != wasm::NAME && !known.clone().any(|known| known == *name))
    {
        return Err(format!("`{name}` is neither a board nor a model that is there"));
    }
    let mut boards: Vec<_> = BOARDS.iter().filter(|board| is_named(board.name)).collect();
    let mut wasm = is_named(wasm::NAME);
    if boards.is_empty() && !wasm {
        (boards, wasm) = (BOARDS.iter().collect(), true);
    }
    let any = models.iter().any(|model| is_named(model.name));
    let models = models.into_iter().filter(|model| !any || is_named(model.name)).collect();
    Ok(Chosen { boards, wasm, models })
}

/// Checks all models on a board; gives the number of those that failed.
fn check_board(
    folders: &Folders,
    board: &Board,
    level: Level,
    models: &[Model],
    measured: &mut Vec<Measured>,
) -> Result<usize, String> {
    let images = images::build(folders, board, level, models)?;
    let empty = Contents::read(&images.empty)?;
    let mut failed = 0;
    if let Some(kernels) = &images.kernels
        && let Err(error) = qemu::emulate(board, kernels, &folders.output)
    {
        println!("{:4} {:5} kernels\n  FAILED: {error}", board.name, level.name());
        failed += 1;
    }
    for image in &images.models {
        let (figures, mut problems) = check(folders, board, level, image, &empty)?;
        problems.extend(limits::exceeded(&figures));
        println!("{}", figures.line());
        problems.iter().for_each(|problem| println!("  FAILED: {problem}"));
        failed += usize::from(!problems.is_empty());
        if problems.is_empty() {
            measured.push(figures);
        }
    }
    Ok(failed)
}

/// Runs an image on its sets of inputs; gives its figures and what is wrong.
fn check(
    folders: &Folders,
    board: &Board,
    level: Level,
    image: &Image<'_>,
    empty: &Contents,
) -> Result<(Measured, Vec<String>), String> {
    let contents = Contents::read(&image.file)?;
    let mut problems = contents.forbidden();
    let mut figures = Measured::new(board, level, image, contents, empty);
    let compiled = &image.compiled;
    let (input, output) = (&compiled.program.inputs[0], &compiled.program.outputs[0]);
    let is_stateless = compiled.program.states.is_empty();
    for mut set in image.model.sets(input, output)? {
        if is_stateless {
            // Once for the stack, once for the instructions.
            set = set.repeated(2);
        }
        let run = || qemu::run(board, &image.file, &set.inputs, &folders.output.join("run"));
        let (ran, again) = match (run(), run()) {
            (Ok(ran), Ok(again)) => (ran, again),
            (Err(error), _) | (_, Err(error)) => {
                problems.push(error);
                break;
            }
        };
        figures.add(&ran, set.outputs.len() / output.ty.dtype.size());
        problems.extend(set.problems(&ran.outputs, compiled));
        if ran != again {
            problems.push("other outputs, stack or instructions the second time".into());
        }
    }
    if figures.sets < 2 {
        problems.push("fewer than two sets of inputs".into());
    }
    Ok((figures, problems))
}
