//! The lowered form: a flat list of steps over buffers and constants.
//!
//! It is the only thing that the back ends see. Buffers have no offsets yet: the
//! [memory planner](crate::plan) gives them, and [`Compiled`](crate::Compiled) holds
//! both.

pub(crate) mod blocks;
mod call;
mod chains;
mod constant_pools;
mod constants;
mod control;
mod crossings;
mod dependencies;
mod fuse_add;
mod in_place;
mod liveness;
mod lower;
mod merger;
mod overlap;
mod parts;
mod pools;
mod run;
#[cfg(test)]
mod tests;

pub use call::{Call, CallOperand, Transfer};
pub(crate) use constant_pools::distribute;
pub use constants::ConstantPool;
pub use control::{Control, Flow, Work};
pub(crate) use crossings::copy_between_pools;
pub(crate) use fuse_add::fuse_add;
pub(crate) use in_place::in_place;
pub use liveness::Lifetime;
pub use lower::{NodeLowering, lower};
pub(crate) use overlap::{cells, gaps, loads, overlap, overlapped, overlapped_load, savings, shared};
pub(crate) use pools::{Around, candidates, unit};
pub use pools::{CPU, Crossing, PlacedPool};
pub use run::{Layer, Pushed, Run, RunOverlap};

use aot_rt::{Access, DType};

use crate::graph::TensorType;

/// Position of a buffer in [`Program::buffers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferId(pub(crate) usize);

impl BufferId {
    /// The position.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0
    }
}

/// Where a buffer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// In the workspace, at an offset that the planner chooses.
    Workspace,
    /// The caller's buffer for the input at this position.
    Input(usize),
    /// The caller's buffer for the output at this position.
    Output(usize),
}

/// Memory that steps write and read.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Name of the tensor that it was made for.
    pub name: String,
    /// Type of that tensor; `None` for memory that steps work in.
    pub ty: Option<TensorType>,
    /// Size in bytes.
    pub bytes: usize,
    /// Alignment in bytes.
    pub alignment: usize,
    /// Where it is.
    pub storage: Storage,
}

/// Elements of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// The buffer.
    pub buffer: BufferId,
    /// First byte.
    pub offset: usize,
    /// Type of the elements.
    pub dtype: DType,
    /// Number of elements.
    pub len: usize,
}

impl View {
    /// Size in bytes.
    #[must_use]
    pub const fn bytes(self) -> usize {
        self.len * self.dtype.size()
    }
}

/// Elements of the constants' blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstantView {
    /// First byte.
    pub offset: usize,
    /// Type of the elements.
    pub dtype: DType,
    /// Number of elements.
    pub len: usize,
}

/// What a step works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// An activation.
    Buffer(View),
    /// A constant.
    Constant(ConstantView),
}

impl Operand {
    /// Type of the elements.
    #[must_use]
    pub const fn dtype(self) -> DType {
        match self {
            Self::Buffer(view) => view.dtype,
            Self::Constant(view) => view.dtype,
        }
    }

    /// The buffer, unless it is a constant.
    pub(crate) const fn buffer(self) -> Option<BufferId> {
        match self {
            Self::Buffer(view) => Some(view.buffer),
            Self::Constant(_) => None,
        }
    }

    /// Number of elements.
    #[must_use]
    pub(crate) const fn len(self) -> usize {
        match self {
            Self::Buffer(view) => view.len,
            Self::Constant(view) => view.len,
        }
    }

    /// `len` of its elements, from `first` on.
    #[must_use]
    pub const fn part(self, first: usize, len: usize) -> Self {
        match self {
            Self::Buffer(view) => {
                Self::Buffer(View { offset: view.offset + first * view.dtype.size(), len, ..view })
            }
            Self::Constant(view) => {
                Self::Constant(ConstantView { offset: view.offset + first * view.dtype.size(), len, ..view })
            }
        }
    }

    /// The same memory as bytes, for kernels that only move it.
    #[must_use]
    pub const fn as_bytes(self) -> Self {
        match self {
            Self::Buffer(view) => {
                Self::Buffer(View { dtype: DType::I8, len: view.len * view.dtype.size(), ..view })
            }
            Self::Constant(view) => {
                Self::Constant(ConstantView { dtype: DType::I8, len: view.len * view.dtype.size(), ..view })
            }
        }
    }

    /// The same memory as signed integers, for kernels to which unsigned ones are the same.
    #[must_use]
    pub const fn as_signed(self) -> Self {
        match self {
            Self::Buffer(view) => Self::Buffer(View { dtype: signed(view.dtype), ..view }),
            Self::Constant(view) => Self::Constant(ConstantView { dtype: signed(view.dtype), ..view }),
        }
    }
}

