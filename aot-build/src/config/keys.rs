//! The keys: one table gives their names, values, documentation and messages.

use std::fmt::{self, Write as _};

use serde::de::DeserializeOwned;
use toml::Value;

use super::devices::{check_device_key, device_key};
use super::pools::check_pool_key;
use super::{Config, Device};
use crate::codegen::type_name;
use crate::error::Problem;
use crate::nearest::nearest;

/// A key of the configuration, or of a table in it, which is a `T`.
pub struct Key<T = Config> {
    /// Name.
    pub name: &'static str,
    /// The values it takes, to be read after "is": `one of "speed", "size"`.
    pub values: &'static str,
    /// What holds without it.
    pub default: &'static str,
    /// What it does.
    pub meaning: &'static str,
    /// Sets it; `None` when the value is not one of `values`.
    pub(super) set: fn(&mut T, Value) -> Option<()>,
}

impl Config {
    /// Every key, in the order of the documentation.
    pub const KEYS: &'static [Key] = &[
        Key {
            name: "name",
            values: "a name of a Rust type",
            default: "the file's: `kws_small.tflite` gives `KwsSmall`",
            meaning: "name of the generated type",
            set: |config, value| {
                let name = choice::<String>(value)?;
                config.name = Some(type_name(Some(&name), "").ok()?);
                Some(())
            },
        },
        Key {
            name: "optimize",
            values: r#"one of "speed", "size""#,
            default: r#""speed""#,
            meaning: "compile kernels for the extents of each layer where that pays, \
                      or let one instance of each kernel serve all layers",
            set: |config, value| choice(value).map(|value| config.optimize = value),
        },
        Key {
            name: "calls",
            values: r#"one of "direct", "packed", "registry""#,
            default: r#""direct""#,
            meaning: "how steps call their kernels: typed functions, functions of one signature for all kernels, \
                      or such functions bound by name when the program starts; the latter two are not \
                      compiled for the extents of each layer",
            set: |config, value| choice(value).map(|value| config.calls = value),
        },
        Key {
            name: "rounding",
            values: r#"one of "double", "single""#,
            default: r#""double""#,
            meaning: "how often the integer arithmetic rounds: twice as TensorFlow Lite Micro does, \
                      or once as builds with `TFLITE_SINGLE_ROUNDING` do",
            set: |config, value| choice(value).map(|value| config.rounding = value),
        },
        Key {
            name: "inputs",
            values: r#"one of "workspace", "caller", "rows""#,
            default: r#""workspace""#,
            meaning: "whether the inputs share the workspace with the activations, \
                      are buffers that the caller passes to `run`, or one input is pushed row by row",
            set: |config, value| choice(value).map(|value| config.inputs = value),
        },
        Key {
            name: "outputs",
            values: r#"one of "workspace", "caller""#,
            default: r#""workspace""#,
            meaning: "whether the outputs share the workspace, or are the caller's buffers",
            set: |config, value| choice(value).map(|value| config.outputs = value),
        },
        Key {
            name: "keep",
            values: "a list of names of tensors",
            default: "none",
            meaning: "tensors of the model file that can be read after a run, beside the outputs",
            set: |config, value| choice(value).map(|value| config.keep = value),
        },
        Key {
            name: "memory",
            values: r#"one of "auto", "min""#,
            default: r#""auto""#,
            meaning: "whether layers run row by row, which takes less RAM and more time: \
                      only where the model exceeds `ram_limit` otherwise, or wherever it helps",
            set: |config, value| choice(value).map(|value| config.memory = value),
        },
        Key {
            name: "planner",
            values: r#"one of "none", "storage_tokens", "greedy_by_size", "greedy_by_conflicts", "hill_climb", "optimal""#,
            default: r#""optimal""#,
            meaning: "how places in the workspace are chosen; all but the default are for comparison",
            set: |config, value| {
                config.planner = choice::<String>(value)?.parse().ok()?;
                Some(())
            },
        },
        Key {
            name: "ram_limit",
            values: "a number of bytes",
            default: "2 147 483 647",
            meaning: "most RAM that the workspace may take; a model that needs more does not compile",
            set: |config, value| choice(value).map(|value| config.ram_limit = Some(value)),
        },
        Key {
            name: "flash_limit",
            values: "a number of bytes",
            default: "2 147 483 647",
            meaning: "most flash that the constants may take; a model that needs more does not compile",
            set: |config, value| choice(value).map(|value| config.flash_limit = Some(value)),
        },
        Key {
            name: "model_limit",
            values: "a number of bytes",
            default: "1 073 741 824",
            meaning: "most bytes of the model file and of the files that it names, together",
            set: |config, value| choice(value).map(|value| config.model_limit = value),
        },
        Key {
            name: "source_limit",
            values: "a number of bytes",
            default: "16 777 216",
            meaning: "most bytes of generated source, constants not counted",
            set: |config, value| choice(value).map(|value| config.source_limit = value),
        },
        Key {
            name: "search_limit",
            values: "a number of steps",
            default: "4 200 000",
            meaning: "how far each search may go, for an order of the layers, for runs of rows and for places \
                      in the workspace; it stops with the best that it has found",
            set: |config, value| choice(value).map(|value| config.search_limit = value),
        },
        Key {
            name: "max_step_macs",
            values: "a number, at least 1",
            default: "no limit",
            meaning: "most multiply-accumulates of a step, for runs that go step by step: larger steps are divided",
            set: |config, value| choice(value).map(|value| config.max_step_macs = Some(value)),
        },
        Key {
            name: "batch",
            values: "a number, at least 1",
            default: "what the file states, mostly 1",
            meaning: "the first extent of inputs, where a TFLite file leaves it open (-1 in its signature)",
            set: |config, value| choice(value).map(|value| config.batch = Some(value)),
        },
        Key {
            name: "shapes",
            values: "a list of shapes, one for each input",
            default: "what the file states",
            meaning: "the inputs' shapes, where a TFLite file leaves extents open: `[[1, 96, 96, 3]]`",
            set: |config, value| choice(value).map(|value| config.shapes = value),
        },
        Key {
            name: "signature",
            values: "a name",
            default: "the first subgraph",
            meaning: "the signature of a TFLite file that is compiled: a subgraph, its inputs and outputs",
            set: |config, value| choice(value).map(|value| config.signature = Some(value)),
        },
        Key {
            name: "subgraph",
            values: "a name",
            default: "the first subgraph",
            meaning: "the subgraph of a TFLite file that is compiled, where no signature leads to it",
            set: |config, value| choice(value).map(|value| config.subgraph = Some(value)),
        },
    ];

    /// Sets one key; `devices.NAME.KEY` is a key of a device, `pools.NAME.KEY` of a pool.
    ///
    /// # Errors
    ///
    /// An unknown key, see [`Config::check_key`]; a wrong value: the problem says what
    /// is expected.
    pub fn set(&mut self, name: &str, value: Value) -> Result<(), Problem> {
        if let Some((device, key)) = device_key(name) {
            return self.set_of_device(device, key, value);
        }
        if let Name::Pool { pool, key } = Name::parse(name) {
            return self.set_of_pool(pool, key, value);
        }
        let Some(key) = Self::KEYS.iter().find(|key| key.name == name) else {
            return Err(unknown_key(name, &[]));
        };
        let found = show(&value);
        (key.set)(self, value)
            .ok_or_else(|| Problem::new(format!("`{name}` is {}; found {found}", key.values)))
    }

    /// Checks that `name` is a key, or one of `others`, which the place it stands in
    /// has besides.
    ///
    /// # Errors
    ///
    /// The problem names the nearest key and lists all.
    pub fn check_key(name: &str, others: &[&str]) -> Result<(), Problem> {
        if let Some((device, key)) = device_key(name) {
            return check_device_key(device, key);
        }
        if let Name::Pool { pool, key } = Name::parse(name) {
            return check_pool_key(pool, key);
        }
        let known = Self::KEYS.iter().any(|key| key.name == name) || others.contains(&name);
        if known { Ok(()) } else { Err(unknown_key(name, others)) }
    }

    /// All keys as a table in Markdown, for documentation.
    #[must_use]
    pub fn keys_markdown() -> String {
        markdown(Self::KEYS)
    }
}

