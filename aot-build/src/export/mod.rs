//! Writes a graph as `net.json` with a `.safetensors` file for its constants.

mod layout;
#[cfg(feature = "schema")]
pub(crate) mod schema;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use aot_rt::{DType, unpack_i4};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::error::Problem;
use crate::graph::{Graph, Node, Quantization, Tensor, TensorId};
use crate::import::json::format::{
    DataEntry, FORMAT, NodeEntry, QuantizationEntry, Spanned, StateEntry, TensorEntry, Unread, VERSION,
};
use crate::ops::Op;
use crate::weights::{Stored, safetensors};
use layout::line;
#[cfg(feature = "schema")]
pub use schema::schema;

/// The files of a model in our own format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// `net.json`.
    pub json: String,
    /// The `.safetensors` file beside it; `None` for a model without constants.
    pub safetensors: Option<Vec<u8>>,
}

/// Writes `graph`; `safetensors` is the name of the file for its constants, in the
/// folder of `net.json`.
///
/// Importing the files gives an equal graph, except that tensors which no node and
/// no output names are left out, and that tensors of the same name get numbers.
///
/// # Errors
///
/// None that is known: numbers and names that a graph holds can be written.
pub fn export(graph: &Graph, safetensors: &str) -> Result<Exported, Problem> {
    write(graph, safetensors).map_err(|error| Problem::new(format!("cannot write the model: {error}")))
}

fn write(graph: &Graph, file: &str) -> Result<Exported, String> {
    let mut writer = Writer { file, unique: Unique::new(), constants: Vec::new() };
    let names = names(graph);
    let Parts { tensors, inputs, outputs, nodes } = writer.parts(graph, &names)?;
    let lines = |lines: Vec<String>| lines.join(",\n    ");
    let json = format!(
        r#"{{
  "format": "{FORMAT}",
  "version": {VERSION},
  "name": {},
  "tensors": {{
    {}
  }},
  "inputs": {inputs},
  "outputs": {outputs},{}
  "nodes": [
    {}
  ]
}}
"#,
        line(&graph.name)?,
        lines(tensors),
        states(graph, &names)?,
        lines(nodes),
    );
    let Writer { constants, .. } = writer;
    let constants: Vec<_> = constants.iter().map(|(name, stored)| (name.as_str(), stored.clone())).collect();
    let safetensors = if constants.is_empty() { None } else { Some(safetensors::write(&constants)?) };
    Ok(Exported { json, safetensors })
}

/// The parts of a graph, a line each.
struct Parts {
    tensors: Vec<String>,
    inputs: String,
    outputs: String,
    nodes: Vec<String>,
}

/// Writes graphs whose constants go to one file.
struct Writer<'g> {
    file: &'g str,
    /// Names of constants.
    unique: Unique,
    constants: Vec<(String, Stored<'g>)>,
}

impl<'g> Writer<'g> {
    fn parts(&mut self, graph: &'g Graph, names: &HashMap<TensorId, String>) -> Result<Parts, String> {
        let name = |id: &TensorId| names[id].as_str();
        // The order of the graph; a map has none.
        let used = (0..graph.tensors.len()).map(TensorId).filter(|id| names.contains_key(id));
        let declarations = used.map(|id| {
            Ok(format!("{}: {}", line(name(&id))?, self.declaration(graph.tensor(id), name(&id))?))
        });
        Ok(Parts {
            tensors: declarations.collect::<Result<_, String>>()?,
            inputs: line(&graph.inputs.iter().map(name).collect::<Vec<_>>())?,
            outputs: line(&graph.outputs.iter().map(name).collect::<Vec<_>>())?,
            nodes: graph.nodes.iter().map(|node| self.node(node, names)).collect::<Result<_, _>>()?,
        })
    }

    /// A graph within a node.
    fn region(&mut self, graph: &'g Graph) -> Result<String, String> {
        let Parts { tensors, inputs, outputs, nodes } = self.parts(graph, &names(graph))?;
        let [tensors, nodes] = [tensors, nodes].map(|lines| lines.join(", "));
        Ok(format!(
            r#"{{"tensors": {{{tensors}}}, "inputs": {inputs}, "outputs": {outputs}, "nodes": [{nodes}]}}"#
        ))
    }

    fn declaration(&mut self, tensor: &'g Tensor, name: &str) -> Result<String, String> {
        let data = match stored(tensor) {
            Some(stored) if stored.dtype == DType::I4 => {
                let values = RawValue::from_string(line(&four_bits(&stored))?);
                let values = values.map_err(|error| error.to_string())?;
                Some(line(&DataEntry { values: Some(&*values), ..DataEntry::default() })?)
            }
            Some(stored) => {
                let tensor = self.unique.name(name);
                self.constants.push((tensor.clone(), stored));
                Some(line(&DataEntry {
                    safetensors: Some(Spanned::new(self.file.to_owned())),
                    tensor: Some(Spanned::new(tensor)),
                    ..DataEntry::default()
                })?)
            }
            None => None,
        };
        let quantization = tensor.ty.quantization.as_ref().map(|q| line(&quantization(q))).transpose()?;
        line(&TensorEntry {
            dtype: tensor.ty.dtype,
            shape: Unread::new(&line(&tensor.ty.shape)?),
            quantization: quantization.as_deref().map(Unread::new),
            data: data.as_deref().map(Unread::new),
        })
    }

