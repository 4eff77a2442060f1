//! What was measured, as a line, as tables, and as JSON.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::boards::{BOARDS, Board};
use crate::elf::Contents;
use crate::images::{Image, Level, compiler};
use crate::qemu::Ran;

/// How many of the largest functions are listed.
const LARGEST: usize = 12;

/// Figures of an image.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) board: &'static str,
    pub(crate) level: Level,
    pub(crate) model: &'static str,
    pub(crate) contents: Contents,
    /// Bytes of the image without a model.
    empty: Contents,
    /// Bytes of RAM as the plan has it.
    pub(crate) arena: u64,
    /// Bytes of constants.
    pub(crate) constants: u64,
    pub(crate) macs: u64,
    pub(crate) sets: usize,
    /// Elements of the outputs that were compared.
    elements: usize,
    /// Most bytes of stack that a run took.
    pub(crate) stack: u64,
    /// Instructions of a run: the most.
    pub(crate) instructions: u64,
}

impl Measured {
    pub(crate) fn new(
        board: &Board,
        level: Level,
        image: &Image<'_>,
        contents: Contents,
        empty: &Contents,
    ) -> Self {
        let compiled = &image.compiled;
        Self {
            board: board.name,
            level,
            model: image.model.name,
            contents,
            empty: empty.clone(),
            arena: compiled.arena_bytes as u64,
            constants: compiled.program.constants.bytes().len() as u64,
            macs: compiled.program.macs(),
            sets: 0,
            elements: 0,
            stack: 0,
            instructions: 0,
        }
    }

    /// Figures of a model `kws` for tests.
    #[cfg(test)]
    pub(crate) fn example(board: &'static str, level: Level, instructions: u64) -> Self {
        let empty = Contents { text: 1_000, ..Contents::default() };
        let contents = Contents { text: 3_000, rodata: 50, ..Contents::default() };
        Self {
            board,
            level,
            model: "kws",
            contents,
            empty,
            arena: 32,
            constants: 50,
            macs: 100,
            sets: 2,
            elements: 24,
            stack: 500,
            instructions,
        }
    }

    pub(crate) fn add(&mut self, ran: &Ran, elements: usize) {
        self.sets += 1;
        self.elements += elements;
        self.stack = self.stack.max(ran.stack);
        self.instructions = self.instructions.max(ran.instructions.iter().copied().max().unwrap_or(0));
    }

    /// Bytes of flash beside the constants and what the empty image has.
    pub(crate) fn code(&self) -> u64 {
        (self.contents.flash() - self.constants).saturating_sub(self.empty.flash())
    }

    /// Bytes of RAM that the model takes.
    pub(crate) fn ram(&self) -> u64 {
        (self.contents.data + self.contents.bss).saturating_sub(self.empty.bss)
    }

    /// The largest functions and statics, a line each.
    pub(crate) fn largest(&self) -> String {
        let symbols = self.contents.symbols.iter().take(LARGEST);
        let lines = symbols.map(|symbol| format!("{:>7}  {}", symbol.bytes, symbol.name));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn per_mac(&self) -> f64 {
        self.instructions as f64 / self.macs as f64
    }

    /// For people who watch.
    pub(crate) fn line(&self) -> String {
        format!(
            "{:4} {:5} {:22} {} sets, {} elements; flash {} (constants {}, code {}); RAM {} (plan {}); stack {}; {} instructions, {:.2} a MAC",
            self.board,
            self.level.name(),
            self.model,
            self.sets,
            self.elements,
            self.contents.flash(),
            self.constants,
            self.code(),
            self.ram(),
            self.arena,
            self.stack,
            self.instructions,
            self.per_mac(),
        )
    }

    fn json(&self) -> Value {
        let symbols = self.contents.symbols.iter().take(LARGEST);
        json!({
            "board": self.board,
            "optimize": self.level.name(),
            "model": self.model,
            "sets": self.sets,
            "elements": self.elements,
            "differing": 0,
            "vector_table": self.contents.vectors,
            "text": self.contents.text,
            "rodata": self.contents.rodata,
            "data": self.contents.data,
            "bss": self.contents.bss,
            "constants": self.constants,
            "code": self.code(),
            "arena": self.arena,
            "stack": self.stack,
            "macs": self.macs,
            "instructions": self.instructions,
            "largest_symbols": symbols.map(|symbol| json!([symbol.name, symbol.bytes])).collect::<Vec<_>>(),
        })
    }
}

/// Writes the tables to `folder`.
pub(crate) fn write(folder: &Path, measured: &[Measured]) -> Result<(), String> {
    let write = |name: &str, text: String| {
        let file = folder.join(name);
        fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))
    };
    let lines: Vec<_> = measured.iter().map(|figures| format!("  {}", figures.json())).collect();
    write("embedded-figures.json", format!("[\n{}\n]\n", lines.join(",\n")))?;
    write("embedded-figures.md", markdown(measured)?)
}

