//! What is to be ordered: steps, the tensors that they read and write, and which
//! must come before which.

use std::fmt;

/// Memory that steps write and read.
///
/// It is alive from the first step that reads or writes it until the last; an
/// input from the start, an output to the end. An input that no step reads takes
/// no part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tensor {
    /// Size in bytes.
    pub bytes: usize,
    /// Alive from the start.
    pub input: bool,
    /// Alive to the end.
    pub output: bool,
}

/// Something to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Tensors that it reads, by position.
    pub reads: Vec<usize>,
    /// Tensors that it writes, or writes a part of, by position.
    pub writes: Vec<usize>,
    /// Bytes that are alive during this step only.
    pub scratch: usize,
    /// Bytes that what it reads and what it writes may have in common.
    pub shares: Vec<Share>,
    /// Steps before this one in the given order that must come before it in every
    /// order.
    pub after: Vec<usize>,
}

/// Bytes that a step's result may share with an operand.
///
/// They are shared when the operand is not alive after the step and the result not
/// before it; of several pairs only the one that shares most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The tensor that is read.
    pub read: usize,
    /// The tensor that is written.
    pub written: usize,
    /// Most bytes in common.
    pub bytes: usize,
}

/// Steps in their given order, and their tensors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// The tensors.
    pub tensors: Vec<Tensor>,
    /// The steps.
    pub steps: Vec<Step>,
}

/// How a problem contradicts itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The step names a tensor that is not there.
    Tensor {
        /// Position of the step.
        step: usize,
    },
    /// The step is to come after itself or after one that follows it in the given
    /// order.
    Order {
        /// Position of the step.
        step: usize,
    },
    /// The bytes add up to more than can be counted.
    TooLarge,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tensor { step } => write!(f, "step {step} names a tensor that is not there"),
            Self::Order { step } => write!(f, "step {step} is to come after a later one"),
            Self::TooLarge => f.write_str("the sizes add up to more bytes than can be counted"),
        }
    }
}

impl std::error::Error for Fault {}

impl Step {
    /// The tensors that it reads or writes, each once, in ascending order.
    pub(super) fn tensors(&self) -> Vec<usize> {
        let mut tensors = [&*self.reads, &*self.writes].concat();
        tensors.sort_unstable();
        tensors.dedup();
        tensors
    }
}

impl Problem {
    /// Has every step come after those before it that write what it reads, and
    /// after those that read what it writes.
    #[must_use]
    pub fn in_order_of_data(mut self) -> Self {
        let mut readers: Vec<Vec<usize>> = vec![Vec::new(); self.tensors.len()];
        let mut writers = readers.clone();
        for (position, step) in self.steps.iter_mut().enumerate() {
            let written = step.reads.iter().flat_map(|tensor| &writers[*tensor]);
            let read = step.writes.iter().flat_map(|tensor| &readers[*tensor]);
            step.after.extend(written.chain(read));
            step.after.sort_unstable();
            step.after.dedup();
            step.reads.iter().for_each(|tensor| readers[*tensor].push(position));
            step.writes.iter().for_each(|tensor| writers[*tensor].push(position));
        }
        self
    }

    /// Finds contradictions.
    pub(super) fn check(&self) -> Result<(), Fault> {
        for (position, step) in self.steps.iter().enumerate() {
            let shared = step.shares.iter().flat_map(|share| [share.read, share.written]);
            let mut named = step.reads.iter().chain(&step.writes).copied().chain(shared);
            if named.any(|tensor| tensor >= self.tensors.len()) {
                return Err(Fault::Tensor { step: position });
            }
            if step.after.iter().any(|before| *before >= position) {
                return Err(Fault::Order { step: position });
            }
        }
        let tensors = self.tensors.iter().map(|tensor| tensor.bytes);
        let mut bytes = tensors.chain(self.steps.iter().map(|step| step.scratch));
        // So no sum of bytes alive together overflows either.
        match bytes.try_fold(0_usize, usize::checked_add) {
            Some(_) => Ok(()),
            None => Err(Fault::TooLarge),
        }
    }

    /// Where in the given order each tensor is used.
    pub(super) fn spans(&self) -> Vec<Span> {
        let mut spans = vec![Span::default(); self.tensors.len()];
        for (position, step) in self.steps.iter().enumerate() {
            for &tensor in step.reads.iter().chain(&step.writes) {
                let span = &mut spans[tensor];
                span.first.get_or_insert(position);
                span.last = Some(position);
            }
        }
        spans
    }
}

/// The first and the last step that use a tensor.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    pub(super) first: Option<usize>,
    pub(super) last: Option<usize>,
}
