//! The graph: tensors, nodes, and the one closed set of operators.
//!
//! Importers build it through [`GraphBuilder`], which checks every node as it
//! comes; later stages take shapes and types as given. Activations are NHWC and
//! nodes stand in an order in which they can run.

mod builder;
mod data;
mod inline;
mod kept;
mod quantization;
mod shape;
#[cfg(test)]
pub(crate) mod sketch;
mod text;

pub(crate) use builder::check_count;
pub use builder::{GraphBuilder, NodeDeclaration, OutputDeclaration};
pub use data::Data;
pub use quantization::Quantization;
pub use shape::Shape;

use aot_rt::DType;

use crate::ops::{Op, Region};

/// Position of a tensor in [`Graph::tensors`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TensorId(pub(crate) usize);

impl TensorId {
    /// The position.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0
    }
}

/// Element type, extents and the meaning of the integers.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorType {
    /// Type of the elements.
    pub dtype: DType,
    /// Extents, outermost first.
    pub shape: Shape,
    /// Meaning of the integers, for quantized tensors.
    pub quantization: Option<Quantization>,
}

impl TensorType {
    /// A type without quantization.
    #[must_use]
    pub const fn new(dtype: DType, shape: Shape) -> Self {
        Self { dtype, shape, quantization: None }
    }

    /// Size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.dtype.bytes(self.shape.elements())
    }

    /// How a program holds it: as so many of this type. Two integers of four bits are a byte
    /// there.
    pub(crate) fn stored(&self) -> (DType, usize) {
        match self.dtype {
            DType::I4 => (DType::I8, self.bytes()),
            dtype => (dtype, self.shape.elements()),
        }
    }

    /// Whether it has no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shape.elements() == 0
    }
}

/// `i8 [1, 49, 10, 1]`.
impl std::fmt::Display for TensorType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.dtype.name(), self.shape)
    }
}

/// A tensor: an activation, or a constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Name in the model file.
    pub name: String,
    /// Element type, extents, quantization.
    pub ty: TensorType,
    /// The elements of a constant.
    pub data: Option<Data>,
}

/// An operator applied to tensors.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Name in the model file, or of its first output.
    pub name: String,
    /// Position in the model file.
    pub index: usize,
    /// The operator and its attributes.
    pub op: Op,
    /// Operands; `None` where an optional one is left out.
    pub inputs: Vec<Option<TensorId>>,
    /// Results.
    pub outputs: Vec<TensorId>,
}

/// A tensor that is kept from run to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// What it is at the start of a run; no node makes it.
    pub before: TensorId,
    /// What it is at the end of a run.
    pub after: TensorId,
    /// What it is before the first run: a constant.
    pub initial: TensorId,
}

/// A model, or a region of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// Name of the model.
    pub name: String,
    /// All tensors; passes may leave unused ones behind.
    pub tensors: Vec<Tensor>,
    /// The nodes, in an order in which they can run.
    pub nodes: Vec<Node>,
    /// Tensors that the caller gives.
    pub inputs: Vec<TensorId>,
    /// Tensors that the caller gets.
    pub outputs: Vec<TensorId>,
    /// Tensors that are kept from run to run.
    pub states: Vec<State>,
    /// Tensors that can be read after a run beside the outputs.
    pub kept: Vec<TensorId>,
}

impl Graph {
    /// The tensor with this id.
    #[must_use]
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.0]
    }

    /// The operands of `node`.
    #[must_use]
    pub fn operands(&self, node: &Node) -> Vec<Option<&Tensor>> {
        node.inputs.iter().map(|id| id.map(|id| self.tensor(id))).collect()
    }

    /// For each tensor, the position of the node that makes it.
    #[must_use]
    pub fn producers(&self) -> Vec<Option<usize>> {
        let mut producers = vec![None; self.tensors.len()];
        for (i, node) in self.nodes.iter().enumerate() {
            for id in &node.outputs {
                producers[id.0] = Some(i);
            }
        }
        producers
    }

    /// How often each tensor is read, by nodes and as an output of the graph.
    #[must_use]
    pub fn uses(&self) -> Vec<usize> {
        let mut uses = vec![0; self.tensors.len()];
        let read = self.nodes.iter().flat_map(|node| node.inputs.iter().flatten());
        for id in read.copied().chain(self.results()) {
            uses[id.0] += 1;
        }
        uses
    }

    /// The graphs that nodes run, to be changed.
    pub(crate) fn regions_mut(&mut self) -> impl Iterator<Item = &mut Self> {
        self.nodes.iter_mut().flat_map(|node| node.op.regions_mut()).map(Region::graph_mut)
    }

    /// The tensors that a run is for: the outputs, what states become, and what can be read
    /// besides.
    pub fn results(&self) -> impl Iterator<Item = TensorId> {
        let states = self.states.iter().map(|state| state.after);
        self.outputs.iter().copied().chain(states).chain(self.kept.iter().copied())
    }
}
