//! `max_step_macs`: no step computes more, and the outputs are the same to the bit.

use std::cell::{Cell, RefCell};

use aot_rt::{Action, Instrument, StepInfo};

use super::{
    depthwise, depthwise_300, depthwise_1200, digits, digits_18432, digits_40000, digits_147455,
    digits_float, digits_float_20000, digits_rows_18432, dilated_volumes, dilated_volumes_2000,
    dilated_volumes_3200, images, images_300, images_432, layer, layer_64, layer_200, lstm, lstm_160,
    lstm_330, lstm_backwards, lstm_backwards_330, lstm_sequences, lstm_sequences_350, lstm_sequences_700,
    lstm_sequences_1010, matrices, matrices_10, nested, nested_216, nested_500, rnn, rnn_360, rnn_750, svdf,
    svdf_30, svdf_40, svdf_batch, svdf_batch_20, svdf_batch_80, svdf_memory, svdf_memory_45, svdf_rank,
    svdf_rank_80, transposed, transposed_1300, transposed_1900, transposed_images, transposed_images_2000,
    transposed_images_4300, transposed_odd, transposed_odd_300, values, volumes, volumes_12000,
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

#[test]
fn layers_become_several_steps() {
    within!(300, images_300, images);
    within!(432, images_432, images);
    within!(300, depthwise_300, depthwise);
    within!(1200, depthwise_1200, depthwise);
    within!(1300, transposed_1300, transposed);
    within!(1900, transposed_1900, transposed);
    within!(2000, transposed_images_2000, transposed_images);
    within!(4300, transposed_images_4300, transposed_images);
    within!(300, transposed_odd_300, transposed_odd);
    within!(12_000, volumes_12000, volumes);
    within!(2000, dilated_volumes_2000, dilated_volumes);
    within!(3200, dilated_volumes_3200, dilated_volumes);
}

#[test]
fn recurrent_layers_become_several_steps() {
    within!(160, lstm_160, lstm);
    within!(330, lstm_330, lstm);
    within!(350, lstm_sequences_350, lstm_sequences);
    within!(700, lstm_sequences_700, lstm_sequences);
    within!(1010, lstm_sequences_1010, lstm_sequences);
    within!(330, lstm_backwards_330, lstm_backwards);
    within!(360, rnn_360, rnn);
    within!(750, rnn_750, rnn);
    within!(30, svdf_30, svdf);
    within!(40, svdf_40, svdf);
    within!(20, svdf_batch_20, svdf_batch);
    within!(80, svdf_batch_80, svdf_batch);
    within!(45, svdf_memory_45, svdf_memory);
    within!(80, svdf_rank_80, svdf_rank);
}

/// What a layer remembers goes on from run to run.
#[test]
fn divided_layers_remember() {
    let (mut whole, mut divided) = (lstm::Runner::new(), lstm_160::Runner::new());
    let (mut filter, mut divided_filter) = (svdf_rank::Runner::new(), svdf_rank_80::Runner::new());
    let (mut backwards, mut divided_backwards) =
        (lstm_backwards::Runner::new(), lstm_backwards_330::Runner::new());
    let first = *whole.run(&values());
    assert_eq!(divided.run(&values()), &first);
    assert_ne!(whole.run(&values()), &first);
    assert_eq!(divided.run(&values()), whole.y());
    for _ in 0..3 {
        assert_eq!(backwards.run(&values()), divided_backwards.run(&values()));
        assert_eq!(filter.run(&values()), divided_filter.run(&values()));
    }
}

/// Compares what branches and loops compute, and looks at each kernel that is called.
macro_rules! within_others {
    ($most:literal, $divided:ident) => {
        for c in [0, 1] {
            let x = values();
            let mut whole = nested::Runner::new();
            let expected = *whole.run(nested::RunnerInputs { c: &[c], x: &x });
            let mut runner = $divided::Runner::new();
            let inputs = $divided::RunnerInputs { c: &[c], x: &x };
            assert_eq!(runner.run(inputs), &expected);
            runner.fill_workspace(0xa5);
            let mut run = runner.start(inputs);
            let mut kernels = 0;
            while let Some(step) = run.step() {
                if step.kernel.is_some() {
                    assert!(step.macs <= $most, "`{}` computes {}", step.name, step.macs);
                    kernels += 1;
                }
            }
            assert_eq!(run.finish(), &expected);
            // Of 1296 in each convolution, and 648 in the layer behind.
            assert!(kernels >= 1944 / $most, "{kernels}");
        }
        assert_eq!($divided::Runner::MACS, nested::Runner::MACS);
    };
}

#[test]
fn steps_within_others_are_within_the_limit() {
    within_others!(216, nested_216);
    within_others!(500, nested_500);
}
