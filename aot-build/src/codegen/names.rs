//! Rust identifiers for the names in model files and configurations: one rule, which
//! `docs/names.md` describes for users.
//!
//! A name is split where letters and digits end and where a capital follows a small letter;
//! what is not ASCII separates words; the first 40 letters and digits count; the words make
//! `snake_case` (values) or `CamelCase` (types).
//!
//! - Names of a *file* cannot be chosen, so each gets an identifier ([`Names::port`]): one that
//!   is empty then, starts with a digit, is a keyword, a name of generated code, or taken, gets
//!   what it names in front, as `input_784`, `output_type`, and then a number.
//! - Names of a *configuration* can be chosen: where two become the same, or one becomes no
//!   identifier, that is an error ([`configured`]).

use std::collections::{HashMap, HashSet};

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

/// Names that generated code has for something else: methods, parameters and variables. No
/// tensor, device or pool is called so.
const RESERVED: &[&str] = &[
    "activate",
    "bind",
    "clone",
    "context",
    "deactivate",
    "default",
    "devices",
    "done",
    "drop",
    "feed_row",
    "feed_row_with",
    "fill_workspace",
    "finish",
    "finish_with",
    "fmt",
    "has_constants",
    "has_state",
    "inputs",
    "instrument",
    "into_inner",
    "kernels",
    "layer",
    "load_constants",
    "metadata",
    "new",
    "next_counter",
    "outputs",
    "part",
    "part_mut",
    "position",
    "program_counter",
    "pushed",
    "reset",
    "restart",
    "result",
    "row",
    "rows",
    "run",
    "run_async",
    "run_async_with",
    "run_bytes",
    "run_bytes_with",
    "run_in_place",
    "run_in_place_with",
    "run_steps",
    "run_until",
    "run_with",
    "start",
    "start_in_place",
    "start_in_place_with",
    "start_with",
    "step",
    "take",
    "take_row",
    "workspace",
];

/// What follows the runner's name in the names of types made beside it: `NetInputs`. No device
/// or pool is called so.
const TYPES: [&str; 9] =
    ["Devices", "Error", "Inputs", "Kernels", "Metadata", "Outputs", "Run", "Tensors", "Workspaces"];

/// Names that a type must not have, as generated code uses them for something else.
const TAKEN: [&str; 20] = [
    "aot_rt", "bool", "char", "f32", "f64", "i128", "i16", "i32", "i64", "i8", "isize", "metadata", "steps",
    "str", "u128", "u16", "u32", "u64", "u8", "usize",
];

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

/// Name of the module that holds the code of a type: no two types have the same.
pub(super) fn module_name(type_name: &str) -> String {
    let snake = snake_case(type_name);
    // `Kws` and `KWS` are the same in `snake_case`, which never has two underscores.
    if camel_case(&snake) == type_name { format!("aot_{snake}") } else { format!("aot__{type_name}") }
}

/// Identifiers for the names that a configuration gives to devices and the like, under `key`,
/// in their order.
///
/// # Errors
///
/// Names that become the same, and those that become no identifier or one that generated code
/// has for something else. See also [`check_types`].
pub fn configured<'n>(
    key: &str,
    names: impl IntoIterator<Item = &'n str> + Clone,
) -> Result<Vec<String>, Problem> {
    let identifier = |name: &str| {
        let identifier = snake_case(name);
        if !is_identifier(&identifier) {
            return Err(refused(
                key,
                format!("`{name}` becomes `{identifier}`, which is no Rust identifier"),
            ));
        }
        if RESERVED.contains(&identifier.as_str()) {
            let message =
                format!("`{name}` becomes `{identifier}`, which generated code has for something else");
            return Err(refused(key, message));
        }
        Ok(identifier)
    };
    let identifiers = names.clone().into_iter().map(identifier).collect::<Result<_, _>>()?;
    check_types(key, names).map(|()| identifiers)
}

