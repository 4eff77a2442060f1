//! Pools: named pieces of memory, each with a table of keys, `[pools.NAME]`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use toml::Value;

use super::keys::{choice, show};
use super::{Config, Name};
use crate::codegen::check_types;
use crate::error::{Location, Problem};
use crate::nearest::nearest;
use crate::program::CPU;

/// What a pool holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PoolKind {
    /// Activations, inputs, outputs and states.
    #[default]
    Workspace,
    /// Weights, biases and tables.
    Constants,
}

/// A named piece of the target's memory.
///
/// ```
/// use aot_build::config::Pool;
///
/// let dtcm = Pool { limit: Some(131_072), section: Some(".dtcm".into()), ..Pool::default() };
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize)]
pub struct Pool {
    /// What it holds.
    pub kind: PoolKind,
    /// Most bytes of it that may be used.
    pub limit: Option<usize>,
    /// What its start and every tensor in it are aligned to, in bytes: a power of two.
    pub alignment: Option<usize>,
    /// The link section that it is put into.
    pub section: Option<String>,
    /// Units that reach it, `cpu` or names of devices; all without it.
    pub reach: Option<Vec<String>>,
    /// What it costs to read or write a byte, in any unit: what is used most lies where that
    /// costs least.
    pub cost: u32,
    /// Whether constants are copied to it before the first run; else they stay in flash.
    pub copy: bool,
}

impl Pool {
    /// Largest alignment: a page.
    pub const MAX_ALIGNMENT: usize = 4096;

    /// Whether `unit`, `cpu` or a device, reaches it.
    #[must_use]
    pub fn is_reached_by(&self, unit: &str) -> bool {
        self.reach.as_ref().is_none_or(|units| units.iter().any(|name| name == unit))
    }
}

/// A key of a pool's table.
struct PoolKey {
    name: &'static str,
    values: &'static str,
    default: &'static str,
    meaning: &'static str,
    set: fn(&mut Pool, Value) -> Option<()>,
}

const KEYS: &[PoolKey] = &[
    PoolKey {
        name: "kind",
        values: r#"one of "workspace", "constants""#,
        default: r#""workspace""#,
        meaning: "whether it holds activations, or weights and tables",
        set: |pool, value| choice(value).map(|value| pool.kind = value),
    },
    PoolKey {
        name: "limit",
        values: "a number of bytes",
        default: "as many as are needed",
        meaning: "most bytes of it that may be used; a model that needs more does not compile",
        set: |pool, value| choice(value).map(|value| pool.limit = Some(value)),
    },
    PoolKey {
        name: "alignment",
        values: "a power of two, at most 4096",
        default: "16 for the pool, what their elements ask for for tensors",
        meaning: "what the start of the pool and of every tensor in it is aligned to",
        set: |pool, value| {
            pool.alignment = Some(choice(value).filter(|value| is_alignment(*value))?);
            Some(())
        },
    },
    PoolKey {
        name: "section",
        values: "a name of a link section",
        default: "the linker's choice",
        meaning: "where the linker puts it",
        set: |pool, value| {
            pool.section = Some(choice(value).filter(|value: &String| is_section(value))?);
            Some(())
        },
    },
    PoolKey {
        name: "reach",
        values: r#"a list of units, `"cpu"` and names of devices"#,
        default: "all",
        meaning: "which units can read and write it",
        set: |pool, value| {
            pool.reach = Some(choice(value).filter(|units: &Vec<String>| !units.is_empty())?);
            Some(())
        },
    },
    PoolKey {
        name: "cost",
        values: "a number",
        default: "0",
        meaning: "what a byte read or written costs, in any unit: what is used most lies where that is least",
        set: |pool, value| choice(value).map(|value| pool.cost = value),
    },
    PoolKey {
        name: "copy",
        values: "one of true, false",
        default: "false",
        meaning: "whether constants are copied to it before the first run; else they stay in flash",
        set: |pool, value| choice(value).map(|value| pool.copy = value),
    },
];

/// Names of pools that generated code uses for something else: `ARENA_BYTES`, `NetInputs`.
const TAKEN: [&str; 9] =
    ["arena", "constant", "devices", "error", "inputs", "kernels", "outputs", "run", "state"];

fn is_alignment(bytes: usize) -> bool {
    bytes.is_power_of_two() && bytes <= Pool::MAX_ALIGNMENT
}

/// Whether a name can stand in source as it is.
fn is_section(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_graphic() && c != '"' && c != '\\')
}

/// Whether `name` makes a field, a constant and a type of the generated code.
fn is_pool_name(name: &str) -> bool {
    let letters = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    letters && name.starts_with(|c: char| c.is_ascii_lowercase()) && name.len() <= 40 && !name.ends_with('_')
}

