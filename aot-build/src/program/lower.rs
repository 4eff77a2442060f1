//! Turns a graph into a program: every operator appends its steps.

mod regions;

use aot_rt::DType;
use aot_rt::kernels::{CopyI8, Kernel};

use super::parts::{Part, parts};
use super::{
    Alias, Buffer, BufferId, Call, ConstantPool, Initial, Operand, Port, Program, Step, Storage, View, Work,
    chains,
};
use crate::config::{Config, InputPlacement, Placement, Rounding};
use crate::devices::Assignment;
use crate::error::{Location, OpError, Problem};
use crate::graph::{Graph, Node, Tensor, TensorId};
use crate::{ops, program};

/// Lowers all nodes of `graph`.
///
/// # Errors
///
/// One problem for every node that no kernel computes.
pub fn lower(graph: &Graph, config: &Config) -> Result<Program, Vec<Problem>> {
    lower_with(graph, config, ConstantPool::default())
}

/// The same with constants that are there already.
fn lower_with(graph: &Graph, config: &Config, constants: ConstantPool) -> Result<Program, Vec<Problem>> {
    let devices = config.devices.iter().map(|device| program::Device {
        name: device.name.clone(),
        kind: device.kind().to_owned(),
        activate: device.activate,
        calls: device.calls,
    });
    let assignment = Assignment::of(graph, &config.devices);
    let mut lowering = Lowering {
        graph,
        config,
        program: Program {
            name: graph.name.clone(),
            constants,
            devices: devices.collect(),
            ..Program::default()
        },
        parts: parts(graph, config),
        uses: graph.uses(),
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
    for state in &graph.states {
        let view = lowering.buffer(graph.tensor(state.before), Storage::Workspace);
        lowering.places[state.before.0] = Some(Operand::Buffer(view));
        let initial = lowering.initial(state.initial);
        let name = graph.tensor(state.before).name.clone();
        lowering.program.states.push(program::State { name, view, initial });
    }
    let mut problems = Vec::new();
    let mut steps = Vec::new();
    for (node, &device) in graph.nodes.iter().zip(&assignment.devices) {
        let first = lowering.program.steps.len();
        let mut context = NodeLowering { lowering: &mut lowering, node, device, packed: Vec::new() };
        if let Err(error) = node.op.lower(&mut context) {
            let (index, name, operator) = (node.index, node.name.clone(), node.op.label().into());
            problems.push(Problem::from(error).at(Location::Node { index, name, operator }));
            // The nodes that read its results are still looked at.
            for &id in &node.outputs {
                if lowering.places[id.0].is_none() {
                    lowering.write(id);
                }
            }
        }
        steps.push(first..lowering.program.steps.len());
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    lowering.outputs();
    lowering.kept();
    lowering.states();
    chains::merge(&mut lowering.program, &steps, &assignment.chains).map_err(|(node, message)| {
        let message = format!("node `{node}` of a device's pattern: {message}");
        vec![Problem::new(message).at(Location::Key("devices".into()))]
    })?;
    Ok(lowering.program)
}

struct Lowering<'g> {
    graph: &'g Graph,
    config: &'g Config,
    program: Program,
    /// Which tensors are made inside others.
    parts: Vec<Option<Part>>,
    /// How often each tensor is read.
    uses: Vec<usize>,
    /// Where each tensor is that has been computed, each constant that has been read, and
    /// each tensor that parts have been made of.
    places: Vec<Option<Operand>>,
}

impl Lowering<'_> {
    fn buffer(&mut self, tensor: &Tensor, storage: Storage) -> View {
        let (bytes, alignment) = (tensor.ty.bytes(), tensor.ty.dtype.size());
        let (name, ty) = (tensor.name.clone(), Some(tensor.ty.clone()));
        self.program.buffers.push(Buffer { name, ty, bytes, alignment, storage });
        let (dtype, len) = tensor.ty.stored();
        View { buffer: BufferId(self.program.buffers.len() - 1), offset: 0, dtype, len }
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

    /// How a state starts: constants of one byte take no flash.
    fn initial(&mut self, id: TensorId) -> Initial {
        let tensor = self.graph.tensor(id);
        let bytes = tensor.data.as_ref().map_or(&[][..], |data| data.bytes());
        match bytes.first() {
            Some(first) if bytes.iter().any(|byte| byte != first) => {
                Initial::Constant(self.program.constants.intern(tensor.ty.stored().0, bytes))
            }
            first => Initial::Fill(first.copied().unwrap_or(0)),
        }
    }

    /// Copies what states become to where they are kept, once nothing reads them any more.
    fn states(&mut self) {
        let views: Vec<View> = self.program.states.iter().map(|state| state.view).collect();
        let places = &self.places;
        let states = self.graph.states.iter().zip(views).filter(|(state, view)| {
            state.before != state.after && places[state.after.0] != Some(Operand::Buffer(*view))
        });
        let states: Vec<_> = states.collect();
        // One that another state becomes must not be written before it is read.
        for (state, _) in &states {
            if let Some(Operand::Buffer(view)) = self.places[state.after.0]
                && self.program.is_state(view.buffer)
            {
                let copy = self.copy(state.after, Storage::Workspace);
                self.places[state.after.0] = Some(Operand::Buffer(copy));
            }
        }
        for (state, view) in states {
            let x = self.read(state.after);
            self.copy_step(self.graph.tensor(state.before), x, Operand::Buffer(view));
        }
    }

    /// Copies every output that is an input, a constant, a state, or not in the caller's buffer as
    /// it should. Outputs in the workspace may share memory: they are only read.
    fn outputs(&mut self) {
        let inputs = self.program.inputs.iter().map(|port| port.view.buffer);
        let states = self.program.states.iter().map(|state| state.view.buffer);
        let given: Vec<BufferId> = inputs.chain(states).collect();
        for (i, &id) in self.graph.outputs.iter().enumerate() {
            let storage = self.output_storage(i);
            let view = match self.places[id.0] {
                Some(Operand::Buffer(view))
                    if self.program.buffer(view.buffer).storage == storage
                        && !given.contains(&view.buffer) =>
                {
                    view
                }
                _ => self.copy(id, storage),
            };
            self.port(id, view, |program| &mut program.outputs);
        }
    }

    /// Copies every tensor to be kept that is a constant, a state, or in the caller's arrays:
    /// a later run finds them there, or nobody does.
    fn kept(&mut self) {
        for &id in &self.graph.kept {
            let view = match self.places[id.0] {
                Some(Operand::Buffer(view))
                    if self.program.in_workspace(view.buffer) && !self.program.is_state(view.buffer) =>
                {
                    view
                }
                _ => self.copy(id, Storage::Workspace),
            };
            self.port(id, view, |program| &mut program.kept);
        }
    }

    fn copy(&mut self, id: TensorId, storage: Storage) -> View {
        let tensor = self.graph.tensor(id);
        let x = self.read(id);
        let view = self.buffer(tensor, storage);
        self.copy_step(tensor, x, Operand::Buffer(view));
        view
    }

    /// Appends a step that copies the elements of `tensor` from `x` to `y`.
    fn copy_step(&mut self, tensor: &Tensor, x: Operand, y: Operand) {
        let bytes = tensor.ty.bytes();
        if bytes == 0 {
            return;
        }
        let operands = vec![x.as_bytes(), y.as_bytes()];
        let work = Work::Kernel(Kernel::CopyI8(CopyI8 { len: bytes }));
        let name = format!("copy_{}", self.program.steps.len());
        let description = format!("{bytes} bytes");
        let node = tensor.name.clone();
        self.program.steps.push(Step { name, operator: "copy", node, description, work, operands, macs: 0 });
    }

    fn read(&mut self, id: TensorId) -> Operand {
        let tensor = self.graph.tensor(id);
        *self.places[id.0].get_or_insert_with(|| match &tensor.data {
            // Once for all its readers: to find equal ones takes all its bytes.
            Some(data) => {
                Operand::Constant(self.program.constants.intern(tensor.ty.stored().0, data.bytes()))
            }
            None => unreachable!("`{}` is read before it is written", tensor.name),
        })
    }

    fn write(&mut self, id: TensorId) -> Operand {
        if let Some(place) = self.places[id.0] {
            return place;
        }
        let tensor = self.graph.tensor(id);
        let place = if let Some(Part { whole, first }) = self.parts[id.0] {
            let place = self.write(whole).part(first, tensor.ty.stored().1);
            self.note_alias(id, place);
            place
        } else {
            let output = self.graph.outputs.iter().position(|output| *output == id);
            let storage = output.map_or(Storage::Workspace, |i| self.output_storage(i));
            Operand::Buffer(self.buffer(tensor, storage))
        };
        self.places[id.0] = Some(place);
        place
    }

    /// Where the tensor `after` is made by bringing `before` up to date.
    ///
    /// That is where a state is kept, if it becomes `after` and nothing else reads what it
    /// was; or a place of its own that `before` is copied to.
    fn update(&mut self, before: TensorId, after: TensorId) -> Operand {
        let x = self.read(before);
        let state = self.graph.states.iter().any(|state| (state.before, state.after) == (before, after));
        if state && self.uses[before.0] == 1 && self.places[after.0].is_none() {
            self.places[after.0] = Some(x);
            self.note_alias(after, x);
            return x;
        }
        let place = self.write(after);
        self.copy_step(self.graph.tensor(before), x, place);
        place
    }

    /// Notes for reports that a tensor has its elements in another's buffer.
    fn note_alias(&mut self, id: TensorId, place: Operand) {
        if let Operand::Buffer(view) = place {
            let Tensor { name, ty, .. } = self.graph.tensor(id);
            self.program.aliases.push(Alias { name: name.clone(), ty: Some(ty.clone()), view });
        }
    }
}

/// What an operator's lowering sees: its node, and the program that grows.
pub struct NodeLowering<'a, 'g> {
    lowering: &'a mut Lowering<'g>,
    node: &'g Node,
    /// Position of the device that runs the node, unless that is the CPU.
    device: Option<usize>,
    /// Constants that our own kernels read in another order, for the device's next step.
    packed: Vec<(Operand, Vec<u8>)>,
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

    /// Number of operands.
    #[must_use]
    pub const fn inputs(&self) -> usize {
        self.node.inputs.len()
    }

    /// Number of results.
    #[must_use]
    pub const fn outputs(&self) -> usize {
        self.node.outputs.len()
    }

    /// Result `i`.
    #[must_use]
    pub fn output(&self, i: usize) -> &'g Tensor {
        self.lowering.graph.tensor(self.node.outputs[i])
    }

    /// Whether anything reads result `i`.
    #[must_use]
    pub fn is_read(&self, i: usize) -> bool {
        self.lowering.uses[self.node.outputs[i].0] > 0
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

    /// Result `result` for a step to bring up to date: until then it is what operand
    /// `operand` is, a tensor of the same type.
    ///
    /// # Errors
    ///
    /// When the operand is left out.
    pub fn update(&mut self, operand: usize, result: usize) -> Result<Operand, OpError> {
        let before = self.node.inputs.get(operand).copied().flatten();
        let before = before.ok_or_else(|| OpError::from(format!("operand {operand} is missing")))?;
        Ok(self.lowering.update(before, self.node.outputs[result]))
    }

    /// Elements that the compiler made, little-endian.
    pub fn constant(&mut self, dtype: DType, bytes: &[u8]) -> Operand {
        Operand::Constant(self.lowering.program.constants.intern(dtype, bytes))
    }

    /// Whether a device runs the node.
    #[must_use]
    pub const fn has_device(&self) -> bool {
        self.device.is_some()
    }

    /// A constant that our kernel reads in another order than `plain`, as `packed`; a device is
    /// given it plain.
    pub fn packed(&mut self, dtype: DType, plain: &[u8], packed: Vec<u8>) -> Operand {
        if self.device.is_none() {
            return self.constant(dtype, &packed);
        }
        let operand = self.constant(dtype, plain);
        self.packed.push((operand, packed));
        operand
    }

    /// Memory for `len` elements that the node's steps hand on to each other.
    pub fn scratch(&mut self, what: &str, dtype: DType, len: usize) -> Operand {
        let program = &mut self.lowering.program;
        let (bytes, alignment) = (len * dtype.size(), dtype.size());
        let name = format!("{what} of {}", self.node.name);
        program.buffers.push(Buffer { name, ty: None, bytes, alignment, storage: Storage::Workspace });
        Operand::Buffer(View { buffer: BufferId(program.buffers.len() - 1), offset: 0, dtype, len })
    }

    /// Appends a step.
    pub fn step(&mut self, kernel: Kernel, operands: Vec<Operand>, macs: u64, description: String) {
        let work = match self.device {
            None => Work::Kernel(kernel),
            Some(device) => {
                let packed = std::mem::take(&mut self.packed).into_iter();
                let packed = packed.filter_map(|(operand, bytes)| {
                    Some((operands.iter().position(|known| *known == operand)?, bytes))
                });
                let unit = &self.lowering.config.devices[device].name;
                Work::Call(Call::new(device, unit, kernel, packed.collect()))
            }
        };
        let steps = &mut self.lowering.program.steps;
        let operator = self.node.op.label();
        let name = format!("{operator}_{}", steps.len());
        let node = self.node.name.clone();
        steps.push(Step { name, operator, node, description, work, operands, macs });
    }

    /// Makes result `i` a view of an operand, without a step, where the operator says that
    /// it is one; gives whether it does.
    ///
    /// # Errors
    ///
    /// When the operand is left out, or another type than the result.
    pub fn view(&mut self, i: usize) -> Result<bool, OpError> {
        let operands = self.lowering.graph.operands(self.node);
        let Some(ops::View { operand, first }) = self.node.op.view(i, &operands) else { return Ok(false) };
        let (x, y) = (self.input(operand)?, self.output(i));
        let len = y.ty.stored().1;
        if x.ty.dtype != y.ty.dtype || first + len > x.ty.stored().1 {
            return Err(format!("{} cannot be a view of {}", y.ty, x.ty).into());
        }
        let (id, place) = (self.node.outputs[i], self.read(operand)?.part(first, len));
        // Where the operand has been made inside the result, the place is there already.
        if self.lowering.places[id.0] != Some(place) {
            self.lowering.places[id.0] = Some(place);
            self.lowering.note_alias(id, place);
        }
        Ok(true)
    }
}
