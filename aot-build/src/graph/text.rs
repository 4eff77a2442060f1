//! A graph as text, for reading and for snapshots.

use std::fmt;

use super::{Graph, TensorId};

/// A line for each input, constant and node, in order, and one for the outputs:
///
/// ```text
/// input x: f32 [1, 4]
/// constant w: f32 [1, 4]
/// y: f32 [1, 4] = Add { activation: Relu } (x, w)
/// output y
/// ```
///
/// The graphs that a node runs follow it, indented.
impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |id: &TensorId| self.tensor(*id).name.as_str();
        let typed = |id: &TensorId| {
            let tensor = self.tensor(*id);
            match tensor.ty.quantization.as_ref().map(super::Quantization::tensor_wide) {
                Some(Some(q)) => {
                    format!("{}: {} scale {} zero {}", tensor.name, tensor.ty, q.scale, q.zero_point)
                }
                Some(None) => format!("{}: {} with a scale for each channel", tensor.name, tensor.ty),
                None => format!("{}: {}", tensor.name, tensor.ty),
            }
        };
        let join = |names: Vec<&str>| names.join(", ");
        for id in &self.inputs {
            writeln!(f, "input {}", typed(id))?;
        }
        for i in 0..self.tensors.len() {
            if self.tensors[i].data.is_some() {
                writeln!(f, "constant {}", typed(&TensorId(i)))?;
            }
        }
        for node in &self.nodes {
            let results: Vec<_> = node.outputs.iter().map(typed).collect();
            let operands = node.inputs.iter().map(|id| id.as_ref().map_or("-", name)).collect();
            writeln!(f, "{} = {:?} ({})", results.join(", "), node.op.attributes(), join(operands))?;
            for region in node.op.regions() {
                writeln!(f, "  region")?;
                for line in region.to_string().lines() {
                    writeln!(f, "    {line}")?;
                }
            }
        }
        for state in &self.states {
            let [before, after, initial] = [&state.before, &state.after, &state.initial].map(name);
            writeln!(f, "state {before} = {after}, at first {initial}")?;
        }
        writeln!(f, "output {}", join(self.outputs.iter().map(name).collect()))
    }
}
