//! `[devices.NAME]`: which nodes run elsewhere than on the CPU, and on what.

use std::fmt;
use std::sync::Arc;

use aot_rt::Activate;
use serde::{Serialize, Serializer};
use toml::Value;

use super::keys::{choice, show};
use super::{Calls, Config, Key};
use crate::codegen::is_snake_case;
use crate::error::{Location, Problem};
use crate::graph::{Graph, Node, Tensor};
use crate::nearest::nearest;

/// A device, and the nodes that it runs.
///
/// A node goes to the first device that names it; else to the first one whose rule takes it;
/// else, with its neighbours, to the first one that has a pattern for them; else to the one
/// that has its operator. What is left runs on the CPU, and so do branches and loops; their
/// nodes are assigned like all others.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize)]
pub struct Device {
    /// Name, a Rust identifier.
    #[serde(skip)]
    pub name: String,
    /// Operators that it runs; `*` stands for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operators: Vec<String>,
    /// Names of nodes that it runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<String>,
    /// Operators, each on the result of the one before, that it runs in one call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<Vec<String>>,
    /// What kind of device it is, where that is not its name. Devices of a kind have one trait.
    pub kind: Option<String>,
    /// When it is activated.
    #[serde(serialize_with = "activate_name")]
    pub activate: Activate,
    /// How steps call its kernels.
    pub calls: Calls,
    /// A rule in Rust for the nodes that it runs: written down is that there is one.
    #[serde(serialize_with = "is_there", skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
}

fn activate_name<S: Serializer>(activate: &Activate, serializer: S) -> Result<S::Ok, S::Error> {
    match activate {
        Activate::PerRun => "per_run",
        Activate::FirstUse => "first_use",
        Activate::Caller => "caller",
    }
    .serialize(serializer)
}

fn is_there<S: Serializer>(rule: &Option<Rule>, serializer: S) -> Result<S::Ok, S::Error> {
    rule.is_some().serialize(serializer)
}

/// The devices as tables under their names.
pub(super) fn by_name<S: Serializer>(devices: &[Device], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(devices.iter().map(|device| (&device.name, device)))
}

impl Device {
    /// What kind of device it is.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.kind.as_deref().unwrap_or(&self.name)
    }

    /// The keys of its table.
    pub const KEYS: &'static [Key<Self>] = &[
        Key {
            name: "operators",
            values: "a list of operators",
            default: "none",
            meaning: "the operators that the device runs, as `aot check` names them; `\"*\"` for all",
            set: |device, value| choice(value).map(|value| device.operators = value),
        },
        Key {
            name: "nodes",
            values: "a list of names",
            default: "none",
            meaning: "the nodes that it runs, by their names in the model file",
            set: |device, value| choice(value).map(|value| device.nodes = value),
        },
        Key {
            name: "patterns",
            values: "a list of lists of two or more operators",
            default: "none",
            meaning: "chains of nodes that it runs in one call, each node on the result of the one before",
            set: |device, value| {
                let patterns: Vec<Vec<String>> = choice(value)?;
                device.patterns = patterns.iter().all(|pattern| pattern.len() > 1).then_some(patterns)?;
                Some(())
            },
        },
        Key {
            name: "kind",
            values: "a name of small letters, digits and `_`",
            default: "its own name",
            meaning: "what kind of device it is: those of a kind have one trait",
            set: |device, value| {
                let kind = choice::<String>(value)?;
                device.kind = Some(is_snake_case(&kind).then_some(kind)?);
                Some(())
            },
        },
        Key {
            name: "activate",
            values: r#"one of "per_run", "first_use", "caller""#,
            default: r#""per_run""#,
            meaning: "who activates it: each run, which deactivates it; the first run; or the caller",
            set: |device, value| {
                device.activate = match choice::<String>(value)?.as_str() {
                    "per_run" => Activate::PerRun,
                    "first_use" => Activate::FirstUse,
                    "caller" => Activate::Caller,
                    _ => return None,
                };
                Some(())
            },
        },
        Key {
            name: "calls",
            values: r#"one of "direct", "packed", "registry""#,
            default: r#""direct""#,
            meaning: "how steps call its kernels: by typed methods of a trait, by one method for all, \
                      or by functions bound by name when the program starts",
            set: |device, value| choice(value).map(|value| device.calls = value),
        },
    ];
}

