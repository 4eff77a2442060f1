//! Runs that go step by step: what they compute, in which order, and where they stop.

/// A module for each model.
macro_rules! models {
    ($($name:ident)*) => {$(
        mod $name {
            include!(concat!(env!("OUT_DIR"), "/stepping/", stringify!($name), "/runner.rs"));
        }
    )*};
}

models! {
    digits digits_rows digits_caller digits_float digits_packed digits_registry
    branches loops layer matrices
    digits_18432 digits_40000 digits_147455 digits_rows_18432 digits_float_20000
    layer_64 layer_200 matrices_10
    nested nested_216 nested_500
    images images_300 images_432 depthwise depthwise_300 depthwise_1200
    transposed transposed_1300 transposed_1900 transposed_images transposed_images_2000 transposed_images_4300
    transposed_odd transposed_odd_300 volumes volumes_12000
    dilated_volumes dilated_volumes_2000 dilated_volumes_3200
    lstm lstm_160 lstm_330 lstm_sequences lstm_sequences_350 lstm_sequences_700 lstm_sequences_1010
    lstm_backwards lstm_backwards_330 rnn rnn_360 rnn_750
    svdf svdf_30 svdf_40 svdf_batch svdf_batch_20 svdf_batch_80 svdf_memory svdf_memory_45 svdf_rank svdf_rank_80
}

mod asynchronous;
mod control;
mod failing;
mod macs;
mod order;

use std::cell::RefCell;

use aot_rt::{Action, Elements, Instrument, StepInfo};

/// Elements that look random, the same each time.
trait Value: Copy {
    fn of(i: usize) -> Self;
}

impl Value for i8 {
    fn of(i: usize) -> Self {
        (i.wrapping_mul(0x9e37_79b9).wrapping_add(7) >> 8) as Self
    }
}

impl Value for i16 {
    fn of(i: usize) -> Self {
        Self::from(i8::of(i)) * 100
    }
}

impl Value for f32 {
    fn of(i: usize) -> Self {
        Self::from(i8::of(i)) / 32.0
    }
}

fn values<T: Value, const N: usize>() -> [T; N] {
    std::array::from_fn(T::of)
}

/// What an instrument is told, in order.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Before(&'static str),
    /// Of the outputs, the number of elements, and the sum of their bytes.
    After(&'static str, usize, u64),
}

/// Notes events.
#[derive(Default)]
struct Log(RefCell<Vec<Event>>);

impl Log {
    fn take(&self) -> Vec<Event> {
        self.0.take()
    }
}

impl Instrument for &Log {
    fn before(&mut self, step: &'static StepInfo) -> Action {
        self.0.borrow_mut().push(Event::Before(step.name));
        Action::Run
    }

    fn after(&mut self, step: &'static StepInfo, outputs: &[Elements<'_>]) {
        let mut count = 0;
        let mut sum = 0;
        for output in outputs {
            let (elements, text) = match output {
                Elements::I8(x) => (x.len(), format!("{x:?}")),
                Elements::F32(x) => {
                    (x.len(), format!("{:?}", x.iter().map(|x| x.to_bits()).collect::<Vec<_>>()))
                }
                Elements::I32(x) => (x.len(), format!("{x:?}")),
                Elements::Bool(x) | Elements::U8(x) => (x.len(), format!("{x:?}")),
                other => panic!("{other:?}"),
            };
            count += elements;
            sum = text.bytes().fold(sum, |sum: u64, byte| sum.wrapping_mul(31) + u64::from(byte));
        }
        self.0.borrow_mut().push(Event::After(step.name, count, sum));
    }
}
