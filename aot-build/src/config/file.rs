//! `aot.toml`: the configuration of all models of a crate.
//!
//! ```toml
//! optimize = "size"          # for every model
//!
//! [pools.dtcm]               # a pool of every model
//! section = ".dtcm"
//!
//! [models.kws]               # for `kws.tflite`, or whatever its extension is
//! ram_limit = 32_768
//!
//! [models.kws.pools.dtcm]    # the same pool, for this model
//! limit = 16_384
//!
//! [models.kws.devices.npu]   # a device that runs some of its nodes
//! operators = ["conv2d"]
//! ```

use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Value};

use super::Config;
use crate::error::{Error, Location, Problem};

type Entry<'i> = (&'i Spanned<std::borrow::Cow<'i, str>>, &'i Spanned<DeValue<'i>>);

impl Config {
    /// Reads the `aot.toml` at `path` for the model `model`: the name of its file,
    /// without extension.
    ///
    /// # Errors
    ///
    /// All problems of the file, those of other models' tables, too: each with line
    /// and column.
    pub fn load(path: &Path, model: &str) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            let problem = Problem::new(format!("cannot read the configuration: {error}"));
            Error::new(path, vec![problem])
        })?;
        Self::parse(&text, model).map_err(|problems| Error::new(path, problems))
    }

    fn parse(text: &str, model: &str) -> Result<Self, Vec<Problem>> {
        let (table, errors) = DeTable::parse_recoverable(text);
        let mut reader = Reader { text, problems: Vec::new() };
        for error in errors {
            reader.problem(error.span().unwrap_or(0..0), Problem::new(error.message()));
        }
        if !reader.problems.is_empty() {
            return Err(reader.problems);
        }
        let mut config = Self::default();
        for (key, value) in table.get_ref() {
            match key.get_ref().as_ref() {
                "models" => {}
                "devices" => reader.devices(&mut config, value),
                "pools" => reader.pools(&mut config, value),
                "name" => {
                    let help = "set it in the table of one model, `[models.NAME]`";
                    let problem = Problem::new("`name` cannot be the same for all models").help(help);
                    reader.problem(key.span(), problem);
                }
                _ => reader.set(&mut config, (key, value), &["models"]),
            }
        }
        if let Some(models) = table.get_ref().get("models") {
            reader.models(&mut config, models, model);
        }
        if reader.problems.is_empty() { Ok(config) } else { Err(reader.problems) }
    }
}

/// Collects problems, and knows where in the text they are.
struct Reader<'t> {
    text: &'t str,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    /// Applies the table of `model`; those of other models are only checked.
    fn models(&mut self, config: &mut Config, models: &Spanned<DeValue<'_>>, model: &str) {
        let Some(tables) = models.get_ref().as_table() else {
            return self.problem(models.span(), no_table("models"));
        };
        for (name, table) in tables {
            let mut other = Config::default();
            let config = if name.get_ref() == model { &mut *config } else { &mut other };
            let Some(entries) = table.get_ref().as_table() else {
                self.problem(table.span(), no_table(&format!("models.{}", name.get_ref())));
                continue;
            };
            for (key, value) in entries {
                match key.get_ref().as_ref() {
                    "devices" => self.devices(config, value),
                    "pools" => self.pools(config, value),
                    _ => self.set(config, (key, value), &[]),
                }
            }
        }
    }

    /// Applies the tables of devices, in the order in which they are written.
    fn devices(&mut self, config: &mut Config, devices: &Spanned<DeValue<'_>>) {
        let Some(tables) = devices.get_ref().as_table() else {
            return self.problem(devices.span(), no_table("devices"));
        };
        let mut tables: Vec<_> = tables.iter().collect();
        tables.sort_by_key(|(name, _)| name.span().start);
        for (name, table) in tables {
            let device = name.get_ref();
            let Some(entries) = table.get_ref().as_table() else {
                self.problem(table.span(), no_table(&format!("devices.{device}")));
                continue;
            };
            for (key, value) in entries {
                self.set_named(config, &format!("devices.{device}.{}", key.get_ref()), (key, value), &[]);
            }
        }
    }

    /// Applies the tables of pools.
    fn pools(&mut self, config: &mut Config, pools: &Spanned<DeValue<'_>>) {
        let Some(tables) = pools.get_ref().as_table() else {
            return self.problem(pools.span(), no_table("pools"));
        };
        for (pool, table) in tables {
            let pool = pool.get_ref();
            let Some(entries) = table.get_ref().as_table() else {
                self.problem(table.span(), no_table(&format!("pools.{pool}")));
                continue;
            };
            // A table without keys makes a pool, too.
            config.pools.entry(pool.to_string()).or_default();
            for (key, value) in entries {
                self.set_named(config, &format!("pools.{pool}.{}", key.get_ref()), (key, value), &[]);
            }
        }
    }

    /// Sets a key of a table that has the keys `others` besides.
    fn set(&mut self, config: &mut Config, entry: Entry<'_>, others: &[&str]) {
        self.set_named(config, entry.0.get_ref(), entry, others);
    }

    /// Sets the key `name`.
    fn set_named(&mut self, config: &mut Config, name: &str, (key, value): Entry<'_>, others: &[&str]) {
        if let Err(problem) = Config::check_key(name, others) {
            return self.problem(key.span(), problem);
        }
        match Value::deserialize(value.clone().into_deserializer()) {
            Ok(plain) => {
                if let Err(problem) = config.set(name, plain) {
                    self.problem(value.span(), problem);
                }
            }
            Err(error) => self.problem(value.span(), Problem::new(error.message())),
        }
    }

    fn problem(&mut self, span: Range<usize>, problem: Problem) {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let location = Location::Text {
            line: before.matches('\n').count() + 1,
            column: before[start..].chars().count() + 1,
        };
        self.problems.push(problem.at(location));
    }
}

