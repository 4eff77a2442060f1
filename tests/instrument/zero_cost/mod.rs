//! An instrument that is not used costs nothing: the machine code of `run` and of all that it
//! calls is the same as that of a source from which the hooks have been taken out.

mod assembly;
mod hooks;

use std::path::{Path, PathBuf};
use std::process::Command;

use aot_build::config::Optimize;
use aot_build::{Config, codegen, compile_file};

use crate::{DIGITS, IF, WHILE, file};
use assembly::Assembly;

const MANIFEST: &str = r#"
[package]
name = "hooks"
version = "0.0.0"
edition = "2024"

[dependencies]
aot-rt = { path = "AOT_RT" }

[profile.firmware]
inherits = "release"
panic = "abort"
codegen-units = 1

[workspace]
"#;

/// The models, and whether they are there: the source of each for both ways to optimise.
fn models() -> Vec<(String, codegen::Generated)> {
    let kws = PathBuf::from(std::env::var_os("AOT_SHARED").unwrap_or_else(|| file("../shared").into()));
    let kws = kws.join("models/mlperf_kws_int8/model.tflite");
    let mut models = vec![
        ("digits", file(DIGITS)),
        ("branch", file(&format!("{IF}/model.tflite"))),
        ("repeat", file(&format!("{WHILE}/model.tflite"))),
    ];
    models.extend(kws.is_file().then_some(("kws", kws)));
    let mut sources = Vec::new();
    for (name, path) in models {
        for optimize in [Optimize::Speed, Optimize::Size] {
            let config = Config { name: Some("Runner".into()), optimize, ..Config::default() };
            let model = compile_file(&path, &config).expect("the model compiles");
            let generated = codegen::generate(&model, &[]).expect("the source is short");
            sources.push((format!("{name}_{optimize:?}").to_lowercase(), generated));
        }
    }
    sources
}

/// Compiles the sources, each in a module of its own, as firmware is compiled.
fn assembly(folder: &Path, sources: &[(String, codegen::Generated)], change: fn(&str) -> String) -> Assembly {
    std::fs::create_dir_all(folder.join("src")).expect("a folder for tests can be made");
    let write = |name: &str, contents: &[u8]| {
        std::fs::write(folder.join(name), contents).expect("it can be written");
    };
    write("Cargo.toml", MANIFEST.replace("AOT_RT", &file("aot-rt").display().to_string()).as_bytes());
    // A program: a library would export what others need to run the model with an instrument.
    let (mut modules, mut calls) = (String::new(), String::new());
    for (name, generated) in sources {
        let constants = format!("include_bytes!({:?})", format!("{name}.bin"));
        write(&format!("src/{name}.rs"), change(&generated.file("pub", &constants)).as_bytes());
        write(&format!("src/{name}.bin"), &generated.constants);
        modules.push_str(&format!("mod {name};\n"));
        calls.push_str(&format!("    std::hint::black_box({name}::Runner::run as *const ());\n"));
    }
    write("src/main.rs", format!("{modules}\nfn main() {{\n{calls}}}\n").as_bytes());
    let output = folder.join("hooks.s");
    let status = Command::new(env!("CARGO"))
        .current_dir(folder)
        .args(["rustc", "--quiet", "--profile", "firmware", "--target-dir"])
        .arg(folder.parent().expect("it is in a folder").join("target"))
        .arg("--")
        .arg(format!("--emit=asm={}", output.display()))
        .args(["-C", "debuginfo=0"])
        .status()
        .expect("cargo runs");
    assert!(status.success(), "{} does not compile", folder.display());
    Assembly::read(&std::fs::read_to_string(output).expect("the assembly is there"))
}

#[test]
fn the_machine_code_is_that_of_a_source_without_hooks() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("zero-cost");
    let sources = models();
    let with = assembly(&folder.join("with"), &sources, hooks::kept);
    let without = assembly(&folder.join("without"), &sources, hooks::removed);
    let compared = with.compare(with.main(), &without, without.main());
    println!("{compared} functions and constants are equal");
    assert!(compared > 2 * sources.len(), "only {compared} functions and constants were found");
}
