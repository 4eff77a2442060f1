//! Runs that go step by step: what generated code needs beside the steps.

use core::convert::Infallible;
use core::fmt;
use core::ops::RangeInclusive;
use core::pin::Pin;
use core::task::{Context, Poll};

use crate::StepInfo;

/// Why a run, some of whose steps may fail, did not run one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepError<E> {
    /// The step failed. That ends the run.
    Failed(E),
    /// The run has ended: one of its steps failed before. Nothing ran.
    Ended,
}

impl<E: fmt::Display> fmt::Display for StepError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => error.fmt(f),
            Self::Ended => f.write_str("the run has ended: one of its steps failed"),
        }
    }
}

impl<E: core::error::Error> core::error::Error for StepError<E> {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Failed(error) => error.source(),
            Self::Ended => None,
        }
    }
}

/// Why a run did not come to a step. `E` is what steps may fail with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UntilError<E = Infallible> {
    /// No step of the model has the name, and no node whose steps these are. Nothing ran.
    NoSuchStep,
    /// The step does not come any more: the run was past it, or has taken another branch.
    /// Where it was past it, nothing ran; else, the run stands behind the branch.
    Past,
    /// A step before it failed.
    Step(StepError<E>),
}

impl<E: fmt::Display> fmt::Display for UntilError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchStep => f.write_str("no step and no node of the model has this name"),
            Self::Past => f.write_str("the step does not come any more in this run"),
            Self::Step(error) => error.fmt(f),
        }
    }
}

impl<E: core::error::Error> core::error::Error for UntilError<E> {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Step(error) => error.source(),
            Self::NoSuchStep | Self::Past => None,
        }
    }
}

/// Whether the step `next` is the one that is called `name`, or one of the node that is.
///
/// `repeated` are steps that run as long as one of them is next: those of loops, and layers
/// that run row by row together.
///
/// # Errors
///
/// When there is no such step, or it does not come any more.
pub fn is_next<E>(
    steps: &[StepInfo],
    repeated: &[RangeInclusive<usize>],
    name: &str,
    next: Option<&StepInfo>,
) -> Result<bool, UntilError<E>> {
    let is_step = steps.iter().any(|step| step.name == name);
    let called = |step: &StepInfo| if is_step { step.name == name } else { step.node == name };
    if !steps.iter().any(called) {
        return Err(UntilError::NoSuchStep);
    }
    let next = next.ok_or(UntilError::Past)?;
    let may_come = |step: &StepInfo| {
        let together = repeated.iter().find(|steps| steps.contains(&step.index));
        next.index <= together.map_or(step.index, |steps| *steps.end())
    };
    if called(next) {
        Ok(true)
    } else if steps.iter().any(|step| called(step) && may_come(step)) {
        Ok(false)
    } else {
        Err(UntilError::Past)
    }
}

/// Lets other tasks of an executor run once.
///
/// ```
/// # async fn task() {
/// aot_rt::yield_now().await;
/// # }
/// ```
pub const fn yield_now() -> YieldNow {
    YieldNow { yielded: false }
}

/// The future of [`yield_now`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited"]
pub struct YieldNow {
    yielded: bool,
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.yielded {
            return Poll::Ready(());
        }
        self.yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn step(index: usize, name: &'static str, node: &'static str) -> StepInfo {
        let (operator, kernel, device) = ("relu", None, None);
        StepInfo { index, name, operator, kernel, node, macs: 0, bytes: 0, rows: 1, device }
    }

    /// `c` and `d` are in a loop.
    const STEPS: [StepInfo; 5] =
        [step(0, "a", "x"), step(1, "b", "x"), step(2, "c", "e"), step(3, "d", "a"), step(4, "e", "y")];

    #[test]
    fn is_next_cases() {
        use UntilError::{NoSuchStep, Past};
        for (name, next, expect) in [
            ("a", Some(0), Ok(true)),
            ("b", Some(0), Ok(false)),
            ("a", Some(1), Err(Past)),
            // A node of two steps.
            ("x", Some(0), Ok(true)),
            ("x", Some(1), Ok(true)),
            ("x", Some(2), Err(Past)),
            ("c", Some(3), Ok(false)),
            ("d", Some(2), Ok(false)),
            ("c", Some(4), Err(Past)),
            // A step's name comes before a node's.
            ("e", Some(2), Ok(false)),
            ("y", None, Err(Past)),
            ("z", Some(0), Err(NoSuchStep)),
            ("z", None, Err(NoSuchStep)),
        ] {
            let next = next.map(|index: usize| &STEPS[index]);
            assert_eq!(is_next::<Infallible>(&STEPS, &[2..=3], name, next), expect, "{name}, {next:?}");
        }
    }

    #[test]
    fn other_tasks_run_once() {
        let mut context = Context::from_waker(core::task::Waker::noop());
        let mut future = yield_now();
        assert_eq!(Pin::new(&mut future).poll(&mut context), Poll::Pending);
        assert_eq!(Pin::new(&mut future).poll(&mut context), Poll::Ready(()));
    }
}
