//! `aot generate`: the Rust source of a model, and its constants beside it.

use std::path::PathBuf;

use aot_build::report::spaced;
use aot_build::{Error, codegen};
use serde::Serialize;

use crate::console::{Console, Failure};
use crate::settings::{Subject, write_file};

/// Writes a model's Rust source, and its constants beside it
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// File to write; the constants go beside it, with the extension `bin`
    #[arg(short, long, value_name = "FILE.rs")]
    output: PathBuf,
    #[command(flatten)]
    pub(crate) subject: Subject,
}

#[derive(Serialize)]
struct Answer {
    type_name: String,
    rust: PathBuf,
    constants: Option<PathBuf>,
    constant_bytes: usize,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> Result<(), Failure> {
    let model = arguments.subject.compile()?;
    let generated = codegen::generate(&model, &[])
        .map_err(|problem| Error::new(&arguments.subject.model, vec![problem]))?;
    let constants = arguments.output.with_extension("bin");
    let name = constants.file_name().unwrap_or_default().to_string_lossy();
    let source = generated.file("pub", &format!("include_bytes!({name:?})"));
    write_file(&arguments.output, source.as_bytes())?;
    let constant_bytes = generated.constants.len();
    if constant_bytes > 0 {
        write_file(&constants, &generated.constants)?;
    }
    let answer = Answer {
        type_name: generated.type_name,
        rust: arguments.output.clone(),
        constants: (constant_bytes > 0).then_some(constants),
        constant_bytes,
    };
    if arguments.subject.json {
        console.json(&answer)?;
        return Ok(());
    }
    console.print(format_args!("{}: type {}\n", answer.rust.display(), answer.type_name))?;
    if let Some(file) = answer.constants {
        console.print(format_args!("{}: {} bytes\n", file.display(), spaced(constant_bytes)))?;
    }
    Ok(())
}
