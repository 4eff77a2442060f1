//! Which operators of TFLite files can be read, with which types.

use std::fmt;

use serde::Serialize;

use crate::import::tflite;

/// The operators of TFLite files that can be read, by name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Operators {
    /// The operators.
    pub operators: Vec<OperatorReport>,
}

/// An operator of TFLite files.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OperatorReport {
    /// Name in the format: `CONV_2D`.
    pub name: &'static str,
    /// The newest version that is known.
    pub version: i32,
    /// Whether it takes any number of operands, all of the type that a row names.
    pub repeated: bool,
    /// Types that belong together; none for operators on variables, which take what
    /// the variable holds.
    pub types: Vec<TypesReport>,
}

/// Types of operands and results that belong together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TypesReport {
    /// Types of the operands; those that only say how, such as axes, are left out.
    pub operands: Vec<&'static str>,
    /// Type of the results.
    pub result: &'static str,
}

impl Operators {
    /// All that are known.
    pub fn of_tflite() -> Self {
        let mut operators: Vec<_> = tflite::operators().map(OperatorReport::new).collect();
        operators.sort_by_key(|operator| operator.name);
        Self { operators }
    }
}

impl OperatorReport {
    fn new(known: &tflite::Known) -> Self {
        let row = |row: &&[aot_rt::DType]| {
            let (result, operands) = row.split_last()?;
            let operands = operands.iter().map(|dtype| dtype.name()).collect();
            Some(TypesReport { operands, result: result.name() })
        };
        Self {
            name: known.name,
            version: known.version,
            repeated: known.takes_any_number(),
            types: known.types.iter().filter_map(row).collect(),
        }
    }
}

/// A table in Markdown.
impl fmt::Display for Operators {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| operator | versions | types |\n| --- | --- | --- |")?;
        for OperatorReport { name, version, repeated, types } in &self.operators {
            let more = if *repeated { ", …" } else { "" };
            let row = |types: &TypesReport| format!("{}{more} → {}", types.operands.join(", "), types.result);
            let mut types = types.iter().map(row).collect::<Vec<_>>().join("; ");
            if types.is_empty() {
                types.push_str("those of the variable or subgraph");
            }
            let first = if *version == 1 { "" } else { "1 to " };
            writeln!(f, "| `{name}` | {first}{version} | {types} |")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_in_the_repository_is_that_of_the_importer() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/tflite-operators.md");
        let text = std::fs::read_to_string(path).unwrap();
        let (head, found) = text.split_at(text.find("| operator |").unwrap_or(text.len()));
        let table = Operators::of_tflite().to_string();
        if std::env::var_os("AOT_UPDATE").is_some() {
            std::fs::write(path, format!("{head}{table}")).unwrap();
            return;
        }
        assert!(found == table, "run this test with AOT_UPDATE=1 to write {path}");
    }

    #[test]
    fn names_are_known_once() {
        let operators = Operators::of_tflite().operators;
        let twice = operators.windows(2).find(|pair| pair[0].name == pair[1].name);
        assert_eq!(twice, None);
    }
}
