//! Where the time of a run goes.

use core::fmt;

use super::per_step::PerStep;
use super::{Action, Elements, Instrument, StepInfo};

/// Measures the steps of a run with a clock of yours.
///
/// The clock is a function that reads a counter: cycles, microseconds, whatever counts up and
/// does not start over during the run. Nothing is allocated. What several runs, iterations of a loop and
/// rows of a layer take is added up. A branch or loop has only the time that its steps leave.
///
/// Its [`Display`](fmt::Display) is a table of the steps, then one of the operators. Only a
/// program that prints it holds the code for that.
///
/// ```
/// use aot_rt::{Instrument, Profiler, StepInfo};
///
/// // As the compiler writes it; `Net::STEPS` of your model.
/// static STEPS: [StepInfo; 1] = [StepInfo {
///     index: 0,
///     name: "conv2d_0",
///     operator: "conv2d",
///     kernel: Some("conv2d_i8"),
///     node: "conv",
///     macs: 640,
///     bytes: 100,
///     rows: 1,
///     device: None,
/// }];
///
/// let mut now = 0;
/// let mut profiler = Profiler::new(&STEPS, || { now += 200; now });
/// // What `net.run_with(&mut profiler, ..)` does:
/// profiler.before(&STEPS[0]);
/// profiler.after(&STEPS[0], &[]);
/// assert_eq!(profiler.ticks(), 200);
/// assert_eq!(profiler.to_string(), "\
/// step            calls        ticks  share         MACs  MACs/tick
/// conv2d_0            1          200 100.0%          640       3.20
///
/// operator        calls        ticks  share         MACs  MACs/tick
/// conv2d              1          200 100.0%          640       3.20
/// total               1          200 100.0%          640       3.20
/// ");
/// ```
///
/// Of a pair of instruments, it is the first, so as not to measure the other:
/// `(profiler, checksums)`.
#[derive(Clone, Debug)]
pub struct Profiler<C, const STEPS: usize> {
    clock: C,
    steps: PerStep<Entry, STEPS>,
    ticks: u64,
}

/// What a step, or several, have taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Calls: of a layer that runs row by row, one for each row.
    pub calls: u64,
    /// Ticks of the clock.
    pub ticks: u64,
    /// Multiply-accumulates; those of branches and loops count for the steps in them.
    pub macs: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    calls: u64,
    ticks: u64,
    /// When it started last.
    started: u64,
    /// What all steps together had taken then.
    before: u64,
}

impl Entry {
    const NEW: Self = Self { calls: 0, ticks: 0, started: 0, before: 0 };
}

impl<C: FnMut() -> u64, const STEPS: usize> Profiler<C, STEPS> {
    /// A profiler for the model with these steps, `Net::STEPS`.
    pub const fn new(steps: &'static [StepInfo; STEPS], clock: C) -> Self {
        Self { clock, steps: PerStep::new(steps, Entry::NEW), ticks: 0 }
    }
}

impl<C, const STEPS: usize> Profiler<C, STEPS> {
    /// Forgets what has been measured.
    pub fn reset(&mut self) {
        self.steps.fill(Entry::NEW);
        self.ticks = 0;
    }

    /// What all steps have taken.
    #[must_use]
    pub const fn ticks(&self) -> u64 {
        self.ticks
    }

    /// What each step has taken, in order.
    pub fn steps(&self) -> impl Iterator<Item = (&'static StepInfo, Spent)> + Clone {
        self.steps.iter().map(|(step, entry)| {
            let done = step.macs.saturating_mul(entry.calls).checked_div(step.rows).unwrap_or(0);
            let macs = if step.kernel.is_none() && step.device.is_none() { 0 } else { done };
            (step, Spent { calls: entry.calls, ticks: entry.ticks, macs })
        })
    }
}

impl<C: FnMut() -> u64, const STEPS: usize> Instrument for Profiler<C, STEPS> {
    fn before(&mut self, step: &'static StepInfo) -> Action {
        if let Some(entry) = self.steps.get_mut(step) {
            entry.before = self.ticks;
            entry.started = (self.clock)();
        }
        Action::Run
    }

    fn after(&mut self, step: &'static StepInfo, _: &[Elements<'_>]) {
        let now = (self.clock)();
        if let Some(entry) = self.steps.get_mut(step) {
            // The steps within this one have taken their own.
            let within = self.ticks.saturating_sub(entry.before);
            let ticks = now.saturating_sub(entry.started).saturating_sub(within);
            entry.calls = entry.calls.saturating_add(1);
            entry.ticks = entry.ticks.saturating_add(ticks);
            self.ticks = self.ticks.saturating_add(ticks);
        }
    }
}

impl<C, const STEPS: usize> fmt::Display for Profiler<C, STEPS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.steps.name_width("operator");
        let mut line = |name: &str, spent: Spent| row(f, width, name, spent, self.ticks);
        let called = || self.steps().filter(|(_, spent)| spent.calls > 0);
        line("step", Spent::default())?;
        for (step, spent) in called() {
            line(step.name, spent)?;
        }
        line("", Spent::default())?;
        line("operator", Spent::default())?;
        for (i, (step, _)) in called().enumerate() {
            if called().take(i).all(|(other, _)| other.operator != step.operator) {
                line(step.operator, sum(called().filter(|(other, _)| other.operator == step.operator)))?;
            }
        }
        line("total", sum(called()))
    }
}

fn sum(steps: impl Iterator<Item = (&'static StepInfo, Spent)>) -> Spent {
    steps.fold(Spent::default(), |sum, (_, spent)| Spent {
        calls: sum.calls.saturating_add(spent.calls),
        ticks: sum.ticks.saturating_add(spent.ticks),
        macs: sum.macs.saturating_add(spent.macs),
    })
}

/// A line of the table; without a call its title, or an empty line.
fn row(f: &mut fmt::Formatter<'_>, width: usize, name: &str, spent: Spent, all: u64) -> fmt::Result {
    let Spent { calls, ticks, macs } = spent;
    match (name, calls) {
        ("", 0) => return writeln!(f),
        (_, 0) => {
            return writeln!(
                f,
                "{name:width$} {:>12} {:>12} {:>6} {:>12} {:>10}",
                "calls", "ticks", "share", "MACs", "MACs/tick"
            );
        }
        _ => write!(f, "{name:width$} {calls:>12} {ticks:>12} ")?,
    }
    let permille = parts(ticks, 1000, all).unwrap_or(0);
    write!(f, "{:>3}.{}% {macs:>12} ", permille / 10, permille % 10)?;
    match parts(macs, 100, ticks) {
        Some(rate) => writeln!(f, "{:>7}.{:02}", rate / 100, rate % 100),
        None => writeln!(f, "{:>10}", "-"),
    }
}

/// `value / whole` in parts of so many.
fn parts(value: u64, parts: u64, whole: u64) -> Option<u128> {
    (u128::from(value) * u128::from(parts)).checked_div(whole.into())
}
