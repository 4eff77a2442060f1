//! The example runs, and what it checks holds.

use std::process::Command;

#[test]
fn the_tasks_take_turns() {
    let output = Command::new(env!("CARGO_BIN_EXE_async-steps")).output().expect("it can be run");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("it prints text");
    assert!(text.contains("another task had "), "{text}");
}
