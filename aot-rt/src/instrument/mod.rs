//! What observes the steps of a run.

mod checksum;
mod per_step;
mod profiler;
mod saturation;

pub use checksum::{Checksum, Checksums};
pub use profiler::{Profiler, Spent};
pub use saturation::{Saturated, Saturation};

use half::{bf16, f16};

/// A step of a model: constants that the compiler wrote down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepInfo {
    /// Position among the model's steps; steps within a branch or a loop follow it.
    pub index: usize,
    /// Its name, operator and position: `conv2d_0`. No two steps of a model have the same.
    pub name: &'static str,
    /// The operator that it computes, or a part of: `conv2d`.
    pub operator: &'static str,
    /// The kernel, a function in [`kernels`](crate::kernels), or nothing for branches and loops.
    pub kernel: Option<&'static str>,
    /// Name of the model file's node that it comes from.
    pub node: &'static str,
    /// Multiply-accumulates: of a branch those of the larger side, of a loop those of one
    /// iteration.
    pub macs: u64,
    /// Bytes of the operands that it reads and writes, constants included.
    pub bytes: u64,
    /// How often it is called to be done once: its rows, where layers run row by row, or 1.
    pub rows: u64,
    /// The device that runs it, if that is not the CPU.
    pub device: Option<&'static str>,
}

/// What to do with a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Action {
    /// Run it.
    #[default]
    Run,
    /// Leave it out: its results are whatever their memory holds.
    Skip,
}

/// What a step wrote.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Elements<'a> {
    /// Signed 8-bit integers, or bytes that hold two integers of four bits.
    I8(&'a [i8]),
    /// Unsigned 8-bit integers.
    U8(&'a [u8]),
    /// Signed 16-bit integers.
    I16(&'a [i16]),
    /// Signed 32-bit integers.
    I32(&'a [i32]),
    /// Unsigned 32-bit integers.
    U32(&'a [u32]),
    /// Signed 64-bit integers.
    I64(&'a [i64]),
    /// Unsigned 64-bit integers.
    U64(&'a [u64]),
    /// Half precision.
    F16(&'a [f16]),
    /// bfloat16.
    BF16(&'a [bf16]),
    /// Single precision.
    F32(&'a [f32]),
    /// Truth values, a byte each.
    Bool(&'a [u8]),
}

/// Observes the steps of a run.
///
/// `()` observes nothing, and code that is generated for it is the same as without: the
/// methods `run` of a runner are `run_with(&mut (), ..)`.
///
/// ```
/// use aot_rt::{Action, Instrument, StepInfo};
///
/// /// Runs only the first `steps` steps.
/// struct Only { steps: usize }
///
/// impl Instrument for Only {
///     fn before(&mut self, step: &'static StepInfo) -> Action {
///         if step.index < self.steps { Action::Run } else { Action::Skip }
///     }
/// }
/// ```
///
/// Where layers run row by row, both methods are called for each row of each layer, and see
/// that row.
///
/// [`Profiler`], [`Checksums`] and [`Saturation`] are ready to be used. Two instruments observe
/// a run together as a pair.
pub trait Instrument {
    /// Called before `step`; says whether it runs.
    #[inline(always)]
    fn before(&mut self, step: &'static StepInfo) -> Action {
        let _ = step;
        Action::Run
    }

    /// Called after `step` has run, with all that it has written, its result first.
    #[inline(always)]
    fn after(&mut self, step: &'static StepInfo, outputs: &[Elements<'_>]) {
        let _ = (step, outputs);
    }
}

impl Instrument for () {}

impl<I: Instrument + ?Sized> Instrument for &mut I {
    #[inline]
    fn before(&mut self, step: &'static StepInfo) -> Action {
        (**self).before(step)
    }

    #[inline]
    fn after(&mut self, step: &'static StepInfo, outputs: &[Elements<'_>]) {
        (**self).after(step, outputs);
    }
}

/// Both observe; a step that one of them skips does not run.
impl<A: Instrument, B: Instrument> Instrument for (A, B) {
    fn before(&mut self, step: &'static StepInfo) -> Action {
        match (self.0.before(step), self.1.before(step)) {
            (Action::Run, Action::Run) => Action::Run,
            _ => Action::Skip,
        }
    }

    fn after(&mut self, step: &'static StepInfo, outputs: &[Elements<'_>]) {
        self.0.after(step, outputs);
        self.1.after(step, outputs);
    }
}
