//! `aot operators`: which operators of TFLite files can be read, with which types.

use aot_build::report::Operators;

use crate::console::{Console, Failure};

/// Lists the operators of TFLite files that can be read, with their types
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> Result<(), Failure> {
    let operators = Operators::of_tflite();
    if arguments.json {
        console.json(&operators)?
    } else {
        console.print(&operators)?
    }
    Ok(())
}
