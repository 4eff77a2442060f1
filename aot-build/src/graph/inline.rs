//! Puts one graph into another, in the place of a node that runs it.

use super::{Graph, Node, TensorId};

impl Graph {
    /// Appends the nodes of `region` with `operands` as its inputs; gives what its outputs
    /// have become. The nodes stand for node `index` of the file.
    pub(crate) fn inline(&mut self, region: &Self, operands: &[TensorId], index: usize) -> Vec<TensorId> {
        let mut places = vec![None; region.tensors.len()];
        for (input, operand) in region.inputs.iter().zip(operands) {
            places[input.0] = Some(*operand);
        }
        let mut place = |id: TensorId| {
            *places[id.0].get_or_insert_with(|| {
                self.tensors.push(region.tensors[id.0].clone());
                TensorId(self.tensors.len() - 1)
            })
        };
        for node in &region.nodes {
            self.nodes.push(Node {
                index,
                inputs: node.inputs.iter().map(|id| id.map(&mut place)).collect(),
                outputs: node.outputs.iter().copied().map(&mut place).collect(),
                ..node.clone()
            });
        }
        region.outputs.iter().copied().map(place).collect()
    }

    /// Tensors, operators, operands and results; those of regions not counted.
    pub(crate) fn parts(&self) -> usize {
        let nodes = self.nodes.iter().map(|node| 1 + node.inputs.len() + node.outputs.len());
        self.tensors.len() + nodes.sum::<usize>()
    }

    /// How many graphs within graphs there are: 0 where no node runs any.
    #[must_use]
    pub fn depth(&self) -> usize {
        let regions = self.nodes.iter().flat_map(|node| node.op.regions());
        regions.map(|region| 1 + region.depth()).max().unwrap_or(0)
    }
}