/// A rule in Rust that says which nodes a device runs.
#[derive(Clone)]
pub struct Rule(Arc<dyn Fn(&Candidate<'_>) -> bool + Send + Sync>);

impl Rule {
    /// The rule that takes the nodes for which `takes` is true.
    pub fn new(takes: impl Fn(&Candidate<'_>) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(takes))
    }

    pub(crate) fn takes(&self, candidate: &Candidate<'_>) -> bool {
        (self.0)(candidate)
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rule")
    }
}

/// Rules are equal where they are one.
impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Rule {}

/// A node that a device may run, as the passes left it.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'g> {
    graph: &'g Graph,
    node: &'g Node,
}

impl<'g> Candidate<'g> {
    pub(crate) const fn new(graph: &'g Graph, node: &'g Node) -> Self {
        Self { graph, node }
    }

    /// Name in the model file.
    #[must_use]
    pub fn name(&self) -> &'g str {
        &self.node.name
    }

    /// The operator, as `aot check` names it.
    #[must_use]
    pub fn operator(&self) -> &'static str {
        self.node.op.label()
    }

    /// The operator with its attributes.
    #[must_use]
    pub const fn op(&self) -> &'g crate::ops::Op {
        &self.node.op
    }

    /// The operands; `None` where an optional one is left out.
    #[must_use]
    pub fn operands(&self) -> Vec<Option<&'g Tensor>> {
        self.graph.operands(self.node)
    }

    /// The results.
    #[must_use]
    pub fn results(&self) -> Vec<&'g Tensor> {
        self.node.outputs.iter().map(|id| self.graph.tensor(*id)).collect()
    }
}

impl Config {
    /// The device called `name`, made where there is none.
    pub fn device_mut(&mut self, name: &str) -> &mut Device {
        let known = self.devices.iter().position(|device| device.name == name);
        let i = known.unwrap_or_else(|| {
            self.devices.push(Device { name: name.to_owned(), ..Device::default() });
            self.devices.len() - 1
        });
        &mut self.devices[i]
    }

    pub(super) fn set_of_device(&mut self, name: &str, key: &str, value: Value) -> Result<(), Problem> {
        check_device_key(name, key)?;
        let Some(key) = Device::KEYS.iter().find(|known| known.name == key) else { return Ok(()) };
        let found = show(&value);
        (key.set)(self.device_mut(name), value).ok_or_else(|| {
            let (key, values) = (key.name, key.values);
            Problem::new(format!("`{key}` of device `{name}` is {values}; found {found}"))
        })
    }
}

/// `devices.npu.kind` is the key `kind` of the device `npu`.
pub(super) fn device_key(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("devices.")?.rsplit_once('.')
}

/// Checks that `key` is a key of devices, and that a device can be called `name`.
pub(super) fn check_device_key(name: &str, key: &str) -> Result<(), Problem> {
    check_device_name(name)?;
    if Device::KEYS.iter().any(|known| known.name == key) {
        return Ok(());
    }
    let names = Device::KEYS.iter().map(|key| key.name);
    let list = names.clone().collect::<Vec<_>>().join("`, `");
    let help = match nearest(key, names) {
        Some(near) => format!("did you mean `{near}`? the keys are `{list}`"),
        None => format!("the keys are `{list}`"),
    };
    Err(Problem::new(format!("`{key}` is no key of device `{name}`")).help(help))
}

/// Checks that a device can be called `name`.
fn check_device_name(name: &str) -> Result<(), Problem> {
    if is_snake_case(name) {
        return Ok(());
    }
    let problem = Problem::new(format!("a device cannot be called `{name}`"));
    Err(problem.at(Location::Key("devices".into())).help("a name has small letters, digits and single `_`"))
}
