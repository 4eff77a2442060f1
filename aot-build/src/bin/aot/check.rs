//! `aot check`: what a model needs, or everything that is wrong with it.

use std::path::PathBuf;

use aot_build::report::Summary;

use crate::console::{Console, Failure, Problems};
use crate::settings::Settings;

/// Says what a model needs, or everything that is wrong with it
#[derive(clap::Args)]
pub struct Arguments {
    /// Model file: .tflite or .json
    model: PathBuf,
    #[command(flatten)]
    settings: Settings,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<(), Failure> {
    let model = arguments.settings.compile(&arguments.model);
    let model = model.map_err(|error| console.reported(error, arguments.json))?;
    let summary = Summary::new(&model);
    if arguments.json { console.json(&summary)? } else { console.print(&summary)? }
    Ok(())
}
