//! Looks into the linked program of `examples/bare`, built as firmware is: it must hold
//! no panic path, no allocation and no formatting, and give the right answers.

use std::path::Path;
use std::process::Command;

/// Builds `examples/bare` and gives the program.
fn build(workspace: &Path) -> std::path::PathBuf {
    let target = workspace.join("target/firmware-test");
    let status = Command::new(env!("CARGO"))
        .current_dir(workspace)
        .args(["build", "--quiet", "--locked", "--package", "bare", "--profile", "firmware", "--target-dir"])
        .arg(&target)
        .status()
        .expect("cargo runs");
    assert!(status.success(), "examples/bare does not build");
    target.join("firmware/bare")
}

/// What `nm` says of the program.
fn symbols(program: &Path, arguments: &[&str]) -> String {
    let output = Command::new("nm").args(arguments).arg(program).output().expect("nm runs");
    assert!(output.status.success(), "nm cannot read {}", program.display());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn bare_programs_neither_panic_nor_allocate() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let program = build(&workspace);

    let defined = symbols(&program, &["--demangle"]);
    assert!(defined.contains("aot_rt::kernels"), "the kernels are inlined beyond recognition");
    for word in ["panic", "unwind", "core::fmt", "alloc", "std::"] {
        let found: Vec<_> = defined.lines().filter(|line| line.contains(word)).collect();
        assert!(found.is_empty(), "`{word}` in the program: {found:#?}");
    }

    // What the C library must bring: its own start-up code, and copies of memory.
    let wanted = symbols(&program, &["--dynamic", "--undefined-only"]);
    for name in wanted.lines().filter_map(|line| line.split_whitespace().last()) {
        let name = name.split('@').next().unwrap_or(name);
        let expected = ["__libc_start_main", "memcpy", "memmove", "memset", "memcmp", "bcmp"];
        let start_up = ["__cxa_finalize", "__gmon_start__"].contains(&name) || name.starts_with("_ITM_");
        assert!(start_up || expected.contains(&name), "the program wants `{name}`");
    }

    let status = Command::new(&program).status().expect("the program runs");
    assert_eq!(status.code(), Some(0), "see the exit codes in examples/bare");
}