const fn signed(dtype: DType) -> DType {
    match dtype {
        DType::U32 => DType::I32,
        DType::U64 => DType::I64,
        other => other,
    }
}

/// A call of a kernel, or steps that run together.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Operator and position: `conv2d_0`.
    pub name: String,
    /// The operator.
    pub operator: &'static str,
    /// Name of the model file's node that it comes from.
    pub node: String,
    /// Extents, strides and activation for the reader: `3×3, 8 → 16, relu`.
    pub description: String,
    /// The kernel and its parameters, a call of a device, or the steps.
    pub work: Work,
    /// The operands, in the order of [`Kernel::operands`](aot_rt::kernels::Kernel::operands)
    /// or of [`Call::operands`], or as [`Control`] says.
    pub operands: Vec<Operand>,
    /// Multiply-accumulates: of a condition those of the larger side, of a loop those of one
    /// iteration.
    pub macs: u64,
}

impl Step {
    /// Bytes of the constants among the operands.
    pub(crate) fn constant_bytes(&self) -> usize {
        let bytes = |operand: &Operand| match operand {
            Operand::Constant(view) => view.len * view.dtype.size(),
            Operand::Buffer(_) => 0,
        };
        self.operands.iter().map(bytes).sum()
    }

    /// Bytes of all operands.
    pub(crate) fn bytes(&self) -> u64 {
        let bytes = |operand: &Operand| (operand.len() * operand.dtype().size()) as u64;
        self.operands.iter().map(bytes).sum()
    }

    /// The buffers among the operands, and how they are used.
    pub fn buffers(&self) -> impl Iterator<Item = (View, Access)> {
        self.operands.iter().enumerate().filter_map(|(i, operand)| match operand {
            Operand::Buffer(view) => Some((*view, self.access(i))),
            Operand::Constant(_) => None,
        })
    }

    /// Name and access of the operands of its kernel or call.
    pub(crate) fn operand_infos(&self) -> Vec<(&str, Access)> {
        match &self.work {
            Work::Kernel(kernel) => kernel.operands().iter().map(|info| (info.name, info.access)).collect(),
            Work::Call(call) => {
                call.operands.iter().map(|operand| (operand.name.as_str(), operand.access)).collect()
            }
            Work::Control(_) => Vec::new(),
        }
    }

    /// The kernel that it runs, or the device's method.
    pub(crate) fn kernel_name(&self) -> Option<String> {
        match &self.work {
            Work::Kernel(kernel) => Some(kernel.name().to_owned()),
            Work::Call(call) => Some(call.name()),
            Work::Control(_) => None,
        }
    }

    /// How operand `operand` is used.
    pub(crate) fn access(&self, operand: usize) -> Access {
        match &self.work {
            Work::Kernel(kernel) => kernel.operands()[operand].access,
            Work::Call(call) => call.operands[operand].access,
            Work::Control(control) if operand < control.reads => Access::Read,
            Work::Control(_) => Access::Write,
        }
    }
}

/// An input or output of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    /// Name in the model file.
    pub name: String,
    /// Element type, extents, quantization.
    pub ty: TensorType,
    /// Where the elements are.
    pub view: View,
}

/// A tensor without memory of its own: a view of another's.
#[derive(Clone, Debug, PartialEq)]
pub struct Alias {
    /// Name in the model file.
    pub name: String,
    /// Type of the tensor; `None` for memory that steps work in.
    pub ty: Option<TensorType>,
    /// Where its elements are.
    pub view: View,
}

/// A tensor that is kept from run to run.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Name in the model file.
    pub name: String,
    /// Where its elements are.
    pub view: View,
    /// What they are before the first run.
    pub initial: Initial,
}

/// The bytes that a state starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initial {
    /// All are this one.
    Fill(u8),
    /// Those of a constant.
    Constant(ConstantView),
}

/// A lowered model.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Name of the model.
    pub name: String,
    /// Memory for activations.
    pub buffers: Vec<Buffer>,
    /// Weights, biases, tables.
    pub constants: ConstantPool,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Inputs, in the model file's order.
    pub inputs: Vec<Port>,
    /// Outputs, in the model file's order.
    pub outputs: Vec<Port>,
    /// Tensors that can be read after a run beside the outputs; they are in the workspace.
    pub kept: Vec<Port>,
    /// Tensors that are kept from run to run.
    pub states: Vec<State>,
    /// Tensors that are views of others, for reports.
    pub aliases: Vec<Alias>,
    /// Steps that run together, row by row; in their order.
    pub runs: Vec<Run>,
    /// How the one input is pushed, where its rows are: the first run reads them.
    pub pushed: Option<Pushed>,
    /// The devices that steps may be calls of, in the order in which they are activated.
    pub devices: Vec<Device>,
    /// Most bytes of a cell that is computed on the stack, for a result that overlaps its operand;
    /// none for what there is room for in any case.
    pub(crate) cell_limit: Option<usize>,
    /// Whether it is that of a region: its arrays are tensors of the program around it, a step of
    /// which holds its steps. None of these runs row by row.
    pub(crate) is_region: bool,
}

