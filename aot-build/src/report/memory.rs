//! How the workspace is used: which tensor lies where, from which step to which.

use std::fmt;

use aot_rt::{DType, Quantization};
use serde::{Serialize, Serializer};

use super::{Figure, RunReport, columns, label, spaced};
use crate::Compiled;
use crate::config::PoolKind;
use crate::graph::TensorType;
use crate::program::{Lifetime, PlacedPool, Storage};

/// What stands for the caller's arrays among the pools.
pub(super) const CALLER: &str = "caller";

/// How the workspace of a model is used.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemoryReport {
    /// Bytes of the workspace: of all its pools.
    pub arena_bytes: usize,
    /// The pools of the workspace and of the constants.
    pub pools: Vec<PoolReport>,
    /// Bytes from the start of the first pool of the workspace to the end of the last, where they
    /// lie one behind the other.
    #[serde(skip)]
    pub span: usize,
    /// Least size that any plan for this order of steps can have.
    pub lower_bound: usize,
    /// Whether no smaller plan exists for this order of steps.
    pub proved: bool,
    /// Names of the steps, in order.
    pub steps: Vec<String>,
    /// The tensors; one that shares another's bytes follows it.
    pub tensors: Vec<TensorReport>,
    /// Where most bytes are alive.
    pub peak: Peak,
    /// Steps that run together, row by row.
    pub runs: Vec<RunReport>,
    /// Bytes of RAM as technique after technique is used.
    pub figures: Vec<Figure>,
}

/// A pool, as far as the model uses it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PoolReport {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: PoolKind,
    /// Bytes that are used.
    pub bytes: usize,
    /// Most bytes that may be used.
    pub limit: Option<usize>,
    /// Its link section.
    pub section: Option<String>,
    /// Whether it is memory that constants are copied to.
    pub copy: bool,
}

/// A tensor's place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TensorReport {
    /// Name in the model file.
    pub name: String,
    /// Type of the elements; `None` for memory that steps work in.
    #[serde(serialize_with = "optional_dtype")]
    pub dtype: Option<DType>,
    /// Extents, outermost first; `None` for memory that steps work in.
    pub shape: Option<Vec<usize>>,
    /// Real value of one step; `None` for tensors that are not quantized.
    pub scale: Option<f32>,
    /// Integer that stands for 0; `None` for tensors that are not quantized.
    pub zero_point: Option<i32>,
    /// Size in bytes: less than its elements have where only some rows are kept at a time.
    pub bytes: usize,
    /// Position of the first step at which its bytes are in use.
    pub first_step: usize,
    /// Position of the last step at which its bytes are in use: the number of steps
    /// for outputs, which the caller reads after them.
    pub last_step: usize,
    /// The pool that it lies in: `workspace` where none is configured; `caller` for the caller's
    /// buffers.
    pub pool: String,
    /// First byte in the pool; `None` for the caller's buffers.
    pub offset: Option<usize>,
    /// The same where all pools lie one behind the other.
    #[serde(skip)]
    pub address: Option<usize>,
    /// The tensor whose bytes and steps it shares.
    pub alias_of: Option<String>,
    /// The tensor that it takes bytes of while that is still read: as far as the kernel
    /// has read it.
    pub overlaps: Option<String>,
}

/// The step at which most bytes of the workspace are alive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Peak {
    /// Position of the step; the number of steps stands for the time after the last.
    pub step: usize,
    /// Bytes of the workspace that are in use.
    pub bytes: usize,
    /// The tensors that are alive, the largest first.
    pub tensors: Vec<PeakTensor>,
}

/// A tensor that is alive at the peak.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PeakTensor {
    /// Name in the model file.
    pub name: String,
    /// Size in bytes.
    pub bytes: usize,
}

impl MemoryReport {
    /// Describes the memory of `compiled`.
    #[must_use]
    pub fn new(compiled: &Compiled) -> Self {
        let program = &compiled.program;
        let mut tensors = Vec::new();
        let lifetimes = program.lifetimes();
        for (i, (buffer, Lifetime { start, end })) in program.buffers.iter().zip(lifetimes).enumerate() {
            let address = (buffer.storage == Storage::Workspace).then(|| compiled.offsets[i]);
            let pool =
                address.map(|address| &compiled.workspaces[PlacedPool::at(&compiled.workspaces, address)]);
            let row = TensorReport {
                first_step: start,
                last_step: end.saturating_sub(1),
                pool: pool.map_or(CALLER, |pool| &pool.name).to_owned(),
                offset: address.zip(pool).map(|(address, pool)| address - pool.start),
                address,
                ..TensorReport::new(&buffer.name, buffer.ty.as_ref(), buffer.bytes)
            };
            let aliases = program.aliases.iter().filter(|alias| alias.view.buffer.index() == i);
            let aliases: Vec<_> = aliases
                .map(|alias| TensorReport {
                    first_step: row.first_step,
                    last_step: row.last_step,
                    pool: row.pool.clone(),
                    offset: row.offset.map(|offset| offset + alias.view.offset),
                    address: row.address.map(|address| address + alias.view.offset),
                    alias_of: Some(row.name.clone()),
                    ..TensorReport::new(&alias.name, alias.ty.as_ref(), alias.view.bytes())
                })
                .collect();
            tensors.push(row);
            tensors.extend(aliases);
        }
        note_overlaps(&mut tensors);
        let steps: Vec<_> = program.steps.iter().map(|step| step.name.clone()).collect();
        Self {
            arena_bytes: compiled.arena_bytes,
            pools: PoolReport::all(compiled),
            span: compiled.span(),
            lower_bound: compiled.lower_bound,
            proved: compiled.proved,
            peak: Peak::find(&tensors, steps.len()),
            runs: RunReport::all(program),
            figures: compiled.figures.clone(),
            steps,
            tensors,
        }
    }

