//! Tables as text.

use std::fmt::Write as _;

use crate::codegen::plain;

/// Longest name that is shown in full.
const MAX_LABEL: usize = 48;

/// A name from a model file for one line of text: nothing that commands a terminal, and
/// shortened where a converter strung many names together.
#[must_use]
pub fn label(name: &str) -> String {
    let rest = if name.chars().nth(MAX_LABEL).is_some() { "…" } else { "" };
    plain(&name.chars().take(MAX_LABEL).collect::<String>()) + rest
}

/// Rows of cells in columns, the numbers' columns flush right; a line each.
#[must_use]
pub fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let cells = |column: usize| rows.iter().map(move |row| row[column].as_str());
    let widths: [usize; N] =
        std::array::from_fn(|column| cells(column).map(|cell| cell.chars().count()).max().unwrap_or(0));
    // The first row may be a heading.
    let numeric: [bool; N] = std::array::from_fn(|column| cells(column).skip(1).all(is_number));
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for ((cell, width), numeric) in row.iter().zip(widths).zip(numeric) {
            // Writing to a string cannot fail.
            let _ = if numeric { write!(line, "{cell:>width$}  ") } else { write!(line, "{cell:<width$}  ") };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Whether a cell may be in a column of numbers.
pub(super) fn is_number(cell: &str) -> bool {
    cell.chars().all(|c| c.is_ascii_digit() || c == ' ') || cell == "end"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_short_and_harmless() {
        assert_eq!(label("conv\u{1b}[31m\nx"), "conv [31m x");
        assert_eq!(label(&"a;".repeat(100)), "a;".repeat(24) + "…");
    }

    #[test]
    fn numbers_are_flush_right() {
        let rows = [["tensor", "bytes"], ["x", "1 000"], ["longer", "7"]].map(|row| row.map(str::to_owned));
        assert_eq!(columns(&rows), "tensor  bytes\nx       1 000\nlonger      7\n");
    }
}