impl Config {
    /// Sets a key of a pool, and makes the pool if there is none of this name.
    ///
    /// # Errors
    ///
    /// A name that no pool can have, an unknown key, a wrong value.
    pub(super) fn set_of_pool(&mut self, name: &str, key: &str, value: Value) -> Result<(), Problem> {
        check_pool_name(name)?;
        let Some(key) = KEYS.iter().find(|known| known.name == key) else {
            return Err(unknown_key(name, key));
        };
        let found = show(&value);
        let pool = self.pools.entry(name.to_owned()).or_default();
        (key.set)(pool, value).ok_or_else(|| {
            Problem::new(format!("`{}` of pool `{name}` is {}; found {found}", key.name, key.values))
        })
    }

    /// The pools of activations in the order in which they are filled; one where there is none.
    pub(crate) fn workspaces(&self) -> Vec<(String, Pool)> {
        self.pools_of_kind(PoolKind::Workspace, "workspace")
    }

    /// The pools of constants in the order in which they are filled; one where there is none.
    pub(crate) fn constant_pools(&self) -> Vec<(String, Pool)> {
        self.pools_of_kind(PoolKind::Constants, "constants")
    }

    fn pools_of_kind(&self, kind: PoolKind, without: &str) -> Vec<(String, Pool)> {
        let pools = self.pools.iter().filter(|(_, pool)| pool.kind == kind);
        let mut pools: Vec<_> = pools.map(|(name, pool)| (name.clone(), pool.clone())).collect();
        pools.sort_by_key(|(_, pool)| pool.cost);
        if pools.is_empty() {
            pools.push((without.to_owned(), Pool { kind, ..Pool::default() }));
        }
        pools
    }

    /// The pools of a region, whose workspace is a tensor of the program around it: one that
    /// lets its tensors be aligned in all of those.
    pub(crate) fn pools_within(&self) -> BTreeMap<String, Pool> {
        let alignment = self.workspaces().iter().filter_map(|(_, pool)| pool.alignment).max();
        BTreeMap::from([("workspace".to_owned(), Pool { alignment, ..Pool::default() })])
    }

    /// Bytes that all pools of activations have, if all are limited.
    pub(crate) fn workspace_limit(&self) -> Option<usize> {
        let limits = self.workspaces().into_iter().map(|(_, pool)| pool.limit);
        limits.sum::<Option<usize>>().into_iter().chain(self.ram_limit).min()
    }

    /// What is wrong with the pools as they are: not all come from [`set`](Self::set), and keys
    /// may contradict each other.
    pub(crate) fn check_pools(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (name, pool) in &self.pools {
            let at = |key: &str| Location::Key(Name::Pool { pool: name, key }.to_string());
            let mut problem = |key: &str, message: &str| {
                problems.push(Problem::new(format!("pool `{name}`: {message}")).at(at(key)));
            };
            if pool.copy && pool.kind != PoolKind::Constants {
                problem("copy", "only constants are copied");
            }
            if pool.alignment.is_some_and(|bytes| !is_alignment(bytes)) {
                problem("alignment", "the alignment is a power of two, at most 4096");
            }
            if pool.section.as_deref().is_some_and(|section| !is_section(section)) {
                problem("section", "this is no name of a link section");
            }
            problems.extend(check_pool_name(name).err());
        }
        problems.extend(self.check_reach(self.devices.iter().map(|device| device.name.as_str())));
        problems.extend(check_types("pools", self.pools.keys().map(String::as_str)).err());
        problems
    }