fn markdown(measured: &[Measured]) -> Result<String, String> {
    let mut text = include_str!("figures.md").replace("<!-- COMPILER -->", &compiler()?);
    let tables = [
        ("INSTRUCTIONS", instructions(measured)),
        ("FLASH", flash(measured)),
        ("STACK", stack(measured)),
        ("SYMBOLS", symbols(measured)),
    ];
    for (name, table) in tables {
        text = text.replace(&format!("<!-- {name} -->\n"), &table);
    }
    Ok(text)
}

/// The table of a figure at `speed`: a line a model, a column a board.
fn by_board(measured: &[Measured], first: &str, figure: impl Fn(&Measured) -> (String, String)) -> String {
    let names: Vec<_> = BOARDS.iter().map(|board| board.name).collect();
    let mut table = format!("| model | {first} | {} |\n", names.join(" | "));
    table.push_str(&format!("| --- | ---: |{}\n", " ---: |".repeat(names.len())));
    let at_speed: Vec<_> = measured.iter().filter(|figures| figures.level == Level::Speed).collect();
    let mut models: Vec<_> = at_speed.iter().map(|figures| figures.model).collect();
    models.sort_unstable();
    models.dedup();
    for model in models {
        let of_model = || at_speed.iter().filter(|figures| figures.model == model);
        let first = of_model().next().map_or_else(String::new, |figures| figure(figures).0);
        let cells = names.iter().map(|name| {
            let found = of_model().find(|figures| figures.board == *name);
            found.map_or_else(|| "-".into(), |figures| figure(figures).1)
        });
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| {model} | {first} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    table
}

fn instructions(measured: &[Measured]) -> String {
    by_board(measured, "MACs", |figures| {
        (spaced(figures.macs), format!("{} ({:.2})", spaced(figures.instructions), figures.per_mac()))
    })
}

fn stack(measured: &[Measured]) -> String {
    by_board(measured, "RAM", |figures| (spaced(figures.arena), spaced(figures.stack)))
}

/// What is where in flash on the M4F.
fn flash(measured: &[Measured]) -> String {
    let mut table = String::from(
        "| model | optimize | image | constants | code of the model | start-up and harness | `.data` |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for figures in measured.iter().filter(|figures| figures.board == "M4F") {
        let _ = writeln!(
            table,
            "| {} | {} | {} | {} | {} | {} | {} |",
            figures.model,
            figures.level.name(),
            spaced(figures.contents.flash()),
            spaced(figures.constants),
            spaced(figures.code()),
            spaced(figures.empty.flash()),
            figures.contents.data,
        );
    }
    table
}

/// The largest functions of keyword spotting on the M4F.
fn symbols(measured: &[Measured]) -> String {
    let mut text = String::new();
    let is_shown = |figures: &&Measured| figures.board == "M4F" && figures.model == "mlperf_kws_int8";
    for figures in measured.iter().filter(is_shown) {
        let _ = writeln!(text, "`{}`:\n\n```text\n{}\n```\n", figures.level.name(), figures.largest());
    }
    text
}

/// `12 345 678`
pub(crate) fn spaced(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn digits_stand_in_threes() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1 000"), (12_345_678, "12 345 678")] {
            assert_eq!(super::spaced(number), text);
        }
    }
}
