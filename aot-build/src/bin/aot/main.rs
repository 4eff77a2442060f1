//! `aot`: checks, runs, plans and converts models from the command line.
//!
//! `docs/aot-tool.md` shows every command and documents the JSON that they print.

mod array;
mod bundle;
mod case;
mod check;
mod compare;
mod console;
mod export;
mod generate;
mod intervals;
mod operators;
mod plan;
mod run;
mod sets;
mod settings;
mod trace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use console::Console;

/// Compiles neural networks ahead of time: checks, runs, plans and converts models
///
/// Exit codes: 0 all is well, 1 something is wrong with the model or its results,
/// 2 the command line is wrong.
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
    Bundle(bundle::Arguments),
    Export(export::Arguments),
    Operators(operators::Arguments),
}

fn main() -> ExitCode {
    // A wrong command line ends here, with code 2.
    let Cli { command } = Cli::parse();
    let mut console = Console::new();
    let (result, json) = match &command {
        Command::Check(arguments) => (check::run(arguments, &mut console), arguments.json),
        Command::Run(arguments) => (run::run(arguments, &mut console), arguments.json),
        Command::Plan(arguments) => (plan::run(arguments, &mut console), arguments.json),
        Command::Generate(arguments) => (generate::run(arguments, &mut console), arguments.json),
        Command::Bundle(arguments) => (bundle::run(arguments, &mut console), arguments.json),
        Command::Export(arguments) => (export::run(arguments, &mut console), arguments.json),
        Command::Operators(arguments) => (operators::run(arguments, &mut console), arguments.json),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            console.failure(&failure, json);
            ExitCode::FAILURE
        }
    }
}