    /// The units in `reach` that there are not: neither `cpu` nor one of `devices`.
    pub(crate) fn check_reach<'d>(&self, devices: impl Iterator<Item = &'d str>) -> Vec<Problem> {
        let units: Vec<&str> = [CPU].into_iter().chain(devices).collect();
        let mut problems = Vec::new();
        for (name, pool) in &self.pools {
            let unknown = pool.reach.iter().flatten().filter(|unit| !units.contains(&unit.as_str()));
            problems.extend(unknown.map(|unit| {
                let list = format!("the units are `{}`", units.join("`, `"));
                let help = match nearest(unit, units.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`? {list}"),
                    None => list,
                };
                Problem::new(format!("pool `{name}`: there is no unit `{unit}`"))
                    .at(Location::Key(Name::Pool { pool: name, key: "reach" }.to_string()))
                    .help(help)
            }));
        }
        problems
    }

    /// The pools for one of several models that share them: units that it has not are left out.
    pub(crate) fn pools_of(&self, model: &Self) -> BTreeMap<String, Pool> {
        let is_known = |unit: &String| unit == CPU || model.devices.iter().any(|device| device.name == *unit);
        let mut pools = self.pools.clone();
        pools.values_mut().filter_map(|pool| pool.reach.as_mut()).for_each(|units| units.retain(is_known));
        pools
    }

    /// The keys of pools as a table in Markdown, for documentation.
    #[must_use]
    pub fn pool_keys_markdown() -> String {
        let mut table = "| key | value | without it | meaning |\n| --- | --- | --- | --- |\n".to_owned();
        for PoolKey { name, values, default, meaning, .. } in KEYS {
            // Writing to a string cannot fail.
            let _ = writeln!(table, "| `{name}` | {values} | {default} | {meaning} |");
        }
        table
    }
}

/// Checks the name of a pool.
fn check_pool_name(name: &str) -> Result<(), Problem> {
    if !is_pool_name(name) {
        let message = format!("a pool cannot be named `{name}`");
        return Err(Problem::new(message)
            .help("the name is a word of small letters, digits and `_`: `dtcm`, `sram_1`"));
    }
    if TAKEN.contains(&name) {
        return Err(Problem::new(format!("a pool cannot be named `{name}`: generated code uses that name")));
    }
    Ok(())
}

pub(super) fn check_pool_key(pool: &str, key: &str) -> Result<(), Problem> {
    check_pool_name(pool)?;
    if KEYS.iter().any(|known| known.name == key) { Ok(()) } else { Err(unknown_key(pool, key)) }
}

fn unknown_key(pool: &str, key: &str) -> Problem {
    let names: Vec<_> = KEYS.iter().map(|key| key.name).collect();
    let list = format!("a pool has the keys `{}`", names.join("`, `"));
    let help = match nearest(key, names) {
        Some(near) => format!("did you mean `{near}`? {list}"),
        None => list,
    };
    Problem::new(format!("`{key}` is no key of pool `{pool}`")).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_pools() {
        for (key, value, expect) in [
            ("pools.dtcm.limit", Value::from(1024), Ok(())),
            ("pools.dtcm.kind", "constants".into(), Ok(())),
            ("pools.dtcm.alignment", 32.into(), Ok(())),
            ("pools.dtcm.section", ".dtcm".into(), Ok(())),
            ("pools.dtcm.reach", Value::Array(vec!["cpu".into()]), Ok(())),
            ("pools.dtcm.cost", 3.into(), Ok(())),
            ("pools.dtcm.copy", true.into(), Ok(())),
            (
                "pools.dtcm.kind",
                "flash".into(),
                Err("`kind` of pool `dtcm` is one of \"workspace\", \"constants\"; found \"flash\""),
            ),
            (
                "pools.dtcm.alignment",
                24.into(),
                Err("`alignment` of pool `dtcm` is a power of two, at most 4096; found 24"),
            ),
            (
                "pools.dtcm.section",
                "a\"b".into(),
                Err("`section` of pool `dtcm` is a name of a link section; found \"a\\\"b\""),
            ),
            ("pools.dtcm.limits", 1.into(), Err("`limits` is no key of pool `dtcm`")),
            ("pools.DTCM.limit", 1.into(), Err("a pool cannot be named `DTCM`")),
            (
                "pools.arena.limit",
                1.into(),
                Err("a pool cannot be named `arena`: generated code uses that name"),
            ),
            ("pools.dtcm", 1.into(), Err("`pools.dtcm` is no configuration key")),
        ] {
            let result = Config::default().set(key, value).map_err(|problem| problem.message);
            assert_eq!(result, expect.map_err(str::to_owned), "{key}");
        }
        let problem = Config::default().set("pools.dtcm.limits", 1.into()).unwrap_err();
        assert!(problem.help.unwrap().starts_with("did you mean `limit`? "));
    }

    /// What a build script can write and a file cannot.
    #[test]
    fn pools_are_checked_as_a_whole() {
        let mut config = Config::default();
        let pool = Pool { copy: true, alignment: Some(3), section: Some("a b".into()), ..Pool::default() };
        config.pools.insert("Bad".into(), pool);
        let problems: Vec<_> = config.check_pools().iter().map(ToString::to_string).collect();
        assert_eq!(problems.len(), 4, "{problems:?}");
        assert_eq!(problems[0], "key `pools.Bad.copy`: pool `Bad`: only constants are copied");
    }

    #[test]
    fn units_exist() {
        let mut config = Config::default();
        config.set("devices.npu_1.operators", vec!["add"].into()).unwrap();
        config.set("pools.sram.reach", vec!["cpu", "npu_2", "dsp"].into()).unwrap();
        let problems: Vec<_> = config.check_pools().iter().map(ToString::to_string).collect();
        let unknown = |unit: &str| {
            format!("key `pools.sram.reach`: pool `sram`: there is no unit `{unit}`\n  = help: ")
        };
        assert_eq!(
            problems,
            [
                unknown("npu_2") + "did you mean `npu_1`? the units are `cpu`, `npu_1`",
                unknown("dsp") + "the units are `cpu`, `npu_1`"
            ]
        );
        config.set("devices.dsp.operators", vec!["mul"].into()).unwrap();
        assert_eq!(config.pools_of(&Config::default())["sram"].reach, Some(vec!["cpu".to_owned()]));
    }

    /// The table says of each key exactly the values that it takes.
    #[test]
    fn documented_values_can_be_set() {
        for key in KEYS {
            let Some(values) = key.values.strip_prefix("one of ") else { continue };
            for value in values.split(", ").chain([key.default]) {
                let value = match value {
                    "true" | "false" => Value::from(value == "true"),
                    word => word.trim_matches('"').into(),
                };
                (key.set)(&mut Pool::default(), value).unwrap();
            }
        }
    }
}
