//! What the user can choose.
//!
//! Keys are set one at a time ([`Config::set`]), wherever they come from: inline in
//! `aot_model!`, from `aot.toml` ([`Config::load`]), or from the tool's command line.
//! [`Config::KEYS`] documents them.

mod devices;
mod file;
mod keys;
mod pools;
mod text;

pub use devices::{Candidate, Device, Rule};
pub use keys::Key;
pub(crate) use keys::Name;
pub use pools::{Pool, PoolKind};
/// Value of a key.
pub use toml::Value;

use std::collections::BTreeMap;
use std::num::{NonZeroU64, NonZeroUsize};

use serde::{Deserialize, Serialize};

use crate::graph::GraphBuilder;
use crate::plan::Planner;
use crate::schedule;

/// What the code is optimised for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Optimize {
    /// Kernels are compiled for the extents of each layer where that pays.
    #[default]
    Speed,
    /// One instance of each kernel serves all layers.
    Size,
}

/// How steps call their kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Calls {
    /// Each by its own typed function.
    #[default]
    Direct,
    /// All by one signature: parameters, and an array of tensor descriptions.
    Packed,
    /// By that signature, through pointers that are bound by name when the program starts.
    Registry,
}

/// How often the integer arithmetic rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rounding {
    /// Twice, as TensorFlow Lite Micro does.
    #[default]
    Double,
    /// Once, as builds with `TFLITE_SINGLE_ROUNDING` do.
    Single,
}

/// How much time may be given for less RAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Memory {
    /// None, unless the model exceeds `ram_limit` otherwise.
    #[default]
    Auto,
    /// As much as it takes: layers run row by row where that needs less.
    Min,
}

/// Where inputs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputPlacement {
    /// In the workspace, planned together with the activations.
    #[default]
    Workspace,
    /// In buffers that the caller passes to `run`.
    Caller,
    /// The caller pushes one row after the other; only some are in the workspace.
    Rows,
}

/// Where outputs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// In the workspace, planned together with the activations.
    #[default]
    Workspace,
    /// In buffers that the caller passes to `run`.
    Caller,
}

/// Configuration of one model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Config {
    /// Name of the generated type; that of the file by default.
    pub name: Option<String>,
    /// What the code is optimised for.
    pub optimize: Optimize,
    /// How steps call their kernels.
    pub calls: Calls,
    /// How often the integer arithmetic rounds.
    pub rounding: Rounding,
    /// Where the inputs are.
    pub inputs: InputPlacement,
    /// Where the outputs are.
    pub outputs: Placement,
    /// How much time may be given for less RAM.
    pub memory: Memory,
    /// How places in the workspace are chosen.
    pub planner: Planner,
    /// Names of tensors that can be read after a run.
    pub keep: Vec<String>,
    /// Most bytes of RAM that the workspace may take; [`Config::ADDRESSABLE`] without.
    pub ram_limit: Option<usize>,
    /// Most bytes of flash that the constants may take; [`Config::ADDRESSABLE`] without.
    pub flash_limit: Option<usize>,
    /// Most bytes of the model file and of those that it names, together.
    pub model_limit: u64,
    /// Most bytes of generated source.
    pub source_limit: usize,
    /// How far each search may go, for an order of the steps, for runs of rows and for places:
    /// steps that are tried, rows that are simulated. Counted, not timed, so that every
    /// machine gives the same result.
    pub search_limit: u64,
    /// Most multiply-accumulates of a step of a run that goes step by step; no limit without.
    pub max_step_macs: Option<NonZeroU64>,
    /// The first extent of inputs for which the file leaves it open.
    pub batch: Option<NonZeroUsize>,
    /// The shapes of all inputs, where the file leaves extents open; empty for what it says.
    pub shapes: Vec<Vec<usize>>,
    /// The signature to compile: a subgraph of the file, with its inputs and outputs.
    pub signature: Option<String>,
    /// The subgraph to compile.
    pub subgraph: Option<String>,
    /// What runs nodes beside the CPU, in the order in which it is activated.
    #[serde(serialize_with = "devices::by_name")]
    pub devices: Vec<Device>,
    /// Pieces of memory by name; one workspace and one blob of constants where there are none of
    /// that kind.
    pub pools: BTreeMap<String, Pool>,
}

impl Config {
    /// Bytes that a target of 32 bits can address in one piece.
    pub const ADDRESSABLE: usize = GraphBuilder::MAX_TENSOR_BYTES;
}

impl Default for Config {
    fn default() -> Self {
        Self {
            name: None,
            optimize: Optimize::default(),
            calls: Calls::default(),
            rounding: Rounding::default(),
            inputs: InputPlacement::default(),
            outputs: Placement::default(),
            memory: Memory::default(),
            planner: Planner::default(),
            keep: Vec::new(),
            ram_limit: None,
            flash_limit: None,
            model_limit: 1 << 30,
            source_limit: 1 << 24,
            search_limit: schedule::Limits::default().nodes,
            max_step_macs: None,
            batch: None,
            shapes: Vec::new(),
            signature: None,
            subgraph: None,
            devices: Vec::new(),
            pools: BTreeMap::new(),
        }
    }
}