/// Checks that types which are called after names of a configuration, `NetDtcm` after `dtcm`,
/// are none that every runner has, and differ.
///
/// # Errors
///
/// The first that is, and the first two that do not.
pub fn check_types<'n>(key: &str, names: impl IntoIterator<Item = &'n str>) -> Result<(), Problem> {
    let mut known = HashMap::new();
    for name in names {
        let part = camel_case(name);
        if TYPES.contains(&part.as_str()) {
            let message = format!("a type for `{name}` would be called as the `{part}` of a runner");
            return Err(refused(key, message));
        }
        if let Some(other) = known.insert(part.clone(), name) {
            return Err(refused(key, format!("`{other}` and `{name}` both become `{part}` in Rust")));
        }
    }
    Ok(())
}

fn refused(key: &str, message: String) -> Problem {
    Problem::new(message).at(Location::Key(key.into())).help("choose another name")
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

/// Whether a name is one that [`snake_case`] leaves as it is, and no keyword.
pub(crate) fn is_snake_case(name: &str) -> bool {
    is_identifier(name) && snake_case(name) == name
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

/// Gives tensors of a model file names that differ, as do the names of the methods and
/// constants made from them.
#[derive(Debug)]
pub(super) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// Names other than those in `taken`, and those of every runner.
    pub(super) fn new(taken: impl IntoIterator<Item = String>) -> Self {
        let reserved = RESERVED.iter().map(|name| (*name).to_owned());
        Self { taken: reserved.chain(taken).collect() }
    }

    /// A name for what the file calls `name` and is an input, an output, or the like (`role`).
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
        let free = derived.iter().all(|name| !self.taken.contains(name));
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
        for name in ["Self", "2", "a b", "", "é", "u8", "bool", "steps", "metadata", "_"] {
            assert!(type_name(Some(name), "x").is_err(), "{name}");
        }
        let problem = type_name(Some("my net"), "x").unwrap_err();
        assert_eq!(
            problem.to_string(),
            "key `name`: `my net` is no Rust identifier\n  = help: for example `MyNet`"
        );
    }

    #[test]
    fn modules_of_types_differ() {
        let types = ["Kws", "KWS", "kws", "kWs", "Kws2", "Kws_2", "_Kws", "__", "___", "Conv2D", "Conv2d"];
        let long = ["A", "B"].map(|end| format!("{}{end}", "Long".repeat(20)));
        let types: Vec<String> = types.iter().map(ToString::to_string).chain(long).collect();
        let modules: HashSet<_> = types.iter().map(|name| module_name(name)).collect();
        assert_eq!(modules.len(), types.len(), "{modules:?}");
        assert_eq!(module_name("KeywordSpotter"), "aot_keyword_spotter");
        assert_eq!(module_name("KWS"), "aot__KWS");
    }

    #[test]
    fn configured_names() {
        assert_eq!(configured("devices", ["npu", "DSP 2"]), Ok(vec!["npu".into(), "dsp_2".into()]));
        for (names, expect) in [
            (["NPU-1", "npu_1"], "`NPU-1` and `npu_1` both become `Npu1` in Rust"),
            (["npu_1", "npu1"], "`npu_1` and `npu1` both become `Npu1` in Rust"),
            (["npu", "温度"], "`温度` becomes ``, which is no Rust identifier"),
            (["2nd", "npu"], "`2nd` becomes `2nd`, which is no Rust identifier"),
            (["loop", "npu"], "`loop` becomes `loop`, which is no Rust identifier"),
            (["npu", "Run"], "`Run` becomes `run`, which generated code has for something else"),
            (["error", "npu"], "a type for `error` would be called as the `Error` of a runner"),
        ] {
            let problem = configured("devices", names).unwrap_err();
            assert_eq!(
                problem.to_string(),
                format!("key `devices`: {expect}\n  = help: choose another name")
            );
        }
    }

    #[test]
    fn lists_are_sorted() {
        assert!(RESERVED.is_sorted() && TYPES.is_sorted() && TAKEN.is_sorted() && KEYWORDS.is_sorted());
    }

    #[test]
    fn port_names() {
        let mut names = Names::new(["conv2d_0".to_owned()]);
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
            ("output", "conv2d_0", "output_conv2d_0"),
            ("output", "Self", "output_self"),
            ("tensor", "x", "tensor_x"),
            ("tensor", "größe\0", "gr_e"),
        ] {
            assert_eq!(names.port(role, name), expect, "{name}");
        }
        assert!(names.port("input", &"long ".repeat(99)).len() < 80);
    }
}
