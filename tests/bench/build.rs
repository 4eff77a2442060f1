//! Compiles the models that the benchmark runs.

#[path = "../generated/models.rs"]
mod models;

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use aot_build::Builder;
use aot_build::config::{Memory, Optimize};

/// How each model is compiled, by the name in the benchmark.
const WAYS: [(&str, Optimize, Memory); 3] = [
    ("speed", Optimize::Speed, Memory::Auto),
    ("size", Optimize::Size, Memory::Auto),
    ("min", Optimize::Speed, Memory::Min),
];

fn main() {
    println!("cargo::rerun-if-env-changed=AOT_SHARED");
    println!("cargo::rerun-if-changed=build.rs");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shared = env::var_os("AOT_SHARED").map_or_else(|| workspace.join("../shared"), PathBuf::from);
    let digits = workspace.join("examples/digits/model");
    let own = [("digits_float", digits.join("digits.json")), ("digits_int8", digits.join("digits.tflite"))];
    let shared =
        models::SHARED.iter().map(|name| (*name, shared.join("models").join(name).join("model.tflite")));

    let (mut modules, mut calls) = (String::new(), String::new());
    for (name, model) in own.into_iter().chain(shared).filter(|(_, model)| model.is_file()) {
        for (suffix, optimize, memory) in WAYS {
            let module = format!("{name}_{suffix}");
            let runner = compile(&module, &model, optimize, memory);
            // Writing to a string cannot fail.
            let _ = writeln!(modules, "mod {module} {{ include!({runner:?}); }}");
            let _ = writeln!(calls, "    time(criterion, \"{name}/{suffix}\", {module}::Runner::take());");
        }
    }
    let source = format!("{modules}\nfn time_all(criterion: &mut Criterion) {{\n{calls}}}\n");
    fs::write(out_dir().join("models.rs"), source).expect("OUT_DIR can be written");
}

/// Compiles a model into a folder of its own and gives the path of its source.
fn compile(module: &str, model: &Path, optimize: Optimize, memory: Memory) -> PathBuf {
    let folder = out_dir().join(module);
    fs::create_dir_all(&folder).expect("a folder in OUT_DIR can be made");
    let builder = Builder::new(model).name("Runner").optimize(optimize).memory(memory);
    if let Err(error) = builder.out_dir(&folder).compile() {
        panic!("{error}");
    }
    folder.join("runner.rs")
}

fn out_dir() -> PathBuf {
    env::var_os("OUT_DIR").map(PathBuf::from).expect("cargo sets OUT_DIR")
}
