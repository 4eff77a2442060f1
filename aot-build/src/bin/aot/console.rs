//! What the tool prints: answers to standard output, problems to standard error.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use anstream::AutoStream;
use aot_build::report::ErrorReport;
use aot_build::{Error, Problem};
use clap::builder::styling::{AnsiColor, Style};
use serde::Serialize;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const HELP: Style = AnsiColor::Cyan.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default();

/// Why a command did not do what it should.
pub(crate) enum Failure {
    /// Something is wrong with files that the user gave.
    Problems(Vec<Error>),
    /// What was to be found out was found out, printed, and is not good: results
    /// beyond the tolerance, a problem without a plan.
    Verdict,
    /// The answer could not be printed.
    Print(io::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Problems(vec![error])
    }
}

impl From<Vec<Error>> for Failure {
    fn from(errors: Vec<Error>) -> Self {
        Self::Problems(errors)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Print(error)
    }
}

/// One problem of one file.
pub(crate) fn problem(file: &Path, message: impl Into<String>) -> Error {
    Error::new(file, vec![Problem::new(message)])
}

/// Standard output and standard error, coloured where they are terminals.
pub(crate) struct Console {
    out: AutoStream<io::Stdout>,
    err: AutoStream<io::Stderr>,
}

impl Console {
    pub(crate) fn new() -> Self {
        Self { out: AutoStream::auto(io::stdout()), err: AutoStream::auto(io::stderr()) }
    }

    /// Prints an answer.
    pub(crate) fn print(&mut self, text: impl Display) -> io::Result<()> {
        write!(self.out, "{text}")?;
        self.out.flush()
    }

    /// Prints an answer for programs.
    pub(crate) fn json(&mut self, answer: &impl Serialize) -> io::Result<()> {
        let text = serde_json::to_string_pretty(answer).map_err(io::Error::other)?;
        writeln!(self.out, "{text}")
    }

    /// Prints a line with a verdict before it.
    pub(crate) fn verdict(&mut self, good: bool, text: impl Display) -> io::Result<()> {
        let (style, verdict) = if good { (GOOD, "ok  ") } else { (ERROR, "FAIL") };
        writeln!(self.out, "{style}{verdict}{style:#} {text}")
    }

    /// Prints the problems of a file. That standard error is closed is no reason to
    /// stop, and there is nowhere to say it.
    pub(crate) fn problems(&mut self, error: &Error) {
        let (red, cyan) = (ERROR, HELP);
        for problem in &error.problems {
            let text = problem.to_string().replace("\n  = help:", &format!("\n  = {cyan}help{cyan:#}:"));
            let _ = writeln!(self.err, "{red}error{red:#}: {}: {text}", error.file.display());
        }
    }

    /// Prints why a command failed; with `json` for programs, too.
    pub(crate) fn failure(&mut self, failure: &Failure, json: bool) {
        match failure {
            Failure::Problems(errors) => {
                errors.iter().for_each(|error| self.problems(error));
                if json {
                    let problems = Problems { errors: errors.iter().map(ErrorReport::new).collect() };
                    let _ = self.json(&problems);
                }
            }
            Failure::Verdict => {}
            // The reader, `head` say, has seen enough.
            Failure::Print(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            Failure::Print(error) => {
                let _ = writeln!(self.err, "{ERROR}error{ERROR:#}: cannot print the answer: {error}");
            }
        }
    }
}

/// The problems of files, as `--json` prints them.
#[derive(Serialize)]
struct Problems<'e> {
    errors: Vec<ErrorReport<'e>>,
}