/// What runs steps beside the CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Name.
    pub name: String,
    /// Devices of a kind have one trait.
    pub kind: String,
    /// When it is activated.
    pub activate: aot_rt::Activate,
    /// How its kernels are called.
    pub calls: crate::config::Calls,
}

impl Program {
    /// The buffer with this id.
    #[must_use]
    pub fn buffer(&self, id: BufferId) -> &Buffer {
        &self.buffers[id.0]
    }

    /// Whether a buffer holds a state.
    pub(crate) fn is_state(&self, id: BufferId) -> bool {
        self.states.iter().any(|state| state.view.buffer == id)
    }

    /// What is read after a run: outputs, and what can be read besides.
    pub(crate) fn results(&self) -> impl Iterator<Item = &Port> {
        self.outputs.iter().chain(&self.kept)
    }

    /// Bytes that are kept from run to run.
    #[must_use]
    pub fn state_bytes(&self) -> usize {
        self.states.iter().map(|state| state.view.bytes()).sum()
    }

    /// Whether a view is a whole buffer.
    pub(crate) fn is_whole(&self, view: View) -> bool {
        view.offset == 0 && view.bytes() == self.buffer(view.buffer).bytes
    }

    /// Whether a buffer is in the workspace, not the caller's.
    pub(crate) fn in_workspace(&self, id: BufferId) -> bool {
        self.buffer(id).storage == Storage::Workspace
    }

    /// Takes out the buffers that nothing uses.
    pub(crate) fn remove_unused_buffers(&mut self) {
        let lifetimes = self.lifetimes();
        let mut next = 0;
        let ids: Vec<BufferId> = lifetimes
            .iter()
            .map(|lifetime| {
                let id = BufferId(next);
                next += usize::from(lifetime.start < lifetime.end);
                id
            })
            .collect();
        let mut lifetimes = lifetimes.iter();
        self.buffers.retain(|_| lifetimes.next().is_some_and(|lifetime| lifetime.start < lifetime.end));
        for view in self.views_mut() {
            view.buffer = ids[view.buffer.0];
        }
    }

    /// All views: of steps, ports and aliases.
    pub(crate) fn views_mut(&mut self) -> impl Iterator<Item = &mut View> {
        let operands = self.steps.iter_mut().flat_map(Step::views_mut);
        let ports = self.inputs.iter_mut().chain(&mut self.outputs).chain(&mut self.kept);
        let ports = ports.map(|port| &mut port.view);
        let ports = ports.chain(self.states.iter_mut().map(|state| &mut state.view));
        operands.chain(ports).chain(self.aliases.iter_mut().map(|alias| &mut alias.view))
    }

    /// All buffers.
    pub(crate) fn ids(&self) -> impl Iterator<Item = BufferId> + use<> {
        (0..self.buffers.len()).map(BufferId)
    }

    /// For each buffer, the steps that use it, in order.
    pub(crate) fn users(&self) -> Vec<Vec<usize>> {
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); self.buffers.len()];
        for (i, step) in self.steps.iter().enumerate() {
            for (view, _) in step.buffers() {
                let users = &mut users[view.buffer.0];
                if users.last() != Some(&i) {
                    users.push(i);
                }
            }
        }
        users
    }

    /// Whether it depends on the inputs which steps run, and how often.
    pub(crate) fn has_control(&self) -> bool {
        self.steps.iter().any(|step| step.control().is_some())
    }

    /// Positions of the devices that steps call, those within other steps included.
    #[must_use]
    pub fn called_devices(&self) -> Vec<usize> {
        let steps: Vec<_> = self.steps.iter().flat_map(Step::with_nested).collect();
        let calls =
            |device: &usize| steps.iter().any(|step| step.call().is_some_and(|call| call.device == *device));
        (0..self.devices.len()).filter(calls).collect()
    }

    /// Multiply-accumulates of one run; where that depends on the inputs, see
    /// [`Step::macs`].
    #[must_use]
    pub fn macs(&self) -> u64 {
        self.steps.iter().fold(0, |sum, step| sum.saturating_add(step.macs))
    }
}
