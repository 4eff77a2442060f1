//! Builds an image of each model for each board, runs it in QEMU, compares its outputs
//! with the reference's bit for bit, and measures it. One more image on each board compares
//! kernels with their definitions.
//!
//!     tools/install-embedded.sh
//!     cargo run -p aot-embedded
//!     cargo run -p aot-embedded -- M4F mlperf_kws_int8
//!
//! Names of boards and of models restrict it to these. Without any, the tables of
//! `docs/embedded-figures.md` are written anew.

mod boards;
mod elf;
mod images;
mod limits;
mod models;
mod qemu;
mod report;
mod targets;

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
    let boards: Vec<_> = BOARDS.iter().collect();
    let known = |name: &str| {
        models.iter().any(|model| model.name == name) || boards.iter().any(|board| board.name == name)
    };
    if let Some(name) = names.iter().find(|name| !known(name)) {
        return Err(format!("`{name}` is neither a board nor a model that is there"));
    }
    let models = chosen(models, names, |model| model.name);
    let boards = chosen(boards, names, |board| board.name);
    let output = workspace.join("target/embedded");
    let folders = Folders { workspace, output };

    let (mut measured, mut failed) = (Vec::new(), 0);
    for board in boards {
        for level in board.levels() {
            failed += check_board(&folders, board, *level, &models, &mut measured)?;
            report::write(&folders, &measured, false)?;
        }
    }
    if names.is_empty() {
        targets::build(&folders, &models)?;
    }
    report::write(&folders, &measured, names.is_empty())?;
    println!("{} passed, {failed} failed, {} s", measured.len(), start.elapsed().as_secs());
    Ok(failed)
}

/// The things that are named, or all where none is.
fn chosen<T>(things: Vec<T>, names: &[String], name: impl Fn(&T) -> &'static str) -> Vec<T> {
    let is_named = |thing: &T| names.iter().any(|wanted| wanted == name(thing));
    let any = things.iter().any(is_named);
    things.into_iter().filter(|thing| !any || is_named(thing)).collect()
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
    if let Err(error) = qemu::emulate(board, &images.kernels, &folders.output) {
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
            // Once for the stack, twice for the instructions.
            set = set.repeated(3);
        }
        let scratch = folders.output.join("run");
        let ran = match qemu::run(board, &image.file, &set.inputs, &scratch) {
            Ok(ran) => ran,
            Err(error) => {
                problems.push(error);
                break;
            }
        };
        figures.add(&ran, set.outputs.len() / output.ty.dtype.size());
        if ran.outputs.len() != set.outputs.len() {
            problems.push(format!("{} bytes came out instead of {}", ran.outputs.len(), set.outputs.len()));
        }
        let differing = models::differing(&ran.outputs, &set.outputs, output.ty.dtype);
        if differing > 0 {
            problems.push(format!("{differing} elements differ from the reference"));
        }
        if let (true, [first, second]) = (is_stateless, &ran.instructions[..])
            && first != second
        {
            problems.push(format!("{first} instructions the first time, {second} the second"));
        }
    }
    if figures.sets < 2 {
        problems.push("fewer than two sets of inputs".into());
    }
    Ok((figures, problems))
}
