//! The table of the README: some of the figures, of the models that it names.

use std::fs;

use crate::images::{Folders, Level, write};
use crate::report::{Measured, spaced};

/// How the table begins.
const HEADER: &str = "| model | M0+ | M4F | M55 | RV32 |";

/// Writes the figures into the README's table.
pub(crate) fn update(folders: &Folders, measured: &[Measured]) -> Result<(), String> {
    let file = folders.workspace.join("README.md");
    let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    write(&file, updated(&text, measured)?)
}

/// The text with the figures in its table.
fn updated(text: &str, measured: &[Measured]) -> Result<String, String> {
    let (before, table) = text.split_once(HEADER).ok_or("README.md has no table of figures")?;
    let (table, after) = table.split_once("\n\n").ok_or("README.md ends in its table of figures")?;
    // The lines behind the header and the line under it are of models.
    let lines = table.lines().enumerate().map(|(i, line)| match line.split(" | ").next() {
        Some(name) if i > 1 => row(measured, name.trim_start_matches("| ")),
        _ => Ok(line.into()),
    });
    let lines = lines.collect::<Result<Vec<_>, _>>()?;
    Ok(format!("{before}{HEADER}{}\n\n{after}", lines.join("\n")))
}

/// The line of `model`.
fn row(measured: &[Measured], model: &str) -> Result<String, String> {
    let figures = |board: &str, level: Level| {
        let is_it =
            |figures: &&Measured| figures.model == model && figures.board == board && figures.level == level;
        measured.iter().find(is_it).ok_or(format!("README.md: no figures of `{model}` on {board}"))
    };
    let speed = figures("M4F", Level::Speed)?;
    let cells = [
        figures("M0+", Level::Speed)?.instructions,
        speed.instructions,
        figures("M55", Level::Speed)?.instructions,
        figures("RV32", Level::Speed)?.instructions,
        speed.code(),
        figures("M4F", Level::Size)?.code(),
        speed.constants,
        speed.arena,
        speed.stack,
    ];
    Ok(format!("| {model} | {} |", cells.map(spaced).join(" | ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_written_anew() {
        let all = [
            Measured::example("M0+", Level::Speed, 4_000),
            Measured::example("M4F", Level::Speed, 1_000),
            Measured::example("M4F", Level::Size, 1_100),
            Measured::example("M55", Level::Speed, 900),
            Measured::example("RV32", Level::Speed, 3_000),
        ];
        let text =
            |row: &str| format!("Before.\n\n{HEADER} `speed` |\n| --- | ---: |\n{row}\n\n| kws | other |\n");
        let expected = "| kws | 4 000 | 1 000 | 900 | 3 000 | 2 000 | 2 000 | 50 | 32 | 500 |";
        assert_eq!(updated(&text("| kws | 1 |"), &all).unwrap(), text(expected));
        assert!(updated(&text("| vww | 1 |"), &all).is_err());
        assert!(updated("Nothing.", &all).is_err());
    }
}
