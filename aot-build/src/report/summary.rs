//! What a model is and needs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use aot_rt::{DType, Quantization};
use serde::Serialize;

use super::program::{dtype_name, positions, schedule};
use super::{MemoryReport, PoolReport, StepReport, TensorReport, columns, label, spaced};
use crate::codegen::real_value;
use crate::hash::sha256;
use crate::import::SourceFile;
use crate::passes::DeadChannels;
use crate::program::Port;
use crate::{Compiled, Config, Model, SourceInfo};

/// What a model is and needs: all that the compiler knows of it. The constants behind a
/// runner's `METADATA` are printed from it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Version of this description: [`aot_rt::metadata::FORMAT`].
    pub format: u32,
    /// Version of `aot-build`.
    pub aot_build: &'static str,
    /// Name of the model file.
    pub file: String,
    /// Name of the generated type.
    pub name: String,
    /// Bytes of the model file.
    pub bytes: usize,
    /// SHA-256 of the model file, in hexadecimal.
    pub sha256: String,
    /// The files that the model file names.
    pub files: Vec<FileReport>,
    /// What was configured.
    pub configuration: ConfigurationReport,
    /// The inputs, in the model file's order.
    pub inputs: Vec<PortReport>,
    /// The outputs, in the model file's order.
    pub outputs: Vec<PortReport>,
    /// How often the file uses each operator.
    pub operators: BTreeMap<String, usize>,
    /// Calls of kernels in one run.
    pub steps: usize,
    /// Multiply-accumulates of one run; where `control_flow` is true, those of the larger branch and
    /// of one iteration of a loop.
    pub macs: u64,
    /// Whether it depends on the inputs which steps run, and how often.
    pub control_flow: bool,
    /// Channels that were removed since nothing depends on them, and what that saves.
    pub dead_channels: DeadChannels,
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
    /// The pools of the workspace and of the constants.
    pub pools: Vec<PoolReport>,
    /// The tensors; one that shares another's bytes follows it. Their first and last steps are
    /// positions in `schedule`.
    pub tensors: Vec<TensorReport>,
    /// The steps in order; those within a branch or a loop follow it.
    pub schedule: Vec<StepReport>,
    /// The devices that run steps, in alphabetical order, the CPU not among them.
    pub devices: Vec<String>,
}

/// A file that a model file names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileReport {
    /// Its name, as the model file gives it.
    pub file: String,
    /// Its size in bytes.
    pub bytes: usize,
    /// Its SHA-256 in hexadecimal.
    pub sha256: String,
}

/// A configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConfigurationReport {
    /// The keys whose values are not the defaults, as a table in `aot.toml` sets them.
    pub toml: String,
    /// SHA-256 of that text, in hexadecimal.
    pub sha256: String,
}

/// An input or output.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PortReport {
    /// Name in the model file.
    pub name: String,
    /// Type of the elements.
    #[serde(serialize_with = "dtype_name")]
    pub dtype: DType,
    /// Extents, outermost first.
    pub shape: Vec<usize>,
    /// Real value of one step; `None` for tensors that are not quantized.
    pub scale: Option<f32>,
    /// Integer that stands for 0; `None` for tensors that are not quantized.
    pub zero_point: Option<i32>,
}

impl Summary {
    /// Sums up `model`.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let compiled = &model.compiled;
        let program = &compiled.program;
        let tensors = tensors(compiled);
        let schedule = schedule(compiled, &tensors);
        let devices: BTreeSet<&String> = schedule.iter().filter_map(|step| step.device.as_ref()).collect();
        Self {
            format: aot_rt::metadata::FORMAT,
            aot_build: env!("CARGO_PKG_VERSION"),
            files: files(&model.source),
            configuration: ConfigurationReport::new(&model.config),
            devices: devices.into_iter().cloned().collect(),
            tensors,
            schedule,
            file: model.source.file.clone(),
            name: model.type_name.clone(),
            bytes: model.source.bytes,
            sha256: model.source.sha256.clone(),
            inputs: program.inputs.iter().map(PortReport::new).collect(),
            outputs: program.outputs.iter().map(PortReport::new).collect(),
            operators: model.source.operators.clone(),
            steps: program.steps.len(),
            macs: program.macs(),
            control_flow: program.has_control(),
            dead_channels: compiled.dead_channels,
            arena_bytes: compiled.arena_bytes,
            lower_bound: compiled.lower_bound,
            proved: compiled.proved,
            constant_bytes: program.constants.bytes().len(),
            state_bytes: program.state_bytes(),
            pools: PoolReport::all(compiled),
        }
    }
}

