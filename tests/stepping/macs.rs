//! `max_step_macs`: no step computes more, and the outputs are the same to the bit.

use std::cell::{Cell, RefCell};

use aot_rt::{Action, Instrument, StepInfo};

use super::{
    digits, digits_18432, digits_40000, digits_147455, digits_float, digits_float_20000, digits_rows_18432,
    layer, layer_64, layer_200, matrices, matrices_10, values,
};

/// Counts how often each kernel is called.
struct Calls<const N: usize>([u64; N]);

impl<const N: usize> Instrument for Calls<N> {
    fn before(&mut self, step: &'static StepInfo) -> Action {
        self.0[step.index] += 1;
        Action::Run
    }
}

/// Sums up what is computed, when it is known how often each kernel is called in a run.
struct Meter<'m, const N: usize> {
    calls: [u64; N],
    macs: &'m Cell<u64>,
    steps: &'m RefCell<Vec<&'static str>>,
}

impl<const N: usize> Instrument for Meter<'_, N> {
    fn before(&mut self, step: &'static StepInfo) -> Action {
        let calls = self.calls[step.index];
        assert_eq!(step.macs % calls, 0, "{}", step.name);
        self.macs.set(self.macs.get() + step.macs / calls);
        self.steps.borrow_mut().push(step.name);
        Action::Run
    }
}

/// One input, or several as a struct.
macro_rules! input {
    ($module:ident) => {
        &values()
    };
    ($module:ident $($field:ident)+) => {
        $module::RunnerInputs { $($field: &values()),+ }
    };
}

/// Compares a divided model with the whole one, and measures each of its steps.
macro_rules! within {
    ($most:literal, $divided:ident, $whole:ident $($field:ident)*) => {{
        let mut whole = $whole::Runner::new();
        let expected = *whole.run(input!($whole $($field)*));
        let mut runner = $divided::Runner::new();
        let mut calls = Calls([0; $divided::Runner::STEPS.len()]);
        assert_eq!(runner.run_with(&mut calls, input!($divided $($field)*)), &expected);
        assert_eq!($divided::Runner::MACS, $whole::Runner::MACS);
        runner.fill_workspace(0xa5);
        let (macs, steps) = (Cell::new(0), RefCell::new(Vec::new()));
        let meter = Meter { calls: calls.0, macs: &macs, steps: &steps };
        let mut run = runner.start_with(meter, input!($divided $($field)*));
        let (mut sum, mut most) = (0, 0);
        while let Some(step) = run.step() {
            let computed = macs.take();
            assert!(computed <= $most, "`{}` computes {computed}", step.name);
            assert!(steps.take().iter().all(|name| *name == step.name));
            sum += computed;
            most = most.max(computed);
        }
        assert_eq!(sum, $whole::Runner::MACS);
        assert!(2 * most > $most, "blocks are as large as they may be, or nearly: {most}");
        assert_eq!(run.finish(), &expected);
    }};
}

#[test]
fn steps_are_within_the_limit() {
    within!(18_432, digits_18432, digits);
    within!(40_000, digits_40000, digits);
    within!(147_455, digits_147455, digits);
    within!(18_432, digits_rows_18432, digits);
    within!(20_000, digits_float_20000, digits_float);
    within!(64, layer_64, layer);
    within!(200, layer_200, layer);
    within!(10, matrices_10, matrices x0 x1);
}
