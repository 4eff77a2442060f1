//! Writes a graph as `net.json` with a `.safetensors` file for its constants.

mod layout;
#[cfg(feature = "schema")]
pub(crate) mod schema;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

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
    let names = names(graph);
    let name = |id: &TensorId| names[id].as_str();
    let lines = |lines: Result<Vec<String>, String>| Ok::<_, String>(lines?.join(",\n    "));
    // The order of the graph; a map has none.
    let tensors: Vec<_> =
        (0..graph.tensors.len()).map(TensorId).filter(|id| names.contains_key(id)).collect();
    let declarations = tensors
        .iter()
        .map(|id| Ok(format!("{}: {}", line(name(id))?, declaration(graph.tensor(*id), name(id), file)?)));
    let nodes = graph.nodes.iter().map(|each| node(each, &names));
    let constants: Vec<_> =
        tensors.iter().filter_map(|id| Some((name(id), stored(graph.tensor(*id))?))).collect();
    let json = format!(
        r#"{{
  "format": "{FORMAT}",
  "version": {VERSION},
  "name": {},
  "tensors": {{
    {}
  }},
  "inputs": {},
  "outputs": {},{}
  "nodes": [
    {}
  ]
}}
"#,
        line(&graph.name)?,
        lines(declarations.collect())?,
        line(&graph.inputs.iter().map(name).collect::<Vec<_>>())?,
        line(&graph.outputs.iter().map(name).collect::<Vec<_>>())?,
        states(graph, &names)?,
        lines(nodes.collect())?,
    );
    let safetensors = if constants.is_empty() { None } else { Some(safetensors::write(&constants)?) };
    Ok(Exported { json, safetensors })
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
    // No tensor of a `.safetensors` file can have this name.
    let mut taken = HashSet::from([safetensors::METADATA.to_owned()]);
    let mut doubles = Vec::new();
    for id in used {
        let name = &graph.tensor(id).name;
        if taken.insert(name.clone()) {
            names.insert(id, name.clone());
        } else {
            doubles.push((id, name));
        }
    }
    let mut numbers = HashMap::new();
    for (id, name) in doubles {
        let number = numbers.entry(name).or_insert(1_usize);
        let mut unique = format!("{name}_{number}");
        while !taken.insert(unique.clone()) {
            *number += 1;
            unique = format!("{name}_{number}");
        }
        names.insert(id, unique);
    }
    names
}

fn declaration(tensor: &Tensor, name: &str, file: &str) -> Result<String, String> {
    let data = tensor.data.as_ref().map(|_| DataEntry {
        safetensors: Some(Spanned::new(file.to_owned())),
        tensor: Some(Spanned::new(name.to_owned())),
        ..DataEntry::default()
    });
    let data = data.map(|data| line(&data)).transpose()?;
    let quantization = tensor.ty.quantization.as_ref().map(|q| line(&quantization(q))).transpose()?;
    line(&TensorEntry {
        dtype: tensor.ty.dtype,
        shape: Unread::new(&line(&tensor.ty.shape)?),
        quantization: quantization.as_deref().map(Unread::new),
        data: data.as_deref().map(Unread::new),
    })
}

fn quantization(quantization: &Quantization) -> QuantizationEntry {
    let scale = quantization.scales().to_vec();
    let axis = Some(quantization.axis()).filter(|axis| scale.len() > 1 || *axis > 0);
    QuantizationEntry { scale, zero_point: quantization.zero_points().to_vec(), axis }
}

fn stored(tensor: &Tensor) -> Option<Stored<'_>> {
    let data = tensor.data.as_ref()?;
    Some(Stored { dtype: tensor.ty.dtype, shape: tensor.ty.shape.clone(), bytes: data.bytes() })
}

fn node(node: &Node, names: &HashMap<TensorId, String>) -> Result<String, String> {
    struct Attributes<'a>(&'a Op);
    impl Serialize for Attributes<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            self.0.serialize_attributes(serializer)
        }
    }
    let attributes = line(&Attributes(&node.op))?;
    let attributes = RawValue::from_string(attributes).map_err(|error| error.to_string())?;
    let name = |id: &TensorId| Spanned::new(names[id].clone());
    line(&NodeEntry {
        op: Spanned::new(node.op.name().to_owned()),
        name: Some(node.name.clone()),
        inputs: node.inputs.iter().map(|id| id.as_ref().map(name)).collect(),
        outputs: node.outputs.iter().map(name).collect(),
        attributes: Some(&*attributes).filter(|attributes| attributes.get() != "{}"),
    })
}
