//! `aot check`: what a model needs, or everything that is wrong with it.

use std::path::PathBuf;

use aot_build::report::Summary;

use crate::console::{Console, Failure};
use crate::settings::Settings;

/// Says what a model needs, or everything that is wrong with it
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Model file: .tflite or .json
    model: PathBuf,
    #[command(flatten)]
    settings: Settings,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> Result<(), Failure> {
    let summary = Summary::new(&arguments.settings.compile(&arguments.model)?);
    if arguments.json {
        console.json(&summary)?
    } else {
        console.print(&summary)?
    }
    Ok(())
}
