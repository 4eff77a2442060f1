//! What is wrong with a model: where, what was found, what was expected, what to do.

use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::report::label;

/// Where in a model a problem is.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Location {
    /// The model as a whole.
    #[default]
    Model,
    /// A place in a text file.
    Text {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// A node.
    Node {
        /// Position in the file.
        index: usize,
        /// Name.
        name: String,
        /// Operator, as the file's format names it.
        operator: String,
    },
    /// A tensor, by name.
    Tensor(String),
    /// A key of the configuration.
    Key(String),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model => Ok(()),
            Self::Text { line, column } => write!(f, "line {line}, column {column}: "),
            Self::Node { index, name, operator } => write!(f, "node #{index} {operator} `{}`: ", label(name)),
            Self::Tensor(name) => write!(f, "tensor `{}`: ", label(name)),
            Self::Key(key) => write!(f, "key `{key}`: "),
        }
    }
}

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub location: Location,
    /// What was found, and what was expected.
    pub message: String,
    /// Particulars, a line each.
    pub items: Vec<String>,
    /// What to do.
    pub help: Option<String>,
}

impl Problem {
    /// A problem with the model as a whole.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self { location: Location::Model, message: message.into(), items: Vec::new(), help: None }
    }

    /// Says where.
    #[must_use]
    pub fn at(self, location: Location) -> Self {
        Self { location, ..self }
    }

    /// Says what to do.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// Adds particulars.
    #[must_use]
    pub fn items(self, items: Vec<String>) -> Self {
        Self { items, ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Visible(f), "{}{}", self.location, self.message)?;
        for item in &self.items {
            f.write_str("\n  - ")?;
            write!(Visible(f), "{item}")?;
        }
        match &self.help {
            Some(help) => {
                f.write_str("\n  = help: ")?;
                write!(Visible(f), "{help}")
            }
            None => Ok(()),
        }
    }
}

/// Text for a terminal: what names in a file could do to it beside being shown is escaped;
/// a line break, too, since lines of their own are ours.
struct Visible<'a, 'f>(&'a mut fmt::Formatter<'f>);

impl fmt::Write for Visible<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                    write!(self.0, "{}", c.escape_unicode())?
                }
                c if c.is_control() => write!(self.0, "{}", c.escape_unicode())?,
                c => self.0.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// Why an operator cannot be applied or lowered; the caller knows where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpError {
    /// What was found, and what was expected.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl OpError {
    /// Says what to do.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

impl From<String> for OpError {
    fn from(message: String) -> Self {
        Self { message, help: None }
    }
}

impl From<&str> for OpError {
    fn from(message: &str) -> Self {
        message.to_owned().into()
    }
}

impl From<OpError> for Problem {
    fn from(error: OpError) -> Self {
        Self { help: error.help, ..Self::new(error.message) }
    }
}

/// `2 656 768`: a number for people.
#[must_use]
pub fn spaced(value: impl fmt::Display) -> String {
    grouped(&value.to_string(), ' ')
}

/// Digits in groups of three, counted from the right.
pub(crate) fn grouped(digits: &str, separator: char) -> String {
    let mut text = String::new();
    for (i, digit) in digits.char_indices() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(separator);
        }
        text.push(digit);
    }
    text
}

/// All problems of a model.
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    /// The file they are in.
    pub file: PathBuf,
    /// The problems; at least one.
    pub problems: Vec<Problem>,
}

impl Error {
    /// Problems of `file`.
    #[must_use]
    pub fn new(file: impl AsRef<Path>, problems: Vec<Problem>) -> Self {
        debug_assert!(!problems.is_empty());
        Self { file: file.as_ref().to_owned(), problems }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.problems.iter().enumerate() {
            let separator = if i == 0 { "" } else { "\n" };
            write!(f, "{separator}{}: {problem}", self.file.display())?;
        }
        Ok(())
    }
}

/// As [`Display`](fmt::Display): a build script whose `main` returns the error shows it so.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_command_the_terminal() {
        let problem = Problem::new("`a\u{1b}[2J\u{202e}\n  = help: b` is wrong").items(vec!["\t".into()]);
        let problem = problem.at(Location::Tensor("\r".into())).help("\n");
        assert_eq!(
            problem.to_string(),
            "tensor ` `: `a\\u{1b}[2J\\u{202e}\\u{a}  = help: b` is wrong\n  - \\u{9}\n  = help: \\u{a}"
        );
    }
}
