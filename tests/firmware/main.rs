//! Looks into linked programs that are built as firmware is: they must hold no panic
//! path, no allocation and no formatting, and run. One is `examples/bare`; the other
//! holds the published models, where they are there.

mod metadata;
#[path = "../generated/models.rs"]
mod models;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds package `package` of the workspace in `folder` and gives the program.
fn build(folder: &Path, package: &str, target: &Path) -> PathBuf {
    let status = Command::new(env!("CARGO"))
        .current_dir(folder)
        .args(["build", "--quiet", "--package", package, "--profile", "firmware", "--target-dir"])
        .arg(target)
        .status()
        .expect("cargo runs");
    assert!(status.success(), "{package} does not build");
    target.join("firmware").join(package)
}

/// The names of nodes that the model has must not be in the program: only the table of steps
/// holds them.
fn check_names(program: &Path, model: &Path) {
    let bytes = std::fs::read(program).expect("the program can be read");
    let model = aot_build::compile_file(model, &aot_build::Config::default()).expect("the model compiles");
    let mut names: Vec<_> = model.compiled.program.steps.iter().map(|step| step.node.as_str()).collect();
    // Short ones may be there by chance.
    names.retain(|name| name.len() >= 8);
    assert!(!names.is_empty(), "no node has a name to look for");
    for name in names {
        let found = bytes.windows(name.len()).any(|window| window == name.as_bytes());
        assert!(!found, "`{name}` is in {}", program.display());
    }
}

/// What `nm` says of the program.
fn symbols(program: &Path, arguments: &[&str]) -> String {
    let output = Command::new("nm").args(arguments).arg(program).output().expect("nm runs");
    assert!(output.status.success(), "nm cannot read {}", program.display());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The program must run, want nothing of the host but its start-up code and copies of
/// memory, and hold no symbol of a panic, an allocation or formatting.
fn check(program: &Path) {
    let defined = symbols(program, &["--demangle"]);
    assert!(defined.contains("aot_rt::kernels"), "the kernels are inlined beyond recognition");
    for word in ["panic", "unwind", "core::fmt", "alloc", "std::"] {
        let found: Vec<_> = defined.lines().filter(|line| line.contains(word)).collect();
        assert!(found.is_empty(), "`{word}` in the program: {found:#?}");
    }
    let wanted = symbols(program, &["--dynamic", "--undefined-only"]);
    for name in wanted.lines().filter_map(|line| line.split_whitespace().last()) {
        let name = name.split('@').next().unwrap_or(name);
        let expected = ["__libc_start_main", "memcpy", "memmove", "memset", "memcmp", "bcmp"];
        let start_up = ["__cxa_finalize", "__gmon_start__"].contains(&name) || name.starts_with("_ITM_");
        assert!(start_up || expected.contains(&name), "the program wants `{name}`");
    }
    let status = Command::new(program).status().expect("the program runs");
    assert_eq!(status.code(), Some(0), "{}", program.display());
}

/// The same, and nothing of the table of steps: nobody observes them.
fn check_unobserved(program: &Path) {
    check(program);
    let defined = symbols(program, &["--demangle"]);
    let found: Vec<_> = defined.lines().filter(|line| line.contains("STEPS")).collect();
    assert!(found.is_empty(), "the table of steps is in the program: {found:#?}");
}

#[test]
fn bare_programs_neither_panic_nor_allocate() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let program = build(&workspace, "bare", &workspace.join("target/firmware-test"));
    check_unobserved(&program);
    check_names(&program, &workspace.join("examples/digits/model/digits.tflite"));
}

#[test]
fn published_models_neither_panic_nor_allocate() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("it is there");
    let shared = std::env::var_os("AOT_SHARED").map_or_else(|| workspace.join("../shared"), PathBuf::from);
    let models = shared.join("models");
    let Ok(models) = models.canonicalize() else {
        return aot_tests::skipped(&format!("{} is not there", models.display()));
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("published-models");
    std::fs::create_dir_all(folder.join("src")).expect("a folder for tests can be made");
    let write =
        |name: &str, text: String| std::fs::write(folder.join(name), text).expect("it can be written");

    let (mut runners, mut calls) = (String::new(), String::new());
    for (i, name) in models::SHARED.iter().enumerate() {
        let path = models.join(name).join("model.tflite").display().to_string();
        // Writing to a string cannot fail.
        let _ = writeln!(runners, "aot_macros::aot_model! {{ struct M{i} = {path:?}; }}");
        let _ =
            writeln!(runners, "aot_macros::aot_model! {{ struct Min{i} = {path:?} {{ memory = \"min\" }} }}");
        let _ = writeln!(calls, "    if !run(M{i}::take()) || !run(Min{i}::take()) {{ return {}; }}", i + 1);
    }
    let root = workspace.display();
    write("Cargo.toml", format!(include_str!("published_models.toml"), root = root));
    write(
        "src/main.rs",
        include_str!("published_models.rs").replace("// RUNNERS", &runners).replace("// CALLS", &calls),
    );
    check_unobserved(&build(&folder, "published-models", &workspace.join("target/firmware-test")));
}