impl Device {
    /// The keys of a device as a table in Markdown.
    #[must_use]
    pub fn keys_markdown() -> String {
        markdown(Self::KEYS)
    }
}

fn markdown<T>(keys: &[Key<T>]) -> String {
    let mut table = "| key | value | without it | meaning |\n| --- | --- | --- | --- |\n".to_owned();
    for Key { name, values, default, meaning, .. } in keys {
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| `{name}` | {values} | {default} | {meaning} |");
    }
    table
}

/// A key's name: of the configuration itself, or of a table in it.
pub(crate) enum Name<'n> {
    /// `optimize`.
    Plain(&'n str),
    /// `pools.dtcm.limit`.
    Pool {
        /// The pool.
        pool: &'n str,
        /// The key in its table.
        key: &'n str,
    },
}

impl<'n> Name<'n> {
    fn parse(name: &'n str) -> Self {
        let pool = name.strip_prefix("pools.").and_then(|rest| rest.rsplit_once('.'));
        pool.map_or(Self::Plain(name), |(pool, key)| Self::Pool { pool, key })
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(name) => f.write_str(name),
            Self::Pool { pool, key } => write!(f, "pools.{pool}.{key}"),
        }
    }
}

fn unknown_key(name: &str, others: &[&str]) -> Problem {
    let names = Config::KEYS.iter().map(|key| key.name).chain(others.iter().copied());
    let names: Vec<_> = names.chain(["devices", "pools"]).collect();
    let list = format!("the keys are `{}`", names.join("`, `"));
    let help = match nearest(name, names) {
        Some(near) => format!("did you mean `{near}`? {list}"),
        None => list,
    };
    Problem::new(format!("`{name}` is no configuration key")).help(help)
}

