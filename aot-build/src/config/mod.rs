//! What the user can choose.
//!
//! Keys are set one at a time ([`Config::set`]), wherever they come from: inline in
//! `aot_model!`, from `aot.toml` ([`Config::load`]), or from the tool's command line.
//! [`Config::KEYS`] documents them.

mod file;
mod keys;

pub use keys::Key;
/// Value of a key.
pub use toml::Value;

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::plan::Planner;

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
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Config {
    /// Name of the generated type; that of the file by default.
    pub name: Option<String>,
    /// What the code is optimised for.
    pub optimize: Optimize,
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
    /// Most bytes of RAM that the workspace may take.
    pub ram_limit: Option<usize>,
    /// Most bytes of flash that the constants may take.
    pub flash_limit: Option<usize>,
    /// The first extent of inputs for which the file leaves it open.
    pub batch: Option<NonZeroUsize>,
    /// The shapes of all inputs, where the file leaves extents open; empty for what it says.
    pub shapes: Vec<Vec<usize>>,
    /// The signature to compile: a subgraph of the file, with its inputs and outputs.
    pub signature: Option<String>,
    /// The subgraph to compile.
    pub subgraph: Option<String>,
}