    /// The table of tensors, its heading first.
    pub(super) fn rows(&self) -> Vec<[String; 8]> {
        let heading = ["tensor", "bytes", "from", "to", "pool", "offset", "alias of", "overlaps"];
        let heading = heading.map(str::to_owned);
        let rows = self.tensors.iter().map(|tensor| {
            [
                label(&tensor.name),
                spaced(tensor.bytes),
                tensor.first_step.to_string(),
                self.last_step(tensor),
                tensor.pool.clone(),
                tensor.offset.map_or(String::new(), spaced),
                tensor.alias_of.as_deref().map_or(String::new(), label),
                tensor.overlaps.as_deref().map_or(String::new(), label),
            ]
        });
        std::iter::once(heading).chain(rows).collect()
    }

    /// The last step that uses the tensor, or `end`.
    pub(super) fn last_step(&self, tensor: &TensorReport) -> String {
        if tensor.last_step < self.steps.len() { tensor.last_step.to_string() } else { "end".into() }
    }

    /// `8 192 bytes, lower bound 8 192, proved optimal for this order of steps`.
    pub(super) fn verdict(&self) -> String {
        let (arena, bound) = (spaced(self.arena_bytes), spaced(self.lower_bound));
        let verdict = match self.arena_bytes.saturating_sub(self.lower_bound) {
            _ if self.proved => "proved optimal for this order of steps".to_owned(),
            gap => format!("not proved optimal: {} more than the bound", spaced(gap)),
        };
        format!("{arena} bytes, lower bound {bound}, {verdict}")
    }

    /// The pools, a line each, unless there is only the workspace and the blob of constants.
    pub(crate) fn pools_in_words(&self) -> Vec<String> {
        let names: Vec<_> = self.pools.iter().map(|pool| pool.name.as_str()).collect();
        if names == ["workspace", "constants"] {
            Vec::new()
        } else {
            self.pools.iter().map(PoolReport::in_words).collect()
        }
    }

    /// `` 8 192 bytes; at step 1 `conv2d_1` are alive: `conv1` 4 096, `conv2` 4 096 ``.
    pub(super) fn peak_in_words(&self) -> String {
        let Peak { bytes, tensors, .. } = &self.peak;
        let sum: usize = tensors.iter().map(|tensor| tensor.bytes).sum();
        let shared = match sum.saturating_sub(*bytes) {
            0 => String::new(),
            shared => format!(", which share {}", spaced(shared)),
        };
        let tensors: Vec<_> = tensors
            .iter()
            .map(|PeakTensor { name, bytes }| format!("`{}` {}", label(name), spaced(bytes)))
            .collect();
        format!("{} bytes; {} are alive: {}{shared}", spaced(bytes), self.time_of_peak(), tensors.join(", "))
    }

    /// Where most bytes of one pool are alive.
    pub(crate) fn peak_of(&self, pool: &str) -> Peak {
        let tensors = self.tensors.iter().filter(|tensor| tensor.pool == pool).cloned();
        Peak::find(&tensors.collect::<Vec<_>>(), self.steps.len())
    }

    /// `` at step 1 `conv2d_1` ``.
    pub(crate) fn time_of_peak(&self) -> String {
        self.time_of(&self.peak)
    }

    /// The same of another peak.
    pub(crate) fn time_of(&self, peak: &Peak) -> String {
        let step = peak.step;
        match self.steps.get(step) {
            Some(name) => format!("at step {step} `{name}`"),
            None => "after the last step".into(),
        }
    }
}

impl PoolReport {
    pub(super) fn all(compiled: &Compiled) -> Vec<Self> {
        compiled.workspaces.iter().chain(&compiled.constant_pools).map(Self::new).collect()
    }

    fn new(pool: &PlacedPool) -> Self {
        let PlacedPool { name, pool, bytes, .. } = pool;
        Self {
            name: name.clone(),
            kind: pool.kind,
            bytes: *bytes,
            limit: pool.limit,
            section: pool.section.clone(),
            copy: pool.copy,
        }
    }

