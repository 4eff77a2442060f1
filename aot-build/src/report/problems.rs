//! Problems for programs.

use serde::Serialize;

use crate::error::{Error, Location, Problem};

/// The serialised form of an [`Error`].
#[derive(Debug, Serialize)]
pub struct ErrorReport<'e> {
    file: String,
    problems: Vec<ProblemReport<'e>>,
}

impl<'e> ErrorReport<'e> {
    /// Prepares `error` for serialisation.
    #[must_use]
    pub fn new(error: &'e Error) -> Self {
        Self {
            file: error.file.display().to_string(),
            problems: error.problems.iter().map(ProblemReport::new).collect(),
        }
    }
}

#[derive(Debug, Serialize)]
struct ProblemReport<'e> {
    location: Option<Place<'e>>,
    message: &'e str,
    items: &'e [String],
    help: Option<&'e str>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Place<'e> {
    Text { line: usize, column: usize },
    Node { node: usize, name: &'e str, operator: &'e str },
    Tensor { tensor: &'e str },
    Key { key: &'e str },
}

impl<'e> ProblemReport<'e> {
    fn new(problem: &'e Problem) -> Self {
        let location = match &problem.location {
            Location::Model => None,
            &Location::Text { line, column } => Some(Place::Text { line, column }),
            Location::Node { index, name, operator } => Some(Place::Node { node: *index, name, operator }),
            Location::Tensor(tensor) => Some(Place::Tensor { tensor }),
            Location::Key(key) => Some(Place::Key { key }),
        };
        Self { location, message: &problem.message, items: &problem.items, help: problem.help.as_deref() }
    }
}
