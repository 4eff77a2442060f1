//! Compiles the models that the test `generated` runs.

#[path = "generated/models.rs"]
mod models;
#[path = "generated/odd.rs"]
mod odd;
#[path = "generated/pools.rs"]
mod pools;

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use aot_build::Builder;
use aot_build::config::{InputPlacement, Memory, Optimize, Placement};

fn main() {
    println!("cargo::rerun-if-env-changed=AOT_SHARED");
    println!("cargo::rerun-if-changed=build.rs");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let shared = env::var_os("AOT_SHARED").map_or_else(|| workspace.join("../shared"), PathBuf::from);
    let digits = workspace.join("examples/digits/model");
    let mut tests = Tests::default();
    tests.add("digits_int8", &digits.join("digits.tflite"), &digits.join("cases/digits_int8"));
    tests.add("digits_float", &digits.join("digits.json"), &digits.join("cases/digits_float"));
    for name in models::SHARED {
        let folder = shared.join("models").join(name);
        tests.add(name, &folder.join("model.tflite"), &folder);
    }
    for name in models::OPERATORS.iter().chain(&models::CONTROL) {
        let folder = workspace.join("tests/conformance/cases").join(name);
        tests.add(name, &folder.join("model.tflite"), &folder);
    }
    tests.add_with_pools("digits_int8", &digits.join("digits.tflite"), &digits.join("cases/digits_int8"));
    tests.add_with_pools("digits_float", &digits.join("digits.json"), &digits.join("cases/digits_float"));
    for name in pools::CASES {
        let folder = workspace.join("tests/conformance/cases").join(name);
        tests.add_with_pools(name, &folder.join("model.tflite"), &folder);
    }
    tests.write();
    for (name, model) in odd::models() {
        let constants = format!("include_bytes!(\"{name}.bin\")");
        let generated = aot_build::codegen::generate(&model, &[]).expect("the source is short");
        write(&format!("{name}.rs"), generated.file("pub", &constants).as_bytes());
        write(&format!("{name}.bin"), &generated.constants);
    }
}

fn write(name: &str, contents: &[u8]) {
    fs::write(out_dir().join(name), contents).expect("OUT_DIR can be written");
}

/// A way to compile each model.
struct Configuration {
    suffix: &'static str,
    optimize: Optimize,
    inputs: InputPlacement,
    outputs: Placement,
    memory: Memory,
}

const CONFIGURATIONS: [Configuration; 4] = [
    Configuration {
        suffix: "",
        optimize: Optimize::Speed,
        inputs: InputPlacement::Workspace,
        outputs: Placement::Workspace,
        memory: Memory::Auto,
    },
    Configuration {
        suffix: "_size_caller",
        optimize: Optimize::Size,
        inputs: InputPlacement::Caller,
        outputs: Placement::Caller,
        memory: Memory::Auto,
    },
    Configuration {
        suffix: "_min",
        optimize: Optimize::Speed,
        inputs: InputPlacement::Workspace,
        outputs: Placement::Workspace,
        memory: Memory::Min,
    },
    Configuration {
        suffix: "_rows_size_caller",
        optimize: Optimize::Size,
        inputs: InputPlacement::Rows,
        outputs: Placement::Caller,
        memory: Memory::Min,
    },
];

impl Configuration {
    fn apply(&self, builder: Builder) -> Builder {
        builder.optimize(self.optimize).inputs(self.inputs).outputs(self.outputs).memory(self.memory)
    }
}

/// The source of the tests: a module for each model and configuration.
#[derive(Default)]
struct Tests(String);

impl Tests {
    /// A test of the model in each configuration, or a test that says that the model is
    /// absent.
    fn add(&mut self, name: &str, model: &Path, cases: &Path) {
        if !model.is_file() {
            let text = format!("{} is not there", model.display());
            self.test(name, "", &format!("aot_tests::skipped({text:?});"));
            return;
        }
        for configuration in CONFIGURATIONS {
            let name = format!("{name}{}", configuration.suffix);
            self.add_as(&name, "Runner::new", cases, configuration.apply(Builder::new(model)));
        }
    }

    /// The same in pools of memory.
    fn add_with_pools(&mut self, name: &str, model: &Path, cases: &Path) {
        for configuration in &pools::CONFIGURATIONS {
            let name = format!("{name}{}", configuration.suffix);
            self.add_as(&name, configuration.new, cases, (configuration.apply)(Builder::new(model)));
        }
    }

    /// A test of what `builder` compiles, with the runner that `new` makes.
    fn add_as(&mut self, name: &str, new: &str, cases: &Path, builder: Builder) {
        let folder = out_dir().join(name);
        fs::create_dir_all(&folder).expect("a folder in OUT_DIR can be made");
        match builder.name("Runner").out_dir(&folder).compile() {
            Ok(_) => (),
            // Not every model reads its input row by row.
            Err(error) if error.to_string().contains("key `inputs`") => return,
            Err(error) => panic!("{error}"),
        }
        let include = format!("include!({:?});", folder.join("runner.rs").display().to_string());
        let cases = cases.display().to_string();
        let check = format!("crate::check({new}, Runner::fill_workspace, {cases:?});");
        self.test(name, &include, &check);
    }

    fn test(&mut self, name: &str, items: &str, body: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "mod {name} {{ {items} #[test] fn agrees() {{ {body} }} }}");
    }

    fn write(&self) {
        write("generated.rs", self.0.as_bytes());
    }
}

fn out_dir() -> PathBuf {
    env::var_os("OUT_DIR").map(PathBuf::from).expect("cargo sets OUT_DIR")
}
