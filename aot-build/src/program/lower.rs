//! Turns a graph into a program: every operator appends its steps.

use aot_rt::DType;
use aot_rt::kernels::{CopyI8, Kernel};

use super::{Alias, Buffer, BufferId, Operand, Port, Program, Step, Storage, View};
use crate::config::{Config, InputPlacement, Placement, Rounding};
use crate::error::{Location, OpError, Problem};
use crate::graph::{Graph, Node, Tensor, TensorId};

/// Lowers all nodes of `graph`.
///
/// # Errors
///
/// One problem for every node that no kernel computes.
pub fn lower(graph: &Graph, config: &Config) -> Result<Program, Vec<Problem>> {
    let mut lowering = Lowering {
        graph,
        config,
        program: Program { name: graph.name.clone(), ..Program::default() },
        places: vec![None; graph.tensors.len()],
    };
    for (i, &id) in graph.inputs.iter().enumerate() {
        let view = lowering.buffer(
            graph.tensor(id),
            match config.inputs {
                InputPlacement::Workspace | InputPlacement::Rows => Storage::Workspace,
                InputPlacement::Caller => Storage::Input(i),
            },
        );
        lowering.places[id.0] = Some(Operand::Buffer(view));
        lowering.port(id, view, |program| &mut program.inputs);
    }
    let mut problems = Vec::new();
    for node in &graph.nodes {
        let mut context = NodeLowering { lowering: &mut lowering, node };
        if let Err(error) = node.op.lower(&mut context) {
            let (index, name, operator) = (node.index, node.name.clone(), node.op.name().into());
            problems.push(Problem::from(error).at(Location::Node { index, name, operator }));
            // The nodes that read its results are still looked at.
            for &id in &node.outputs {
                if lowering.places[id.0].is_none() {
                    lowering.write(id);
                }
            }
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    lowering.outputs();
    Ok(lowering.program)
}

struct Lowering<'g> {
    graph: &'g Graph,
    config: &'g Config,
    program: Program,
    /// Where each tensor is that has been computed, and each constant that has been read.
    places: Vec<Option<Operand>>,
}

impl Lowering<'_> {
    fn buffer(&mut self, tensor: &Tensor, storage: Storage) -> View {
        let (bytes, alignment) = (tensor.ty.bytes(), tensor.ty.dtype.size());
        self.program.buffers.push(Buffer { name: tensor.name.clone(), bytes, alignment, storage });
        View {
            buffer: BufferId(self.program.buffers.len() - 1),
            offset: 0,
            dtype: tensor.ty.dtype,
            len: tensor.ty.shape.elements(),
        }
    }

    fn port(&mut self, id: TensorId, view: View, ports: impl FnOnce(&mut Program) -> &mut Vec<Port>) {
        let tensor = self.graph.tensor(id);
        ports(&mut self.program).push(Port { name: tensor.name.clone(), ty: tensor.ty.clone(), view });
    }

    /// Where output `i` of the model is to be.
    fn output_storage(&self, i: usize) -> Storage {
        match self.config.outputs {
            Placement::Workspace => Storage::Workspace,
            Placement::Caller => Storage::Output(i),
        }
    }

    /// Gives every output a place of its own: one that is an input, a constant, a
    /// view of another output, or not in the caller's buffer as it should, is copied.
    fn outputs(&mut self) {
        let mut taken: Vec<BufferId> = self.program.inputs.iter().map(|port| port.view.buffer).collect();
        for (i, &id) in self.graph.outputs.iter().enumerate() {
            let storage = self.output_storage(i);
            let view = match self.places[id.0] {
                Some(Operand::Buffer(view))
                    if self.program.buffer(view.buffer).storage == storage
                        && !taken.contains(&view.buffer) =>
                {
                    view
                }
                _ => self.copy(id, storage),
            };
            taken.push(view.buffer);
            self.port(id, view, |program| &mut program.outputs);
        }
    }

    fn copy(&mut self, id: TensorId, storage: Storage) -> View {
        let tensor = self.graph.tensor(id);
        let x = self.read(id);
        let view = self.buffer(tensor, storage);
        let bytes = tensor.ty.bytes();
        let operands = vec![x.as_bytes(), Operand::Buffer(view).as_bytes()];
        let kernel = Kernel::CopyI8(CopyI8 { len: bytes });
        let name = format!("copy_{}", self.program.steps.len());
        let description = format!("{bytes} bytes");
        let node = tensor.name.clone();
        self.program.steps.push(Step { name, node, description, kernel, operands, macs: 0 });
        view
    }

    fn read(&mut self, id: TensorId) -> Operand {
        let tensor = self.graph.tensor(id);
        *self.places[id.0].get_or_insert_with(|| match &tensor.data {
            // Once for all its readers: to find equal ones takes all its bytes.
            Some(data) => Operand::Constant(self.program.constants.intern(tensor.ty.dtype, data.bytes())),
            None => unreachable!("`{}` is read before it is written", tensor.name),
        })
    }

    fn write(&mut self, id: TensorId) -> Operand {
        let output = self.graph.outputs.iter().position(|output| *output == id);
        let storage = output.map_or(Storage::Workspace, |i| self.output_storage(i));
        let place = Operand::Buffer(self.buffer(self.graph.tensor(id), storage));
        self.places[id.0] = Some(place);
        place
    }
}

