//! What the compiler knows of a model, as constants: `METADATA` of every generated runner.
//!
//! A program that does not name the constant holds nothing of it.

use crate::{Access, DType, Quantization, StepInfo, TensorInfo};

/// Version of [`Metadata`]: it grows when a field changes its meaning, not when one is added.
pub const FORMAT: u32 = 1;

/// What the compiler knows of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metadata {
    /// Version of this description, [`FORMAT`].
    pub format: u32,
    /// Version of `aot-build`, which generated the code.
    pub aot_build: &'static str,
    /// Name of the generated type.
    pub name: &'static str,
    /// The model file.
    pub file: File,
    /// The files that the model file names.
    pub files: &'static [File],
    /// What was configured.
    pub configuration: Configuration,
    /// How often the model file uses each operator.
    pub operators: &'static [Operator],
    /// The inputs, in the model file's order.
    pub inputs: &'static [TensorInfo],
    /// The outputs, in the model file's order.
    pub outputs: &'static [TensorInfo],
    /// The memory that tensors and constants lie in.
    pub pools: &'static [Pool],
    /// The tensors; one that shares another's bytes follows it.
    pub tensors: &'static [Tensor],
    /// The steps in order; those within a branch or a loop follow it.
    pub steps: &'static [Step],
    /// The devices that run steps, in alphabetical order, the CPU not among them.
    pub devices: &'static [&'static str],
    /// What a run takes.
    pub sizes: Sizes,
}

/// A file that a model was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name, as the model file gives it.
    pub name: &'static str,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its SHA-256 in hexadecimal.
    pub sha256: &'static str,
}

/// A configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// The keys whose values are not the defaults, as a table in `aot.toml` sets them.
    pub toml: &'static str,
    /// SHA-256 of that text, in hexadecimal.
    pub sha256: &'static str,
}

/// An operator of the model file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operator {
    /// Its name.
    pub name: &'static str,
    /// How often the file uses it.
    pub uses: usize,
}

/// Memory that tensors or constants lie in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub kind: PoolKind,
    /// Bytes that are used.
    pub bytes: usize,
    /// Most bytes that may be used.
    pub limit: Option<usize>,
    /// Its link section.
    pub section: Option<&'static str>,
    /// Whether it is memory that constants are copied to.
    pub copy: bool,
}

/// What a pool is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolKind {
    /// Tensors that steps write.
    Workspace,
    /// Constants.
    Constants,
}

/// A tensor that steps write, or the caller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tensor {
    /// Name in the model file.
    pub name: &'static str,
    /// Type of the elements; `None` for memory that steps work in.
    pub dtype: Option<DType>,
    /// Extents, outermost first.
    pub shape: &'static [usize],
    /// Meaning of the integers, for quantized tensors.
    pub quantization: Option<Quantization>,
    /// Size in bytes: less than its elements have where only some rows are kept at a time.
    pub bytes: usize,
    /// The pool that it is in: a position in [`Metadata::pools`]; `None` for the caller's arrays.
    pub pool: Option<usize>,
    /// First byte in the pool.
    pub offset: Option<usize>,
    /// The first and the last step at which its bytes are in use: positions in
    /// [`Metadata::steps`]; the number of steps for what is needed after them.
    pub steps: [usize; 2],
    /// The tensor whose bytes and steps it shares: a position in [`Metadata::tensors`].
    pub alias_of: Option<usize>,
}

/// A step, and what it works on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// What an instrument is told of it.
    pub info: &'static StepInfo,
    /// Its operands, in the order of the kernel's arguments.
    pub operands: &'static [Operand],
}

/// What a step works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Name of the kernel's argument.
    pub name: &'static str,
    /// Read; or written and perhaps read.
    pub access: Access,
    /// Type of the elements.
    pub dtype: DType,
    /// Number of elements.
    pub len: usize,
    /// The tensor whose memory it is: a position in [`Metadata::tensors`]; `None` for
    /// constants.
    pub tensor: Option<usize>,
    /// The pool that it is in: a position in [`Metadata::pools`]; `None` for the caller's arrays.
    pub pool: Option<usize>,
    /// First byte in the pool.
    pub offset: Option<usize>,
}

/// What a run takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes of the workspace.
    pub arena_bytes: usize,
    /// Least size of the workspace that any plan for this order of steps can have.
    pub lower_bound: usize,
    /// Whether no smaller workspace is possible for this order of steps.
    pub proved: bool,
    /// Bytes of the constants.
    pub constant_bytes: usize,
    /// Bytes that are kept from run to run.
    pub state_bytes: usize,
    /// Multiply-accumulates of one run; where `control_flow` is true, those of the larger
    /// branch and of one iteration of a loop.
    pub macs: u64,
    /// Whether it depends on the inputs which steps run, and how often.
    pub control_flow: bool,
}
