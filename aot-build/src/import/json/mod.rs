//! `net.json`: our own format. `docs/net-json.md` describes it for users.
//!
//! The text is checked as JSON first; then the document, every tensor and every node
//! are read by themselves, and every problem is reported at its line and column.

mod constants;
pub(crate) mod format;
mod nodes;
mod order;
mod regions;
mod states;
mod tensors;
#[cfg(test)]
mod tests;
mod text;

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
    match document(&mut findings) {
        Some(document) => nodes::read(document, source, findings),
        None => Err(findings.into_problems()),
    }
}

/// The document, when it is one.
fn document<'a>(findings: &mut Findings<'a>) -> Option<Document<'a>> {
    let json = findings.syntax()?;
    let header: Header<'_> = findings.object(json, "")?;
    let Some(format) = header.format else {
        let message = format!("not a net.json file: `format` is missing, expected `{FORMAT}`");
        findings.add(json, Problem::new(message));
        return None;
    };
    let found: String = findings.read(format.json, "`format`: ")?;
    if found != FORMAT {
        findings.add(format.json, Problem::new(format!("`format` is `{found}`, expected `{FORMAT}`")));
        return None;
    }
    // Before anything else: another version may have other keys.
    if let Some(version) = header.version {
        let found: u64 = findings.read(version.json, "`version`: ")?;
        if found != VERSION {
            let message = format!("`version` is {found}, expected {VERSION}");
            findings.add(version.json, Problem::new(message));
            return None;
        }
    }
    findings.read(json, "")
}
