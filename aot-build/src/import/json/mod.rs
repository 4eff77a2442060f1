//! `net.json`: our own format. `docs/net-json.md` describes it for users.
//!
//! The text is checked as JSON first; then the document, every tensor and every node
//! are read by themselves, and every problem is reported at its line and column.

pub(crate) mod format;
mod nodes;
mod order;
mod tensors;
#[cfg(test)]
mod tests;
mod text;

use serde_json::value::RawValue;

use super::Source;
use crate::error::{Location, Problem};
use crate::graph::Graph;
use format::{Document, FORMAT, Header, VERSION};
use text::Findings;

/// Reads a `net.json` file and the files that it names.
///
/// # Errors
///
/// All problems of the file.
pub(crate) fn import(source: &mut Source, bytes: &[u8]) -> Result<Graph, Vec<Problem>> {
    let text = str::from_utf8(bytes).map_err(|error| {
        let problem = Problem::new("the text is not UTF-8");
        let before = &bytes[..error.valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
        vec![problem.at(Location::Text { line, column })]
    })?;
    let mut findings = Findings::new(text);
    match document(text, &mut findings) {
        Some(document) => nodes::read(document, source, findings),
        None => Err(findings.into_problems()),
    }
}

/// The document, when it is one.
fn document<'a>(text: &'a str, findings: &mut Findings<'a>) -> Option<Document<'a>> {
    let json = findings.read::<&RawValue>(text, "")?.get();
    let header: Header<'_> = findings.read(json, "")?;
    match &header.format {
        Some(format) if format.value == FORMAT => {}
        Some(format) => {
            let message = format!("format `{}`, expected `{FORMAT}`", format.value);
            findings.add(format.place, Problem::new(message));
            return None;
        }
        None => {
            let message = format!("not a net.json file: `format` is missing, expected `{FORMAT}`");
            findings.add(json, Problem::new(message));
            return None;
        }
    }
    if let Some(version) = header.version.filter(|version| version.value != VERSION) {
        let message = format!("version {} is not read, expected {VERSION}", version.value);
        findings.add(version.place, Problem::new(message));
        return None;
    }
    findings.read(json, "")
}
