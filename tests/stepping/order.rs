//! The order of steps is that of `run`, and so is what an instrument sees.

use std::sync::Mutex;

use aot_rt::UntilError;

use super::{Log, digits, digits_caller, digits_float, digits_packed, digits_rows, layer, values};

/// Runs at once and step by step, and compares events and outputs.
macro_rules! same {
    ($($module:ident)*) => {$({
        let mut runner = $module::Runner::new();
        let (x, log) = (values(), Log::default());
        let expected = *runner.run_with(&mut &log, &x);
        let events = log.take();
        runner.fill_workspace(0xa5);
        let mut run = runner.start_with(&log, &x);
        let mut steps = 0;
        while let Some(next) = run.next_step() {
            let before = log.0.borrow().len();
            assert_eq!(run.step(), Some(next));
            assert_eq!(log.0.borrow()[before], super::Event::Before(next.name));
            steps += 1;
        }
        assert_eq!((run.step(), run.next_step()), (None, None));
        assert_eq!(run.finish(), &expected);
        assert_eq!(log.take(), events);
        assert_eq!(steps, events.len() / 2, "each step is one call of a kernel");
    })*};
}

#[test]
fn the_order_is_that_of_a_run() {
    same!(digits digits_rows digits_float digits_packed layer);
}

#[test]
fn arrays_are_the_callers() {
    let mut runner = digits_caller::Runner::new();
    let (x, mut expected, mut found) = (values(), [0; 10], [0; 10]);
    runner.run(&x, &mut expected);
    let mut run = runner.start(&x, &mut found);
    let mut steps = 0;
    while run.step().is_some() {
        steps += 1;
    }
    run.finish();
    assert_eq!(found, expected);
    assert!(steps > digits_caller::Runner::STEPS.len(), "{steps}: there are rows");
}

#[test]
fn finish_runs_what_is_left() {
    let mut runner = digits::Runner::new();
    let expected = *runner.run(&values());
    for steps in 0..=digits::Runner::STEPS.len() + 1 {
        let mut run = runner.start(&values());
        for _ in 0..steps {
            run.step();
        }
        assert_eq!(run.finish(), &expected);
    }
}

#[test]
fn a_dropped_run_leaves_no_trace() {
    let mut runner = digits::Runner::new();
    let expected = *runner.run(&values());
    for steps in 0..digits::Runner::STEPS.len() {
        let mut run = runner.start(&[0; 64]);
        for _ in 0..steps {
            run.step();
        }
        drop(run);
        assert_eq!(runner.run(&values()), &expected);
    }
}

#[test]
fn run_until_stops_before_the_step() {
    let mut runner = digits::Runner::new();
    let expected = *runner.run(&values());
    let node = digits::Runner::STEPS[3].node;
    let mut run = runner.start(&values());
    assert_eq!(run.run_until("no such step"), Err(UntilError::NoSuchStep));
    assert_eq!(run.next_step().unwrap().index, 0);
    assert_eq!(run.run_until(digits::Runner::STEPS[2].name), Ok(()));
    assert_eq!(run.next_step().unwrap().index, 2);
    // It is there already.
    assert_eq!(run.run_until(digits::Runner::STEPS[2].name), Ok(()));
    assert_eq!(run.next_step().unwrap().index, 2);
    assert_eq!(run.run_until(node), Ok(()));
    assert_eq!(run.next_step().unwrap().index, 3);
    assert_eq!(run.run_until(digits::Runner::STEPS[2].name), Err(UntilError::Past));
    assert_eq!(run.next_step().unwrap().index, 3);
    assert_eq!(run.finish(), &expected);
}

#[test]
fn rows_of_layers_alternate() {
    let mut runner = digits_rows::Runner::new();
    let [first, second] = [0, 1].map(|i| digits_rows::Runner::STEPS[i].name);
    let mut run = runner.start(&values());
    assert_eq!(run.run_until(second), Ok(()));
    run.step();
    // The run of rows is not over: the first layer has more of them.
    assert_eq!(run.run_until(first), Ok(()));
    assert_eq!(run.run_until(digits_rows::Runner::STEPS[3].name), Ok(()));
    assert_eq!(run.run_until(first), Err(UntilError::Past));
}

/// A run that an interrupt would go on with.
static RUN: Mutex<Option<digits::RunnerRun<'static>>> = Mutex::new(None);

#[test]
fn a_run_is_kept_in_static_memory() {
    let expected = *digits::Runner::new().run(&values());
    *RUN.lock().unwrap() = Some(digits::Runner::take().unwrap().start(&values()));
    let mut steps = 0;
    while RUN.lock().unwrap().as_mut().unwrap().step().is_some() {
        steps += 1;
    }
    assert_eq!(steps, digits::Runner::STEPS.len());
    let run = RUN.lock().unwrap().take().unwrap();
    assert_eq!(run.finish(), &expected);
}

#[test]
fn runs_of_two_runners_interleave() {
    let (mut a, mut b) = (digits::Runner::new(), digits::Runner::new());
    let (x, y) = (values(), [5; 64]);
    let (expected_a, expected_b) = (*digits::Runner::new().run(&x), *digits::Runner::new().run(&y));
    let (mut run_a, mut run_b) = (a.start(&x), b.start(&y));
    while run_a.step().is_some() {
        run_b.step();
    }
    assert_eq!((run_a.finish(), run_b.finish()), (&expected_a, &expected_b));
}

#[test]
fn inputs_are_written_in_place() {
    let mut runner = digits::Runner::new();
    let expected = *runner.run(&values());
    *runner.image_mut() = values();
    let mut run = runner.start_in_place();
    assert!(run.step().is_some());
    assert_eq!(run.finish(), &expected);
}
