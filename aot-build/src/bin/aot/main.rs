//! `aot`: checks, runs, plans and converts models from the command line.
//!
//! `docs/aot-tool.md` shows every command and documents the JSON that they print.

mod array;
mod case;
mod check;
mod compare;
mod console;
mod generate;
mod intervals;
mod plan;
mod run;
mod settings;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use console::{Console, Failure};

/// Compiles neural networks ahead of time
#[derive(Parser)]
#[command(name = "aot", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Check(check::Arguments),
    Run(run::Arguments),
    Plan(plan::Arguments),
    Generate(generate::Arguments),
}

fn main() -> ExitCode {
    // A wrong command line ends here, with code 2.
    let Cli { command } = Cli::parse();
    let mut console = Console::new();
    let result = match &command {
        Command::Check(arguments) => check::run(arguments, &mut console),
        Command::Run(arguments) => run::run(arguments, &mut console),
        Command::Plan(arguments) => plan::run(arguments, &mut console),
        Command::Generate(arguments) => generate::run(arguments, &mut console),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            console.failure(&failure);
            ExitCode::FAILURE
        }
    }
}
