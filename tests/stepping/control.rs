//! Branches and loops are steps, and what they hold are.

use aot_rt::{Action, Instrument, StepInfo, UntilError};

use super::{Log, branches, loops};

/// `c` of the model; conformance/cases/`if_i8_both`.
const X: [i8; 12] = [127, 100, -94, -7, 5, 4, 3, 2, 1, 0, -1, -2];

#[test]
fn branches_are_steps() {
    for (condition, names) in
        [(1, ["if_0", "if_0_then_add_0", "add_1"]), (0, ["if_0", "if_0_else_add_0", "add_1"])]
    {
        let mut runner = branches::Runner::new();
        let inputs = branches::RunnerInputs { c: &[condition], x: &X };
        let log = Log::default();
        let expected = *runner.run_with(&mut &log, inputs);
        let events = log.take();
        let mut run = runner.start_with(&log, inputs);
        let found: Vec<_> = std::iter::from_fn(|| run.step()).map(|step| step.name).collect();
        assert_eq!(found, names);
        assert_eq!(run.finish(), &expected);
        assert_eq!(log.take(), events);
    }
}

#[test]
fn a_branch_that_is_not_taken_is_past() {
    let mut runner = branches::Runner::new();
    let mut run = runner.start(branches::RunnerInputs { c: &[1], x: &X });
    assert_eq!(run.run_until("if_0_else_add_0"), Err(UntilError::Past));
    // Behind the branches.
    assert_eq!(run.next_step().map(|step| step.name), Some("add_1"));
}

/// The input of conformance/cases/`while_f32_nested_while`.
const Y: [f32; 12] = [-1.433_5, 2.115, 2.35, 0.916_5, 1.0, 2.0, 3.0, 4.0, -1.0, -2.0, -3.0, -4.0];

#[test]
fn loops_are_steps() {
    for i in 0..5 {
        let mut runner = loops::Runner::new();
        let inputs = loops::RunnerInputs { i: &[i], x: &Y };
        let log = Log::default();
        let outputs = runner.run_with(&mut &log, inputs);
        let expected = (*outputs.n, outputs.y.map(f32::to_bits));
        let events = log.take();
        let mut run = runner.start_with(&log, inputs);
        let mut decisions = 0;
        while let Some(next) = run.next_step() {
            assert_eq!(run.step(), Some(next));
            decisions += usize::from(next.name == "while_2");
        }
        let outputs = run.finish();
        assert_eq!((*outputs.n, outputs.y.map(f32::to_bits)), expected);
        assert_eq!(log.take(), events);
        // It starts, and decides before each iteration and once more.
        assert_eq!(decisions, 2 + usize::try_from(4 - i).unwrap_or(0), "from {i}");
    }
}

#[test]
fn a_step_of_a_loop_comes_again() {
    let mut runner = loops::Runner::new();
    let mut run = runner.start(loops::RunnerInputs { i: &[0], x: &Y });
    let mut iterations = 0;
    while run.run_until("while_2_body_add_2").is_ok() {
        run.step();
        iterations += 1;
    }
    assert_eq!(iterations, 4);
    assert_eq!(run.next_step(), None);
}

/// Leaves out one step.
struct Without(&'static str);

impl Instrument for Without {
    fn before(&mut self, step: &'static StepInfo) -> Action {
        if step.name == self.0 { Action::Skip } else { Action::Run }
    }
}

#[test]
fn what_is_skipped_is_skipped_step_by_step() {
    for name in loops::Runner::STEPS.iter().map(|step| step.name) {
        // Without these, a loop does not end.
        if ["condition", "add_0", "copy", "less_0", "add_2"].iter().any(|part| name.contains(part)) {
            continue;
        }
        let inputs = loops::RunnerInputs { i: &[1], x: &Y };
        let run_all = |stepped: bool| {
            let mut runner = loops::Runner::new();
            let mut skip = Without(name);
            let outputs = if stepped {
                runner.start_with(skip, inputs).finish()
            } else {
                runner.run_with(&mut skip, inputs)
            };
            (*outputs.n, outputs.y.map(f32::to_bits))
        };
        assert_eq!(run_all(true), run_all(false), "without {name}");
    }
}
