//! Which subgraph of a file is the model, and what its inputs and outputs are called.
//!
//! A file holds subgraphs and signatures: a signature gives names to inputs and outputs of
//! a subgraph. Where a file has one signature for the subgraph that is compiled, its names
//! are better than those of the tensors, which converters make up.

use std::collections::{BTreeMap, BTreeSet};

use super::flatbuffer::{Fault, File, Table};
use super::schema::{MAX_TABLES, model, name, subgraph};
use crate::Config;
use crate::error::{Location, Problem};
use crate::report::label;

mod signature {
    pub(super) const INPUTS: usize = 0;
    pub(super) const OUTPUTS: usize = 1;
    pub(super) const KEY: usize = 2;
    pub(super) const SUBGRAPH: usize = 4;
}

mod port {
    pub(super) const NAME: usize = 0;
    pub(super) const TENSOR: usize = 1;
}

/// What of a file is compiled.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub(super) subgraph: usize,
    /// Names of inputs and outputs, by tensor.
    pub(super) names: BTreeMap<usize, String>,
    /// The outputs that are wanted; all where it is not said.
    outputs: Option<BTreeSet<usize>>,
}

/// Inputs and outputs of a subgraph, by name.
#[derive(Debug)]
struct Signature {
    key: String,
    subgraph: usize,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
}

#[derive(Debug)]
struct Port {
    name: String,
    tensor: usize,
}

impl Entry {
    /// The part of `file` that `config` asks for.
    ///
    /// # Errors
    ///
    /// When there is none, or the signatures are damaged.
    pub(super) fn find(file: &File<'_>, config: &Config) -> Result<Self, Problem> {
        let root = file.root()?;
        let subgraphs = root.tables(model::SUBGRAPHS, MAX_TABLES)?;
        let signatures = root.tables(model::SIGNATURES, MAX_TABLES)?;
        let signatures = signatures
            .iter()
            .map(|table| Signature::read(table, &subgraphs))
            .collect::<Result<Vec<_>, _>>()?;
        if let Some(key) = &config.signature {
            if config.subgraph.is_some() {
                let problem = Problem::new("`signature` and `subgraph` are both set: a signature names one");
                return Err(problem.at(Location::Key("subgraph".into())));
            }
            let keys: Vec<_> = signatures.iter().map(|signature| signature.key.as_str()).collect();
            let found = signatures.iter().find(|signature| signature.key == *key);
            return found.map(Signature::entry).ok_or_else(|| missing("signature", key, &keys));
        }
        let subgraph = match &config.subgraph {
            None => 0,
            Some(wanted) => named(&subgraphs, wanted)?,
        };
        let mut of_subgraph = signatures.iter().filter(|signature| signature.subgraph == subgraph);
        let names = match (of_subgraph.next(), of_subgraph.next()) {
            (Some(only), None) => only.names(),
            _ => BTreeMap::new(),
        };
        Ok(Self { subgraph, names, outputs: None })
    }

    /// Whether an output of the subgraph is wanted.
    pub(super) fn wants(&self, tensor: i32) -> bool {
        let tensor = usize::try_from(tensor);
        self.outputs.as_ref().is_none_or(|wanted| tensor.is_ok_and(|tensor| wanted.contains(&tensor)))
    }
}

impl Signature {
    fn read(table: &Table<'_>, subgraphs: &[Table<'_>]) -> Result<Self, Problem> {
        let key = table.bytes(signature::KEY)?.unwrap_or_default();
        let key = name(table, key)?;
        let position = table.scalar(signature::SUBGRAPH, 0_u32)?;
        let subgraph = usize::try_from(position).ok().and_then(|position| subgraphs.get(position));
        let Some(of) = subgraph else {
            let count = subgraphs.len();
            let key = label(&key);
            return Err(Problem::new(format!(
                "signature `{key}` is of subgraph {position}, there are {count}"
            )));
        };
        let ports = |slot, all: Vec<i32>, what: &str| -> Result<_, Problem> {
            let ports = table.tables(slot, MAX_TABLES)?;
            let all: BTreeSet<_> = all.into_iter().filter_map(|index| u32::try_from(index).ok()).collect();
            ports.iter().map(|port| Port::read(port, &key, &all, what)).collect::<Result<Vec<_>, _>>()
        };
        let inputs = ports(signature::INPUTS, of.scalars(subgraph::INPUTS)?, "input")?;
        let outputs = ports(signature::OUTPUTS, of.scalars(subgraph::OUTPUTS)?, "output")?;
        Ok(Self { key, subgraph: position as usize, inputs, outputs })
    }

    /// Names by tensor; an input that is an output as well keeps its name as an input.
    fn names(&self) -> BTreeMap<usize, String> {
        let ports = self.outputs.iter().chain(&self.inputs);
        ports.map(|port| (port.tensor, port.name.clone())).collect()
    }

    fn entry(&self) -> Entry {
        let outputs = self.outputs.iter().map(|port| port.tensor).collect();
        Entry { subgraph: self.subgraph, names: self.names(), outputs: Some(outputs) }
    }
}

impl Port {
    /// A port of signature `key`: one of the subgraph's `all`.
    fn read(table: &Table<'_>, key: &str, all: &BTreeSet<u32>, what: &str) -> Result<Self, Problem> {
        let port = name(table, table.bytes(port::NAME)?.unwrap_or_default())?;
        let tensor = table.scalar(port::TENSOR, 0_u32)?;
        if !all.contains(&tensor) {
            let (port, key) = (label(&port), label(key));
            let message = format!(
                "{what} `{port}` of signature `{key}` is tensor #{tensor}, which is no {what} of its subgraph"
            );
            return Err(Problem::new(message));
        }
        Ok(Self { name: port, tensor: tensor as usize })
    }
}

/// The position of the subgraph called `wanted`.
fn named(subgraphs: &[Table<'_>], wanted: &str) -> Result<usize, Problem> {
    let read = |table: &Table<'_>| name(table, table.bytes(subgraph::NAME)?.unwrap_or_default());
    let names = subgraphs.iter().map(read).collect::<Result<Vec<_>, Fault>>()?;
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    names.iter().position(|name| *name == wanted).ok_or_else(|| missing("subgraph", wanted, &names))
}

fn missing(what: &str, wanted: &str, names: &[&str]) -> Problem {
    const SHOWN: usize = 8;
    let problem = Problem::new(format!("the file has no {what} `{}`", label(wanted)));
    let problem = problem.at(Location::Key(what.into()));
    if names.is_empty() {
        return problem.help(format!("it has no {what}s at all"));
    }
    let shown: Vec<_> = names.iter().take(SHOWN).map(|name| format!("`{}`", label(name))).collect();
    let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
    problem.help(format!("it has {}{more}", shown.join(", ")))
}
