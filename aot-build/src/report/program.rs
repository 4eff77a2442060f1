//! What a model is compiled to: steps and their operands.

use aot_rt::{Access, DType};
use serde::{Serialize, Serializer};

use super::TensorReport;
use super::memory::CALLER;
use crate::Compiled;
use crate::program::{Operand, PlacedPool, Program, Step, Work};

/// A step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepReport {
    /// Operator and position: `conv2d_0`.
    pub name: String,
    /// The operator.
    pub operator: &'static str,
    /// The kernel; `None` for branches and loops.
    pub kernel: Option<String>,
    /// Name of the model file's node that it comes from.
    pub node: String,
    /// Multiply-accumulates: of a branch those of the larger side, of a loop those of one
    /// iteration.
    pub macs: u64,
    /// Bytes of the operands that it reads and writes, constants included.
    pub bytes: u64,
    /// The device that runs it; `None` for the CPU.
    pub device: Option<String>,
    /// What it works on, in the order of the kernel's arguments.
    pub operands: Vec<OperandReport>,
}

/// What a step works on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OperandReport {
    /// Name of the kernel's argument.
    pub name: String,
    /// Whether it is written.
    #[serde(serialize_with = "access_name")]
    pub access: Access,
    /// Type of the elements.
    #[serde(serialize_with = "dtype_name")]
    pub dtype: DType,
    /// Number of elements.
    pub elements: usize,
    /// Position of the tensor whose memory it is, among the tensors; `None` for constants.
    pub tensor: Option<usize>,
    /// Name of the pool that it is in, or `caller`.
    pub pool: String,
    /// First byte in the pool; `None` for the caller's arrays.
    pub offset: Option<usize>,
}

fn access_name<S: Serializer>(access: &Access, serializer: S) -> Result<S::Ok, S::Error> {
    match access {
        Access::Read => "read",
        Access::Write => "write",
    }
    .serialize(serializer)
}

pub(super) fn dtype_name<S: Serializer>(dtype: &DType, serializer: S) -> Result<S::Ok, S::Error> {
    dtype.name().serialize(serializer)
}

/// The steps, those within a step behind it; `tensors` are the program's.
pub(super) fn schedule(compiled: &Compiled, tensors: &[TensorReport]) -> Vec<StepReport> {
    // Each buffer is the tensor that it was made for, and what shares it follows that.
    let owners = tensors.iter().enumerate().filter(|(_, tensor)| tensor.alias_of.is_none());
    let owners: Vec<usize> = owners.map(|(i, _)| i).collect();
    let steps = compiled.program.steps.iter().flat_map(Step::with_nested);
    steps.map(|step| StepReport::new(compiled, step, &owners)).collect()
}

/// For each step, its position among all, those within steps counted; at the end the number of all.
pub(super) fn positions(program: &Program) -> Vec<usize> {
    let mut positions = vec![0];
    for step in &program.steps {
        positions.extend(positions.last().map(|position| position + step.with_nested().len()));
    }
    positions
}

impl StepReport {
    fn new(compiled: &Compiled, step: &Step, owners: &[usize]) -> Self {
        let operands = step.operands.iter().enumerate();
        Self {
            name: step.name.clone(),
            operator: step.operator,
            kernel: step.kernel_name(),
            node: step.node.clone(),
            macs: step.macs,
            bytes: step.bytes(),
            device: step.call().map(|call| compiled.program.devices[call.device].name.clone()),
            operands: operands
                .map(|(i, operand)| OperandReport::new(compiled, step, (i, operand), owners))
                .collect(),
        }
    }
}

impl OperandReport {
    fn new(compiled: &Compiled, step: &Step, (i, operand): (usize, &Operand), owners: &[usize]) -> Self {
        let (tensor, (pool, offset)) = match operand {
            Operand::Constant(view) => (None, place(&compiled.constant_pools, view.offset)),
            Operand::Buffer(view) => {
                let buffer = view.buffer.index();
                let in_workspace = compiled.program.in_workspace(view.buffer);
                let address = compiled.offsets[buffer] + view.offset;
                let caller = (CALLER, None);
                let place = if in_workspace { place(&compiled.workspaces, address) } else { caller };
                (Some(owners[buffer]), place)
            }
        };
        let pool = pool.to_owned();
        let (name, access) = (argument(step, i), step.access(i));
        Self { name, access, dtype: operand.dtype(), elements: operand.len(), tensor, pool, offset }
    }
}

/// The pool that an address is in, and the byte there.
fn place(pools: &[PlacedPool], address: usize) -> (&str, Option<usize>) {
    let pool = &pools[PlacedPool::at(pools, address)];
    (&pool.name, Some(address - pool.start))
}

/// What a step calls its operand `i`.
fn argument(step: &Step, i: usize) -> String {
    let name = match &step.work {
        Work::Kernel(kernel) => kernel.operands()[i].name,
        Work::Call(call) => &call.operands[i].name,
        Work::Control(control) if i < control.reads => "x",
        Work::Control(control) if control.least_scratch.is_some() && i + 1 == step.operands.len() => "memory",
        Work::Control(_) => "y",
    };
    name.to_owned()
}