fn files(source: &SourceInfo) -> Vec<FileReport> {
    let others = source.files.iter().filter(|file| file.name != source.file);
    let report = |file: &SourceFile| FileReport {
        file: file.name.clone(),
        bytes: file.bytes,
        sha256: file.sha256.clone(),
    };
    others.map(report).collect()
}

/// The tensors, with steps counted as in the schedule.
fn tensors(compiled: &Compiled) -> Vec<TensorReport> {
    let positions = positions(&compiled.program);
    let mut tensors = MemoryReport::new(compiled).tensors;
    for tensor in &mut tensors {
        tensor.first_step = positions[tensor.first_step];
        // With all that the step holds.
        let next = positions.get(tensor.last_step + 1);
        tensor.last_step = next.map_or(positions[tensor.last_step], |next| next - 1);
    }
    tensors
}

impl ConfigurationReport {
    fn new(config: &Config) -> Self {
        let toml = config.to_toml();
        Self { sha256: sha256(toml.as_bytes()), toml }
    }
}

impl PortReport {
    fn new(port: &Port) -> Self {
        let quantization = port.ty.quantization.as_ref().and_then(|quantization| quantization.tensor_wide());
        Self {
            name: port.name.clone(),
            dtype: port.ty.dtype,
            shape: port.ty.shape.to_vec(),
            scale: quantization.map(|quantization| quantization.scale),
            zero_point: quantization.map(|quantization| quantization.zero_point),
        }
    }

    fn row(&self, role: &str) -> [String; 4] {
        let ty = format!("{} {:?}", self.dtype.name(), self.shape);
        [format!("  {role}"), label(&self.name), ty, self.real_value()]
    }

    /// What the integers stand for: `0.5847 (q − 83)`.
    fn real_value(&self) -> String {
        self.quantization().map_or(String::new(), real_value)
    }

    /// How its integers stand for real numbers, if they do.
    pub(crate) fn quantization(&self) -> Option<Quantization> {
        let (scale, zero_point) = self.scale.zip(self.zero_point)?;
        Some(Quantization { scale, zero_point })
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}: {} bytes, sha256 {}, type {}",
            label(&self.file),
            spaced(self.bytes),
            self.sha256,
            self.name
        )?;
        let ports = self.inputs.iter().map(|port| port.row("input"));
        let ports: Vec<_> = ports.chain(self.outputs.iter().map(|port| port.row("output"))).collect();
        write!(f, "{}", columns(&ports))?;
        let operators: Vec<_> =
            self.operators.iter().map(|(name, count)| format!("{name} {count}")).collect();
        writeln!(f, "  operators  {}", operators.join(", "))?;
        writeln!(f, "  steps      {}", spaced(self.steps))?;
        let counted =
            if self.control_flow { ", of branches the larger one, of loops one iteration" } else { "" };
        writeln!(f, "  MACs       {}{counted}", spaced(self.macs))?;
        let copies = self.schedule.iter().filter(|step| step.operator == "copy");
        // Each byte is read and written.
        let copied: Vec<u64> = copies.map(|step| step.bytes / 2).collect();
        if !copied.is_empty() {
            writeln!(f, "  copies     {}, {} bytes", copied.len(), spaced(copied.iter().sum::<u64>()))?;
        }
        if self.dead_channels.channels > 0 {
            let DeadChannels { channels, macs, weight_bytes } = self.dead_channels;
            let [channels, weights] = [channels, weight_bytes].map(spaced);
            let macs = spaced(macs);
            writeln!(f, "  removed    {channels} dead channels: {macs} MACs, {weights} bytes of weights")?;
        }
        let verdict = verdict(self.arena_bytes, self.lower_bound, self.proved);
        writeln!(f, "  arena      {} bytes, {verdict}", spaced(self.arena_bytes))?;
        writeln!(f, "  constants  {} bytes", spaced(self.constant_bytes))?;
        writeln!(f, "  state      {} bytes", spaced(self.state_bytes))
    }
}

/// How good a plan is: `proved minimal`, or the distance to the bound.
fn verdict(arena_bytes: usize, lower_bound: usize, proved: bool) -> String {
    if proved {
        return "proved minimal for this order of steps".to_owned();
    }
    let gap = arena_bytes.saturating_sub(lower_bound);
    let (bound, gap) = (spaced(lower_bound), spaced(gap));
    format!("not proved minimal: the lower bound is {bound}, {gap} less")
}
