//! Runs that are awaited.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::{digits, digits_caller, values};

/// Polls until it is ready; gives what comes out, and how often it was not.
fn polls<T>(future: impl Future<Output = T>) -> (T, usize) {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    let mut pending = 0;
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return (output, pending),
            Poll::Pending => pending += 1,
        }
    }
}

#[test]
fn an_awaited_run_yields_after_each_step() {
    let mut runner = digits::Runner::new();
    let expected = *runner.run(&values());
    let (found, pending) = polls(runner.run_async(&values()));
    assert_eq!((found, pending), (&expected, digits::Runner::STEPS.len()));

    let mut run = runner.start(&values());
    run.step();
    let (found, pending) = polls(run.finish_async());
    assert_eq!((found, pending), (&expected, digits::Runner::STEPS.len() - 1));
}

#[test]
fn arrays_are_the_callers() {
    let (x, mut expected, mut found) = (values(), [0; 10], [0; 10]);
    digits_caller::Runner::new().run(&x, &mut expected);
    let ((), pending) = polls(digits_caller::Runner::new().run_async(&x, &mut found));
    assert_eq!(found, expected);
    assert!(pending > digits_caller::Runner::STEPS.len());
}