    /// `pool dtcm (workspace, section .dtcm): 8 192 of 16 384 bytes`.
    pub(crate) fn in_words(&self) -> String {
        let mut what = vec![match self.kind {
            PoolKind::Workspace => "workspace".to_owned(),
            PoolKind::Constants => "constants".to_owned(),
        }];
        what.extend(self.copy.then(|| "copied to RAM".to_owned()));
        what.extend(self.section.iter().map(|section| format!("section {section}")));
        let limit = self.limit.map_or(String::new(), |limit| format!(" of {}", spaced(limit)));
        format!("pool {} ({}): {}{limit} bytes", self.name, what.join(", "), spaced(self.bytes))
    }
}

/// Bytes that at least one of the tensors has.
fn bytes_in_use<'t>(tensors: impl Iterator<Item = &'t TensorReport>) -> usize {
    let mut ranges: Vec<_> = tensors.filter_map(TensorReport::range).collect();
    ranges.sort_unstable_by_key(|range| range.start);
    let (mut bytes, mut end) = (0, 0);
    for range in ranges {
        bytes += range.end.saturating_sub(range.start.max(end));
        end = end.max(range.end);
    }
    bytes
}

/// Finds the tensors that share bytes although both are alive.
fn note_overlaps(tensors: &mut [TensorReport]) {
    for i in 0..tensors.len() {
        let new = &tensors[i];
        let shares = |old: &&TensorReport| {
            let (Some(a), Some(b)) = (old.range(), new.range()) else { return false };
            let older = old.first_step < new.first_step
                || (old.first_step, old.last_step) < (new.first_step, new.last_step);
            older && old.last_step >= new.first_step && a.start < b.end && b.start < a.end
        };
        tensors[i].overlaps = tensors.iter().find(shares).map(|old| old.name.clone());
    }
}

impl TensorReport {
    /// A tensor that is in no step's use and nowhere yet.
    pub(super) fn new(name: &str, ty: Option<&TensorType>, bytes: usize) -> Self {
        let quantization = ty.and_then(|ty| ty.quantization.as_ref()?.tensor_wide());
        Self {
            name: name.to_owned(),
            dtype: ty.map(|ty| ty.dtype),
            shape: ty.map(|ty| ty.shape.to_vec()),
            scale: quantization.map(|quantization| quantization.scale),
            zero_point: quantization.map(|quantization| quantization.zero_point),
            bytes,
            first_step: 0,
            last_step: 0,
            pool: CALLER.to_owned(),
            offset: None,
            address: None,
            alias_of: None,
            overlaps: None,
        }
    }

    /// How its integers stand for real numbers, if they do.
    pub(crate) fn quantization(&self) -> Option<Quantization> {
        let (scale, zero_point) = self.scale.zip(self.zero_point)?;
        Some(Quantization { scale, zero_point })
    }

    /// Its own bytes in the workspace.
    fn range(&self) -> Option<std::ops::Range<usize>> {
        let address = self.address.filter(|_| self.alias_of.is_none())?;
        Some(address..address + self.bytes)
    }

    /// Whether it has bytes of its own in the workspace that are in use at `step`.
    pub(super) fn occupies(&self, step: usize) -> bool {
        self.alias_of.is_none()
            && self.address.is_some()
            && (self.first_step..=self.last_step).contains(&step)
    }
}

fn optional_dtype<S: Serializer>(dtype: &Option<DType>, serializer: S) -> Result<S::Ok, S::Error> {
    dtype.map(DType::name).serialize(serializer)
}

impl Peak {
    fn find(tensors: &[TensorReport], steps: usize) -> Self {
        let alive = |step: usize| tensors.iter().filter(move |tensor| tensor.occupies(step));
        let bytes = |step: &usize| bytes_in_use(alive(*step));
        // The first of the steps with the most bytes.
        let step = (0..=steps).rev().max_by_key(bytes).unwrap_or(0);
        let mut peak: Vec<_> = alive(step).collect();
        peak.sort_by_key(|tensor| std::cmp::Reverse(tensor.bytes));
        let tensors = peak.iter().map(|tensor| PeakTensor { name: tensor.name.clone(), bytes: tensor.bytes });
        Self { step, bytes: bytes(&step), tensors: tensors.collect() }
    }
}

impl fmt::Display for MemoryReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", columns(&self.rows()))?;
        writeln!(f, "arena: {}", self.verdict())?;
        for pool in self.pools_in_words() {
            writeln!(f, "{pool}")?;
        }
        writeln!(f, "peak: {}", self.peak_in_words())?;
        for run in &self.runs {
            writeln!(f, "{}", run.in_words())?;
        }
        let figures = self.figures.iter().map(|figure| [figure.name.into(), spaced(figure.bytes)]);
        let figures: Vec<[String; 2]> = figures.collect();
        write!(f, "\nbytes of RAM, technique after technique:\n{}", columns(&figures))
    }
}