fn no_table(name: &str) -> Problem {
    let group = name.split('.').next().unwrap_or(name);
    Problem::new(format!("`{name}` is no table")).help(format!("write `[{group}.NAME]`, the keys below it"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use aot_rt::Activate;

    use crate::config::{Device, InputPlacement, Optimize, Pool};

    const FILE: &str = r#"
optimize = "size"
ram_limit = 100_000

[models.kws]
ram_limit = 32_768
name = "Keyword"

[models."net-v2"]
inputs = "caller"
"#;

    #[test]
    fn a_models_table_overrides_the_defaults() {
        let defaults = Config { optimize: Optimize::Size, ram_limit: Some(100_000), ..Config::default() };
        for (model, expect) in [
            ("other", defaults.clone()),
            ("kws", Config { ram_limit: Some(32_768), name: Some("Keyword".into()), ..defaults.clone() }),
            ("net-v2", Config { inputs: InputPlacement::Caller, ..defaults.clone() }),
        ] {
            assert_eq!(Config::parse(FILE, model).unwrap(), expect, "{model}");
        }
    }

    #[test]
    fn devices_stand_in_the_order_of_the_file() {
        let file = "[devices.b]\noperators = [\"add\"]\nkind = \"dsp\"\n[devices.a]\nnodes = [\"x\"]\n\
                    [models.kws.devices.b]\noperators = [\"relu\"]\nactivate = \"caller\"";
        let names = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        let b = Device { name: "b".into(), kind: Some("dsp".into()), ..Device::default() };
        let a = Device { name: "a".into(), nodes: names(&["x"]), ..Device::default() };
        let mut devices = [Device { operators: names(&["add"]), ..b.clone() }, a];
        assert_eq!(Config::parse(file, "other").unwrap().devices, devices);
        devices[0] = Device { operators: names(&["relu"]), activate: Activate::Caller, ..b };
        assert_eq!(Config::parse(file, "kws").unwrap().devices, devices);
    }

    #[test]
    fn a_models_pools_override_key_by_key() {
        let file = "[pools.a]\nlimit = 8\ncost = 2\n[pools.b]\n[models.kws.pools.a]\nlimit = 16";
        let a = |limit| Pool { limit: Some(limit), cost: 2, ..Pool::default() };
        for (model, limit) in [("kws", 16), ("other", 8)] {
            let pools = Config::parse(file, model).unwrap().pools;
            let expect = [("a".to_owned(), a(limit)), ("b".to_owned(), Pool::default())];
            assert_eq!(pools, expect.into(), "{model}");
        }
    }

    #[test]
    fn problems_say_where() {
        for (text, expect) in [
            ("optimise = \"size\"", "line 1, column 1: `optimise` is no configuration key"),
            (
                "\n\n[models.other]\n  ram_limit = \"1\"",
                "line 4, column 15: `ram_limit` is a number of bytes",
            ),
            ("[model.a]\nname = \"A\"", "line 1, column 2: `model` is no configuration key"),
            ("name = \"A\"", "line 1, column 1: `name` cannot be the same for all models"),
            ("models = 3", "line 1, column 10: `models` is no table"),
            ("models.kws = 3", "line 1, column 14: `models.kws` is no table"),
            ("[devices.a]\n kind = 1", "line 2, column 9: `kind` of device `a` is a name of small letters"),
            (
                "[devices.a]\n patterns = [[\"relu\"]]",
                "line 2, column 13: `patterns` of device `a` is a list of",
            ),
            ("[models.x.devices.a]\n kinds = 1", "line 2, column 2: `kinds` is no key of device `a`"),
            ("[devices.\"a b\"]\n kind = \"b\"", "line 2, column 2: a device cannot be called `a b`"),
            ("devices = 1", "line 1, column 11: `devices` is no table"),
            ("devices.a = 1", "line 1, column 13: `devices.a` is no table"),
            ("optimize = ", "line 1, column 12: string values must be quoted"),
            ("ram_limit = 99999999999999999999", "line 1, column 13: "),
            ("[pools.a]\n limit = \"1\"", "line 2, column 10: `limit` of pool `a` is a number of bytes"),
            ("[models.x.pools.a]\n limits = 1", "line 2, column 2: `limits` is no key of pool `a`"),
            ("[pools.\"a b\"]\n limit = 1", "line 2, column 2: a pool cannot be named `a b`"),
            ("pools = 1", "line 1, column 9: `pools` is no table"),
            ("pools.a = 1", "line 1, column 11: `pools.a` is no table"),
        ] {
            let problems = Config::parse(text, "kws").unwrap_err();
            assert!(problems[0].to_string().starts_with(expect), "{text}: {}", problems[0]);
        }
    }

    #[test]
    fn all_problems_come_together() {
        let problems = Config::parse("a = 1\n[models.x]\nb = 1\n[models.y]\noptimize = 1", "z").unwrap_err();
        assert_eq!(problems.len(), 3);
        let help = problems[0].help.clone().unwrap();
        assert!(help.ends_with("`models`, `devices`, `pools`"), "{help}");
    }
}