/// A value as its type reads it.
pub(super) fn choice<T: DeserializeOwned>(value: Value) -> Option<T> {
    value.try_into().ok()
}

/// A value for a message: as it was written where that is short.
pub(super) fn show(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::Boolean(flag) => flag.to_string(),
        Value::Datetime(time) => time.to_string(),
        Value::Array(_) => "an array".to_owned(),
        Value::Table(_) => "a table".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Optimize;

    #[test]
    fn set_cases() {
        for (key, value, expect) in [
            ("optimize", Value::from("size"), Ok(())),
            ("ram_limit", Value::from(32_768), Ok(())),
            ("name", Value::from("Kws"), Ok(())),
            (
                "optimize",
                Value::from("fast"),
                Err("`optimize` is one of \"speed\", \"size\"; found \"fast\""),
            ),
            ("optimize", Value::from(true), Err("`optimize` is one of \"speed\", \"size\"; found true")),
            ("ram_limit", Value::from(-1), Err("`ram_limit` is a number of bytes; found -1")),
            ("ram_limit", Value::from("1"), Err("`ram_limit` is a number of bytes; found \"1\"")),
            (
                "inputs",
                Value::Array(Vec::new()),
                Err("`inputs` is one of \"workspace\", \"caller\", \"rows\"; found an array"),
            ),
            ("name", Value::from("3d"), Err("`name` is a name of a Rust type; found \"3d\"")),
        ] {
            let result = Config::default().set(key, value).map_err(|problem| problem.message);
            assert_eq!(result, expect.map_err(str::to_owned), "{key}");
        }
        let mut config = Config::default();
        config.set("optimize", "size".into()).unwrap();
        assert_eq!(config, Config { optimize: Optimize::Size, ..Config::default() });
    }

    #[test]
    fn an_unknown_key_gets_the_nearest_and_the_list() {
        let problem = Config::default().set("ram_limits", 1.into()).unwrap_err();
        assert_eq!(
            problem.to_string(),
            "`ram_limits` is no configuration key\n  = help: did you mean `ram_limit`? the keys are `name`, \
             `optimize`, `calls`, `rounding`, `inputs`, `outputs`, `keep`, `memory`, `planner`, `ram_limit`, `flash_limit`, \
             `model_limit`, `source_limit`, `search_limit`, `max_step_macs`, `batch`, `shapes`, `signature`, `subgraph`, \
             `devices`, `pools`"
        );
        let problem = Config::default().set("colour", 1.into()).unwrap_err();
        assert!(problem.help.unwrap().starts_with("the keys are"));
    }

    /// The limits that hold without a key are the documented ones.
    #[test]
    fn documented_limits_are_the_defaults() {
        for key in Config::KEYS.iter().filter(|key| key.name.ends_with("_limit")) {
            let default: i64 = key.default.replace(' ', "").parse().unwrap();
            let mut config = Config::default();
            config.set(key.name, default.into()).unwrap();
            for limit in [&mut config.ram_limit, &mut config.flash_limit] {
                *limit = limit.filter(|limit| *limit != Config::ADDRESSABLE);
            }
            assert_eq!(config, Config::default(), "the default of `{}`", key.name);
        }
    }

    /// The table says of each key exactly the values that it takes.
    #[test]
    fn documented_values_can_be_set() {
        for key in Config::KEYS {
            let Some(values) = key.values.strip_prefix("one of ") else { continue };
            for value in values.split(", ") {
                let value = value.trim_matches('"');
                Config::default().set(key.name, value.into()).unwrap();
            }
            let default = key.default.trim_matches('"');
            let mut config = Config::default();
            config.set(key.name, default.into()).unwrap();
            assert_eq!(config, Config::default(), "the default of `{}`", key.name);
        }
    }
}