/// What an operator's lowering sees: its node, and the program that grows.
pub struct NodeLowering<'a, 'g> {
    lowering: &'a mut Lowering<'g>,
    node: &'g Node,
}

impl<'g> NodeLowering<'_, 'g> {
    /// Operand `i`.
    ///
    /// # Errors
    ///
    /// When it is left out.
    pub fn input(&self, i: usize) -> Result<&'g Tensor, OpError> {
        self.optional(i).ok_or_else(|| format!("operand {i} is missing").into())
    }

    /// Operand `i`, or `None` where it is left out.
    #[must_use]
    pub fn optional(&self, i: usize) -> Option<&'g Tensor> {
        self.node.inputs.get(i).copied().flatten().map(|id| self.lowering.graph.tensor(id))
    }

    /// Result `i`.
    #[must_use]
    pub fn output(&self, i: usize) -> &'g Tensor {
        self.lowering.graph.tensor(self.node.outputs[i])
    }

    /// Whether the configuration asks for one rounding instead of two.
    #[must_use]
    pub fn single_rounding(&self) -> bool {
        self.lowering.config.rounding == Rounding::Single
    }

    /// Operand `i` for a step to read.
    ///
    /// # Errors
    ///
    /// When it is left out.
    pub fn read(&mut self, i: usize) -> Result<Operand, OpError> {
        let id = self.node.inputs.get(i).copied().flatten();
        id.map(|id| self.lowering.read(id)).ok_or_else(|| format!("operand {i} is missing").into())
    }

    /// Result `i` for a step to write.
    pub fn write(&mut self, i: usize) -> Operand {
        self.lowering.write(self.node.outputs[i])
    }

    /// Elements that the compiler made, little-endian.
    pub fn constant(&mut self, dtype: DType, bytes: &[u8]) -> Operand {
        Operand::Constant(self.lowering.program.constants.intern(dtype, bytes))
    }

    /// Appends a step.
    pub fn step(&mut self, kernel: Kernel, operands: Vec<Operand>, macs: u64, description: String) {
        let steps = &mut self.lowering.program.steps;
        let name = format!("{}_{}", self.node.op.name(), steps.len());
        steps.push(Step { name, node: self.node.name.clone(), description, kernel, operands, macs });
    }

    /// Makes result `i` the same elements as operand `j`, without a step.
    ///
    /// # Errors
    ///
    /// When the operand is left out, or has another number of elements.
    pub fn alias(&mut self, i: usize, j: usize) -> Result<(), OpError> {
        let (x, y) = (self.input(j)?, self.output(i));
        if (x.ty.dtype, x.ty.shape.elements()) != (y.ty.dtype, y.ty.shape.elements()) {
            return Err(format!("{} cannot be a view of {}", y.ty, x.ty).into());
        }
        let place = self.read(j)?;
        self.lowering.places[self.node.outputs[i].0] = Some(place);
        if let Operand::Buffer(view) = place {
            self.lowering.program.aliases.push(Alias { name: y.name.clone(), view });
        }
        Ok(())
    }
}
