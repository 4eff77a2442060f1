//! Builds the images of all models for a board: one package with a program for each.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use aot_build::codegen::{generate, snake_case};
use aot_build::config::Optimize;
use aot_build::{Compiled, Config, compile_file};

use crate::boards::Board;
use crate::models::Model;

/// A level of `optimize`, with what Cargo does for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Speed,
    Size,
}

impl Level {
    /// Name of the level, and of Cargo's profile.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Speed => "speed",
            Self::Size => "size",
        }
    }

    fn optimize(self) -> Optimize {
        match self {
            Self::Speed => Optimize::Speed,
            Self::Size => Optimize::Size,
        }
    }
}

/// A model's image.
pub(crate) struct Image<'m> {
    pub(crate) model: &'m Model,
    pub(crate) compiled: Compiled,
    pub(crate) file: PathBuf,
}

/// The folders that images are made of and in.
pub(crate) struct Folders {
    pub(crate) workspace: PathBuf,
    /// Where everything is written to.
    pub(crate) output: PathBuf,
}

/// Name of the image without a model.
const EMPTY: &str = "empty";

/// Name of the image that compares kernels with their definitions.
const KERNELS: &str = "kernels";

/// The images of a board.
pub(crate) struct Images<'m> {
    pub(crate) models: Vec<Image<'m>>,
    /// Without a model.
    pub(crate) empty: PathBuf,
    /// Compares kernels with their definitions, where there is room for that.
    pub(crate) kernels: Option<PathBuf>,
}

impl Folders {
    /// The manifest of a package of generated code in `folder`.
    pub(crate) fn write_manifest(&self, folder: &Path) -> Result<(), String> {
        let manifest =
            include_str!("images.toml").replace("WORKSPACE", &self.workspace.display().to_string());
        write(&folder.join("Cargo.toml"), manifest)?;
        // Its versions hold for that package, too.
        write(&folder.join("Cargo.lock"), include_str!("../firmware/Cargo.lock"))
    }
}

/// Writes a file, unless it has these contents: then nothing is built again for it.
pub(crate) fn write(file: &Path, contents: impl AsRef<[u8]>) -> Result<(), String> {
    if fs::read(file).is_ok_and(|found| found == contents.as_ref()) {
        return Ok(());
    }
    fs::write(file, contents).map_err(|error| format!("{}: {error}", file.display()))
}

/// Makes a folder, unless it is there.
pub(crate) fn make_folder(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

/// Builds the images of those `models` for which there is room, and those without.
pub(crate) fn build<'m>(
    folders: &Folders,
    board: &Board,
    level: Level,
    models: &'m [Model],
) -> Result<Images<'m>, String> {
    let folder = folders.output.join(format!("{}-{}", board.name, level.name()));
    let programs = folder.join("src/bin");
    make_folder(&programs)?;
    folders.write_manifest(&folder)?;
    write(&folder.join("memory.x"), board.memory())?;
    let empty = "#![no_std]\n#![no_main]\naot_firmware::empty_image!();\n";
    write(&programs.join(format!("{EMPTY}.rs")), empty)?;
    write(&programs.join(format!("{KERNELS}.rs")), include_str!("../firmware/kernels.rs"))?;

    let mut images = Vec::new();
    for model in models {
        let compiled = write_runner(&folder.join(model.name), model, level)?;
        if !board.has_room(&compiled) {
            continue;
        }
        write(&programs.join(format!("{}.rs", model.name)), program(&folder, model, &compiled)?)?;
        images.push(Image { model, compiled, file: folder.join(format!("{}.elf", model.name)) });
    }
    let kernels = board.has_room_for_kernels().then_some(KERNELS);
    let names = images.iter().map(|image| image.model.name).chain([EMPTY]).chain(kernels);
    let mut arguments = vec!["build", "--profile", level.name()];
    arguments.extend(names.clone().flat_map(|name| ["--bin", name]));
    let mut flags = board.flags();
    flags.push(format!("-L{}", folder.display()));
    cargo(folders, &folder, board.target, flags, &arguments)?;
    let made = folders.output.join("target").join(board.target).join(level.name());
    for name in names {
        let (from, to) = (made.join(name), folder.join(format!("{name}.elf")));
        fs::copy(&from, to).map_err(|error| format!("{}: {error}", from.display()))?;
    }
    let file = |name: &str| folder.join(format!("{name}.elf"));
    Ok(Images { models: images, empty: file(EMPTY), kernels: kernels.map(file) })
}

/// Compiles the model to `runner.rs` in a folder of its own.
pub(crate) fn write_runner(folder: &Path, model: &Model, level: Level) -> Result<Compiled, String> {
    let config = Config { name: Some("Runner".into()), optimize: level.optimize(), ..Config::default() };
    let compiled = compile_file(&model.file, &config).map_err(|error| error.to_string())?;
    let generated = generate(&compiled, &[]).map_err(|problem| problem.to_string())?;
    make_folder(folder)?;
    write(&folder.join("runner.rs"), generated.file("pub", "include_bytes!(\"runner.bin\")"))?;
    write(&folder.join("runner.bin"), &generated.constants)?;
    Ok(compiled.compiled)
}

/// Source of the program of a model that has one input and one output.
fn program(folder: &Path, model: &Model, compiled: &Compiled) -> Result<String, String> {
    let ([input], [output]) = (&compiled.program.inputs[..], &compiled.program.outputs[..]) else {
        return Err(format!("{}: not one input and one output", model.name));
    };
    let runner = folder.join(model.name).join("runner.rs").display().to_string();
    let (input, output) = (snake_case(&input.name), snake_case(&output.name));
    let mut text = String::from("#![no_std]\n#![no_main]\n");
    // Writing to a string cannot fail.
    let _ = writeln!(text, "aot_firmware::image!({runner:?}, {input}_mut, {output});");
    Ok(text)
}

/// Runs Cargo for `target` on the package in `folder`.
pub(crate) fn cargo(
    folders: &Folders,
    folder: &Path,
    target: &str,
    flags: Vec<String>,
    arguments: &[&str],
) -> Result<(), String> {
    let mut cargo = command(folders, folder);
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    cargo.args(arguments).args(["--quiet", "--target", target]);
    let status = cargo.status().map_err(|error| format!("cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{} does not build for {target}", folder.display())) }
}

/// Cargo of the toolchain for the images, in `folder`.
pub(crate) fn command(folders: &Folders, folder: &Path) -> Command {
    let mut cargo = Command::new("cargo");
    // Cargo's own variables are of the compiler of this program.
    cargo.env_remove("RUSTUP_TOOLCHAIN").env("CARGO_TARGET_DIR", folders.output.join("target"));
    cargo.current_dir(folder).args(toolchain());
    cargo
}

/// What the compiler of the images says that it is.
pub(crate) fn compiler() -> Result<String, String> {
    let mut rustc = Command::new("rustc");
    rustc.env_remove("RUSTUP_TOOLCHAIN").args(toolchain()).arg("--version");
    let output = rustc.output().map_err(|error| format!("rustc: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().into())
}

/// The toolchain that `tools/install-embedded.sh` makes where it is there, the user's own
/// where not.
fn toolchain() -> Option<&'static str> {
    let which = Command::new("rustup").args(["which", "--toolchain", "embedded", "cargo"]).output();
    which.is_ok_and(|output| output.status.success()).then_some("+embedded")
}
