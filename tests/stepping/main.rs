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
