//! `aot export`: any model that can be read, in our own format.

use std::path::PathBuf;

use aot_build::{Error, export, import};
use serde::Serialize;

use crate::console::{Console, Failure, problem};
use crate::settings::{Subject, write_file};

/// Writes a model as net.json, its constants in a .safetensors file beside it
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// File to write; the constants go beside it, with the extension `safetensors`
    #[arg(short, long, value_name = "net.json")]
    output: PathBuf,
    #[command(flatten)]
    pub(crate) subject: Subject,
}

#[derive(Serialize)]
struct Answer {
    json: PathBuf,
    safetensors: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> Result<(), Failure> {
    let Arguments { output, subject: Subject { model, settings, json } } = arguments;
    if output.extension().is_none_or(|extension| extension != "json") {
        return Err(problem(output, "the file's name has to end in `.json`: it is read by that").into());
    }
    let graph = import::import(model, &settings.load(model)?)?.graph;
    let safetensors = output.with_extension("safetensors");
    let name = safetensors.file_name().unwrap_or_default().to_string_lossy();
    let exported = export::export(&graph, &name).map_err(|problem| Error::new(model, vec![problem]))?;
    // The constants first: who finds the net.json finds them.
    if let Some(constants) = &exported.safetensors {
        write_file(&safetensors, constants)?;
    }
    write_file(output, exported.json.as_bytes())?;
    let answer =
        Answer { json: output.clone(), safetensors: exported.safetensors.is_some().then_some(safetensors) };
    if *json {
        console.json(&answer)?;
    } else {
        for file in [Some(answer.json), answer.safetensors].into_iter().flatten() {
            console.print(format_args!("{}\n", file.display()))?;
        }
    }
    Ok(())
}