    fn node(&mut self, node: &'g Node, names: &HashMap<TensorId, String>) -> Result<String, String> {
        struct Attributes<'a>(&'a Op);
        impl Serialize for Attributes<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.serialize_attributes(serializer)
            }
        }
        let attributes = line(&Attributes(&node.op))?;
        let attributes = RawValue::from_string(attributes).map_err(|error| error.to_string())?;
        let regions: Vec<_> =
            node.op.regions().iter().map(|region| self.region(region)).collect::<Result<_, _>>()?;
        let regions = (!regions.is_empty()).then(|| format!("[{}]", regions.join(", ")));
        let name = |id: &TensorId| Spanned::new(names[id].clone());
        line(&NodeEntry {
            op: Spanned::new(node.op.name().to_owned()),
            name: Some(node.name.clone()),
            inputs: node.inputs.iter().map(|id| id.as_ref().map(name)).collect(),
            outputs: node.outputs.iter().map(name).collect(),
            attributes: Some(&*attributes).filter(|attributes| attributes.get() != "{}"),
            regions: regions.as_deref().map(Unread::new),
        })
    }
}

/// Names that differ.
struct Unique {
    taken: HashSet<String>,
    /// For each name, the last number that has been put behind it.
    numbers: HashMap<String, usize>,
}

impl Unique {
    fn new() -> Self {
        // No tensor of a `.safetensors` file can have this name.
        Self { taken: HashSet::from([safetensors::METADATA.to_owned()]), numbers: HashMap::new() }
    }

    /// `name`, with a number where it is taken.
    fn name(&mut self, name: &str) -> String {
        let mut unique = name.to_owned();
        while !self.taken.insert(unique.clone()) {
            let number = self.numbers.entry(name.to_owned()).or_insert(0);
            *number += 1;
            unique = format!("{name}_{number}");
        }
        unique
    }
}

/// The line of states, where there are any.
fn states(graph: &Graph, names: &HashMap<TensorId, String>) -> Result<String, String> {
    if graph.states.is_empty() {
        return Ok(String::new());
    }
    let name = |id| Spanned::new(names[&id].clone());
    let states = graph.states.iter().map(|state| {
        line(&StateEntry {
            before: name(state.before),
            after: name(state.after),
            initial: name(state.initial),
        })
    });
    let states: Vec<_> = states.collect::<Result<_, _>>()?;
    Ok(format!("\n  \"states\": [\n    {}\n  ],", states.join(",\n    ")))
}

/// A name of its own for every tensor that is used.
fn names(graph: &Graph) -> HashMap<TensorId, String> {
    let nodes = graph.nodes.iter().flat_map(|node| node.inputs.iter().flatten().chain(&node.outputs));
    let mut used: Vec<_> = nodes.chain(&graph.inputs).chain(&graph.outputs).copied().collect();
    used.extend(graph.states.iter().flat_map(|state| [state.before, state.after, state.initial]));
    used.sort_unstable();
    used.dedup();
    let mut names = HashMap::new();
    let mut unique = Unique::new();
    let mut doubles = Vec::new();
    for id in used {
        let name = &graph.tensor(id).name;
        if unique.taken.insert(name.clone()) {
            names.insert(id, name.clone());
        } else {
            doubles.push((id, name));
        }
    }
    for (id, name) in doubles {
        names.insert(id, unique.name(name));
    }
    names
}
fn quantization(quantization: &Quantization) -> QuantizationEntry {
    let scale = quantization.scales().to_vec();
    let axis = Some(quantization.axis()).filter(|axis| scale.len() > 1 || *axis > 0);
    let bits = quantization.four_bits().then_some(4);
    QuantizationEntry { scale, zero_point: quantization.zero_points().to_vec(), axis, bits }
}

fn stored(tensor: &Tensor) -> Option<Stored<'_>> {
    let data = tensor.data.as_ref()?;
    Some(Stored { dtype: tensor.ty.dtype, shape: tensor.ty.shape.clone(), bytes: data.bytes() })
}

/// The elements of a constant of i4: `.safetensors` has no such type.
fn four_bits(Stored { shape, bytes, .. }: &Stored<'_>) -> Vec<i8> {
    let mut elements = vec![0; shape.elements()];
    unpack_i4(bytes, &mut elements);
    elements
}
