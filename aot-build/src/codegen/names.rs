//! Rust identifiers for the names in a model file.
//!
//! The rule: a name is split where letters and digits end and where a capital
//! follows a small letter; what is not ASCII separates words; the words make
//! `snake_case` (values) or `CamelCase` (the type). A name that is empty then, starts
//! with a digit, or is a keyword or a method of the runner, gets what it names in
//! front: `input_784`, `output_type`. So does one that is taken, and then a number.

use std::collections::HashSet;

use crate::error::{Location, Problem};

/// Longest identifier that a name becomes.
const MAX_LEN: usize = 40;

/// Words that are no identifiers, in the 2024 edition.
const KEYWORDS: [&str; 53] = [
    "Self", "_", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self",
    "static", "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

/// Methods of every runner, and the variables in them.
const METHODS: &[&str] = &[
    "new",
    "take",
    "run",
    "run_in_place",
    "run_bytes",
    "run_bytes_with",
    "default",
    "workspace",
    "inputs",
    "outputs",
    "reset",
    "has_state",
    "fill_workspace",
    "feed_row",
    "take_row",
    "finish",
    "restart",
    "rows",
    "row",
    "pushed",
    "layer",
    "instrument",
    "kernels",
    "bind",
    "done",
    "run_with",
    "run_in_place_with",
    "feed_row_with",
    "has_constants",
    "load_constants",
    "start",
    "start_with",
    "start_in_place",
    "start_in_place_with",
    "run_async",
    "program_counter",
    "next_counter",
];

/// Names that a type must not have, as generated code uses them for something else.
const TAKEN: [&str; 13] =
    ["aot_rt", "f32", "i16", "i32", "i64", "i8", "metadata", "steps", "str", "u32", "u64", "u8", "usize"];

/// Name of the runner: the configured one, or that of the file (without extension)
/// in `CamelCase`.
///
/// # Errors
///
/// When the configured name is no identifier, or taken.
pub fn type_name(configured: Option<&str>, stem: &str) -> Result<String, Problem> {
    match configured {
        Some(name) if TAKEN.contains(&name) => Err(Problem::new(format!("the generated code uses `{name}`"))
            .at(Location::Key("name".into()))
            .help(format!("for example `{}`", camel_case(name)))),
        Some(name) if is_identifier(name) => Ok(name.to_owned()),
        Some(name) => Err(Problem::new(format!("`{name}` is no Rust identifier"))
            .at(Location::Key("name".into()))
            .help(format!("for example `{}`", camel_case(name)))),
        None => Ok(camel_case(stem)),
    }
}

fn is_identifier(name: &str) -> bool {
    !KEYWORDS.contains(&name)
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// `conv2d_0` becomes `Conv2d0`.
pub(super) fn camel_case(name: &str) -> String {
    let capital = |word: &String| word[..1].to_ascii_uppercase() + &word[1..];
    let name: String = words(name).iter().map(capital).collect();
    if is_identifier(&name) { name } else { format!("Model{}", name.trim_start_matches("Self")) }
}

/// `StatefulPartitionedCall:0` becomes `stateful_partitioned_call_0`.
#[must_use]
pub fn snake_case(name: &str) -> String {
    words(name).join("_")
}

fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    let mut len = 0;
    for c in name.chars() {
        let small_then_capital = before.is_ascii_lowercase() && c.is_ascii_uppercase();
        if !c.is_ascii_alphanumeric() || small_then_capital {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_ascii_alphanumeric(), words.last_mut()) {
            word.push(c.to_ascii_lowercase());
            len += 1;
        }
        if len == MAX_LEN {
            break;
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Gives the inputs and outputs of a runner names that differ, as do the names of
/// the methods and constants made from them.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// Names of which none is one of `taken`.
    pub(super) fn reserving(taken: impl Iterator<Item = String>) -> Self {
        Self { taken: taken.collect() }
    }

    /// A name for the input or output (`role`) that the file calls `name`.
    pub(super) fn port(&mut self, role: &str, name: &str) -> String {
        let snake = snake_case(name);
        let prefixed = if snake.is_empty() { role.to_owned() } else { format!("{role}_{snake}") };
        let numbered = (2..).map(|i| format!("{prefixed}_{i}"));
        let mut candidates = [snake, prefixed.clone()].into_iter().chain(numbered);
        // The candidates do not end, and only finitely many names are taken.
        candidates.find(|name| is_identifier(name) && self.take(name)).unwrap_or(prefixed)
    }

    /// Takes the name and everything derived from it, unless something is taken.
    fn take(&mut self, name: &str) -> bool {
        let derived = [
            name.to_owned(),
            format!("{name}_mut"),
            format!("quantize_{name}"),
            format!("dequantize_{name}"),
        ];
        let is_free = |name: &String| !METHODS.contains(&name.as_str()) && !self.taken.contains(name);
        let free = derived.iter().all(is_free);
        if free {
            self.taken.extend(derived);
        }
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_names() {
        for (stem, expect) in [
            ("kws", "Kws"),
            ("person_detect-v2.1", "PersonDetectV21"),
            ("MobileNetV1", "MobileNetV1"),
            ("model", "Model"),
            ("self", "Model"),
            ("1net", "Model1net"),
            ("größe", "GrE"),
            ("模型", "Model"),
            ("", "Model"),
        ] {
            assert_eq!(type_name(None, stem), Ok(expect.into()), "{stem}");
        }
        assert_eq!(type_name(Some("kws_2"), "x"), Ok("kws_2".into()));
        for name in ["Self", "2", "a b", "", "é", "u8", "steps", "metadata"] {
            assert!(type_name(Some(name), "x").is_err(), "{name}");
        }
        let problem = type_name(Some("my net"), "x").unwrap_err();
        assert_eq!(
            problem.to_string(),
            "key `name`: `my net` is no Rust identifier\n  = help: for example `MyNet`"
        );
    }

    #[test]
    fn port_names() {
        let mut names = Names::default();
        for (role, name, expect) in [
            ("input", "StatefulPartitionedCall:0", "stateful_partitioned_call_0"),
            ("input", "784", "input_784"),
            ("input", "type", "input_type"),
            ("input", "run", "input_run"),
            ("input", "", "input"),
            ("input", "输入", "input_2"),
            ("input", "_x", "x"),
            ("output", "X", "output_x"),
            ("output", "x", "output_x_2"),
            ("output", "x_mut", "output_x_mut_2"),
            ("output", "quantize x", "output_quantize_x"),
            ("output", "dense_1/BiasAdd", "dense_1_bias_add"),
        ] {
            assert_eq!(names.port(role, name), expect, "{name}");
        }
        assert!(names.port("input", &"long ".repeat(99)).len() < 80);
    }
}
