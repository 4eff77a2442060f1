//! Places in the text of a model file, and the problems that are found there.
//!
//! Everything that is read from the file borrows from its text, so that the place
//! of a name, a number or a node is the place of its slice in the text.

use std::fmt::Display;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::{Location, Problem};
use crate::nearest::nearest;

/// Most problems that are listed; a file of another kind has one for each line.
const MAX_PROBLEMS: usize = 100;

/// Among so many problems, those with an unknown name get a suggestion.
const MAX_SUGGESTIONS: usize = 20;

/// The text of a model file, and what is wrong with it.
#[derive(Debug)]
pub(super) struct Findings<'a> {
    text: &'a str,
    /// Byte offset in the text, and the problem found there.
    found: Vec<(usize, Problem)>,
    /// Problems beyond [`MAX_PROBLEMS`].
    more: usize,
}

impl<'a> Findings<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, found: Vec::new(), more: 0 }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.found.len() + self.more
    }

    /// Adds a problem at `place`, a slice of the text.
    pub(super) fn add(&mut self, place: &str, problem: Problem) {
        if self.found.len() == MAX_PROBLEMS {
            self.more += 1;
            return;
        }
        let offset = place.as_ptr().addr().wrapping_sub(self.text.as_ptr().addr());
        // A slice of something else has no place here, even if it happens to lie right behind
        // the text: it is that of the whole.
        let last = self.text.len().checked_sub(place.len());
        let offset = if last.is_some_and(|last| offset <= last) { offset } else { 0 };
        self.found.push((offset, problem));
    }

    /// The one value that the text is, when it is JSON.
    pub(super) fn syntax(&mut self) -> Option<&'a str> {
        let error = match serde_json::from_str::<&RawValue>(self.text) {
            Ok(value) => return Some(value.get()),
            Err(error) => error,
        };
        let met = offset_of(self.text, error.line(), error.column());
        let met = (met..self.text.len()).find(|at| self.text.is_char_boundary(*at));
        self.add(&self.text[met.unwrap_or(self.text.len())..], Problem::new(message(&error)));
        None
    }

    /// Reads an object, a slice of the text; a problem is reported as one of `owner`,
    /// at the token that it is about.
    pub(super) fn object<T: Deserialize<'a>>(&mut self, json: &'a str, owner: impl Display) -> Option<T> {
        // Derived code would take a list for an object.
        if json.starts_with('{') {
            return self.read(json, owner);
        }
        self.add(json, Problem::new(format!("{owner}expected an object")));
        None
    }

    /// Reads a value, a slice of the text; as [`Findings::object`].
    pub(super) fn read<T: Deserialize<'a>>(&mut self, json: &'a str, owner: impl Display) -> Option<T> {
        serde_json::from_str(json).map_err(|error| self.add_json(json, &owner, &error)).ok()
    }

    /// Adds the problem that reading `json`, a slice of the text, met.
    pub(super) fn add_json(&mut self, json: &str, owner: &impl Display, error: &serde_json::Error) {
        let place = token(json, offset_of(json, error.line(), error.column()));
        let message = message(error);
        let problem = Problem::new(format!("{owner}{message}"));
        if message.starts_with("unknown ") {
            // "unknown field `x`, expected one of `a`, `b`"
            let mut names = message.split('`').skip(1).step_by(2);
            let unknown = names.next().unwrap_or_default();
            self.add_near(place, problem, unknown, names);
        } else {
            self.add(place, problem);
        }
    }

    /// Adds a problem with the name `unknown`; suggests the candidate that may be meant.
    pub(super) fn add_near<'c>(
        &mut self,
        place: &str,
        mut problem: Problem,
        unknown: &str,
        candidates: impl Iterator<Item = &'c str>,
    ) {
        // Looking for one among 100 000 names takes a tenth of a second.
        if self.found.len() < MAX_SUGGESTIONS {
            problem.help = nearest(unknown, candidates).map(|name| format!("did you mean `{name}`?"));
        }
        self.add(place, problem);
    }

    /// The problems, in the order of the text, with line and column.
    pub(super) fn into_problems(mut self) -> Vec<Problem> {
        self.found.sort_by_key(|(offset, _)| *offset);
        let (mut line, mut line_start, mut seen) = (1, 0, 0);
        let mut problems = Vec::new();
        for (offset, problem) in self.found {
            for (i, byte) in self.text.as_bytes()[seen..offset].iter().enumerate() {
                if *byte == b'\n' {
                    (line, line_start) = (line + 1, seen + i + 1);
                }
            }
            seen = offset;
            let column = self.text[line_start..offset].chars().count() + 1;
            problems.push(problem.at(Location::Text { line, column }));
        }
        if self.more > 0 {
            problems.push(Problem::new(format!("{} more problems are not listed", self.more)));
        }
        problems
    }
}

/// What an error says, without the place that it gives.
pub(super) fn message(error: &serde_json::Error) -> String {
    let mut message = error.to_string();
    if let Some(end) = message.find(" at line ") {
        message.truncate(end);
    }
    message
}

/// Byte offset of a line and column as `serde_json` counts them: from 1, in bytes;
/// column 0 is the end of the line before.
fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let line_start = match line {
        0 | 1 => 0,
        _ => text.match_indices('\n').nth(line - 2).map_or(text.len(), |(at, _)| at + 1),
    };
    (line_start + column).saturating_sub(1)
}

/// The JSON text from the token at `offset` on, or the next one where there is none;
/// for the end of an object or a list, from where that starts.
///
/// That is the token that `serde_json` is about: it stops behind it, or before it
/// where it could not be anything that was expected.
fn token(json: &str, offset: usize) -> &str {
    let bytes = json.as_bytes();
    let mut open = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        at += 1;
        let start = match bytes[start] {
            b' ' | b'\t' | b'\r' | b'\n' | b',' | b':' => continue,
            b'{' | b'[' => {
                open.push(start);
                start
            }
            b'}' | b']' => open.pop().unwrap_or(start),
            b'"' => {
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
                start
            }
            _ => {
                while bytes.get(at).is_some_and(|byte| !b" \t\r\n,:{}[]\"".contains(byte)) {
                    at += 1;
                }
                start
            }
        };
        if at > offset {
            return &json[start..];
        }
    }
    json
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens() {
        let json = r#"{"a\"b": [1, 23], "c": true}"#;
        for (offset, expect) in
            [(0, 0), (1, 1), (6, 1), (7, 9), (8, 9), (10, 10), (11, 13), (14, 13), (15, 9), (27, 0), (99, 0)]
        {
            assert_eq!(token(json, offset), &json[expect..], "{offset}");
        }
    }

    #[test]
    fn problems_come_in_the_order_of_the_text() {
        let text = "ä\nbé c\n";
        let mut findings = Findings::new(text);
        findings.add(&text[7..8], Problem::new("second"));
        findings.add(&text[..0], Problem::new("first"));
        findings.add("elsewhere", Problem::new("elsewhere"));
        let problems: Vec<_> = findings.into_problems().iter().map(ToString::to_string).collect();
        assert_eq!(
            problems,
            ["line 1, column 1: first", "line 1, column 1: elsewhere", "line 2, column 4: second"]
        );
    }

    #[test]
    fn only_so_many_problems_are_listed() {
        let mut findings = Findings::new("");
        for _ in 0..MAX_PROBLEMS + 5 {
            findings.add("", Problem::new("wrong"));
        }
        let problems = findings.into_problems();
        assert_eq!(problems.len(), MAX_PROBLEMS + 1);
        assert_eq!(problems[MAX_PROBLEMS].message, "5 more problems are not listed");
    }
}
