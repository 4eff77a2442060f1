//! Compiles the models that the test `generated` runs.

#[allow(dead_code, reason = "what cases give is the test's")]
#[path = "edges/graphs.rs"]
mod edges;
#[path = "generated/models.rs"]
mod models;
#[path = "generated/odd.rs"]
mod odd;
#[path = "edges/placements.rs"]
mod placements;
#[path = "stepping/models.rs"]
mod stepping;

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use aot_build::Builder;
use aot_build::config::{Calls, InputPlacement, Memory, Optimize, Placement};

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
    tests.write();
    for (name, builder) in stepping::models(&workspace) {
        let folder = out_dir().join("stepping").join(name);
        fs::create_dir_all(&folder).expect("a folder in OUT_DIR can be made");
        builder.name("Runner").out_dir(folder).compile().unwrap_or_else(|error| panic!("{error}"));
    }
    for (name, model) in odd::models() {
        let constants = format!("include_bytes!(\"{name}.bin\")");
        let generated = aot_build::codegen::generate(&model, &[]).expect("the source is short");
        write(&format!("{name}.rs"), generated.file("pub", &constants).as_bytes());
        write(&format!("{name}.bin"), &generated.constants);
    }
    edges();
}

/// A module for each graph of `edges/graphs.rs`, from a `net.json` file, in each placement, and
/// a test in it.
fn edges() {
    let mut source = String::new();
    for case in edges::cases() {
        let name = case.name;
        let json = out_dir().join(format!("edge_{name}.json"));
        let tensors = format!("edge_{name}.safetensors");
        let exported = aot_build::export::export(&case.graph, &tensors).expect("the graph can be written");
        fs::write(&json, exported.json).expect("OUT_DIR can be written");
        if let Some(constants) = exported.safetensors {
            write(&tensors, &constants);
        }
        for (placement, (inputs, outputs)) in placements::PLACEMENTS {
            edge(&mut source, name, placement, Builder::new(&json).inputs(inputs).outputs(outputs));
        }
    }
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("edges/models");
    println!("cargo::rerun-if-changed={}", models.display());
    for model in models_in(&models) {
        let name = model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for (placement, (inputs, outputs)) in placements::PLACEMENTS {
            let builder = Builder::new(&model).inputs(inputs).outputs(outputs);
            edge(&mut source, &format!("tflite_{name}"), placement, builder);
        }
    }
    write("edges.rs", source.as_bytes());
}

/// The TFLite files in a folder, by name.
fn models_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder can be listed");
    let paths = entries.map(|entry| entry.expect("the folder can be listed").path());
    let mut models: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "tflite")).collect();
    models.sort();
    models
}

/// Compiles a case in one placement.
fn edge(source: &mut String, name: &str, placement: &str, builder: Builder) {
    let module = format!("{name}_{placement}");
    let folder = out_dir().join(format!("edge_{module}"));
    fs::create_dir_all(&folder).expect("a folder in OUT_DIR can be made");
    let built = builder.name("Edge").out_dir(&folder).compile();
    built.unwrap_or_else(|error| panic!("{name}: {error}"));
    let include = format!("include!({:?});", folder.join("edge.rs").display().to_string());
    let check = format!("crate::check(Edge::new(), Edge::fill_workspace, {name:?});");
    // Writing to a string cannot fail.
    let _ = writeln!(
        source,
        "pub(crate) mod {module} {{ {include} #[cfg(test)] #[test] fn agrees() {{ {check} }} }}"
    );
}

fn write(name: &str, contents: &[u8]) {
    fs::write(out_dir().join(name), contents).expect("OUT_DIR can be written");
}

/// A way to compile each model.
struct Configuration {
    suffix: &'static str,
    calls: Calls,
    /// Suffix of the configuration with typed calls that must give the same bits, step by step.
    twin: Option<&'static str>,
    optimize: Optimize,
    inputs: InputPlacement,
    outputs: Placement,
    memory: Memory,
}

const DIRECT: Configuration = Configuration {
    suffix: "",
    calls: Calls::Direct,
    twin: None,
    optimize: Optimize::Speed,
    inputs: InputPlacement::Workspace,
    outputs: Placement::Workspace,
    memory: Memory::Auto,
};

const SIZE_CALLER: Configuration = Configuration {
    suffix: "_size_caller",
    optimize: Optimize::Size,
    inputs: InputPlacement::Caller,
    outputs: Placement::Caller,
    ..DIRECT
};

const MIN: Configuration = Configuration { suffix: "_min", memory: Memory::Min, ..DIRECT };

const ROWS_SIZE_CALLER: Configuration = Configuration {
    suffix: "_rows_size_caller",
    optimize: Optimize::Size,
    inputs: InputPlacement::Rows,
    outputs: Placement::Caller,
    memory: Memory::Min,
    ..DIRECT
};

const CONFIGURATIONS: [Configuration; 9] = [
    DIRECT,
    SIZE_CALLER,
    MIN,
    ROWS_SIZE_CALLER,
    DIRECT.called("_packed", Calls::Packed),
    SIZE_CALLER.called("_registry_caller", Calls::Registry),
    MIN.called("_registry_min", Calls::Registry),
    ROWS_SIZE_CALLER.called("_packed_rows", Calls::Packed),
    ROWS_SIZE_CALLER.called("_registry_rows", Calls::Registry),
];

impl Configuration {
    /// The same by another calling convention.
    const fn called(self, suffix: &'static str, calls: Calls) -> Self {
        Self { suffix, calls, twin: Some(self.suffix), ..self }
    }

    fn apply(&self, builder: Builder) -> Builder {
        let builder = builder.calls(self.calls).optimize(self.optimize);
        builder.inputs(self.inputs).outputs(self.outputs).memory(self.memory)
    }

    /// A function that runs a model step by step on bytes; `text` is the model's code. None
    /// where there are no such runs.
    fn stepped(&self, text: &str) -> String {
        let (inputs, outputs) = (names(text, "inputs"), names(text, "outputs"));
        let mut body = format!("let [{}] = inputs else {{ unreachable!() }};", inputs.join(", "));
        body += &format!("let [{}] = outputs else {{ unreachable!() }};", outputs.join(", "));
        let elements = |kind: &str, i: usize, name: &str| {
            format!("aot_rt::{kind}_elements({name}, {i}).expect(\"it is aligned\")")
        };
        let all = |kind: &str, ports: &[&str]| match ports {
            [] => String::new(),
            [name] => elements(kind, 0, name) + ",",
            ports => {
                let field = |(i, name): (usize, &&str)| format!("{name}: {}", elements(kind, i, name));
                let fields: Vec<_> = ports.iter().enumerate().map(field).collect();
                let title = if kind == "input" { "Inputs" } else { "Outputs" };
                format!("Runner{title} {{ {} }},", fields.join(", "))
            }
        };
        let callers = if self.outputs == Placement::Caller { all("output", &outputs) } else { String::new() };
        let (kernels, works) = match self.calls {
            Calls::Registry => {
                body += "let kernels = RunnerKernels::default();";
                ("&kernels, ", ".expect(\"the kernels are the model's own\")")
            }
            Calls::Direct | Calls::Packed => ("", ""),
        };
        let start = match self.inputs {
            InputPlacement::Rows => return String::new(),
            InputPlacement::Workspace if !inputs.is_empty() => {
                for (i, name) in inputs.iter().enumerate() {
                    body += &format!("*runner.{name}_mut() = *{};", elements("input", i, name));
                }
                format!("start_in_place({kernels}{callers})")
            }
            _ => format!("start({kernels}{}{callers})", all("input", &inputs)),
        };
        let step = format!("crate::step_all(|| [run.next_step(), run.step(){works}]);");
        body += &format!("let mut run = runner.{start}; {step}");
        if self.outputs == Placement::Caller {
            body += &format!("run.finish(){works};");
        } else {
            body += &format!("let found = run.finish(){works};");
            for (i, name) in outputs.iter().enumerate() {
                let field = if outputs.len() == 1 { String::new() } else { format!(".{name}") };
                body += &format!("*{} = *found{field};", elements("output", i, name));
            }
        }
        let signature = "runner: &mut Runner, inputs: &[&[u8]], outputs: &mut [&mut [u8]]";
        let names = "clippy::many_single_char_names, clippy::similar_names";
        format!(" #[allow({names}, reason = \"the model's\")] fn stepped({signature}) {{ {body} }}")
    }
}

/// The names of all inputs or outputs, as `run_bytes` has them: `let [x, y] = inputs else`.
fn names<'t>(text: &'t str, ports: &str) -> Vec<&'t str> {
    let (before, _) = text.split_once(&format!("] = {ports} else {{")).expect("there is the untyped face");
    let (_, names) = before.rsplit_once("let [").expect("the names stand in brackets");
    names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect()
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
            let twin = configuration.twin.map(|twin| format!("{name}{twin}"));
            let name = format!("{name}{}", configuration.suffix);
            let folder = out_dir().join(&name);
            fs::create_dir_all(&folder).expect("a folder in OUT_DIR can be made");
            let builder = configuration.apply(Builder::new(model).name("Runner")).out_dir(&folder);
            match builder.compile() {
                Ok(_) => (),
                // Not every model reads its input row by row.
                Err(error)
                    if configuration.inputs == InputPlacement::Rows
                        && error.to_string().contains("key `inputs`") =>
                {
                    continue;
                }
                Err(error) => panic!("{error}"),
            }
            let include = format!("include!({:?});", folder.join("runner.rs").display().to_string());
            let text = fs::read_to_string(folder.join("runner.rs")).expect("the builder wrote it");
            let stepped = configuration.stepped(&text);
            let cases = cases.display().to_string();
            let by_steps = if stepped.is_empty() { "None" } else { "Some(stepped)" };
            let mut check =
                format!("crate::check(Runner::new, Runner::fill_workspace, {by_steps}, {cases:?});");
            if let Some(twin) = twin {
                check += &format!("crate::agree(super::{twin}::Runner::new, Runner::new, {cases:?});");
            }
            self.test(&name, &(include + &stepped), &check);
        }
    }

    fn test(&mut self, name: &str, items: &str, body: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "pub(crate) mod {name} {{ {items} #[test] fn agrees() {{ {body} }} }}");
    }

    fn write(&self) {
        write("generated.rs", self.0.as_bytes());
    }
}

fn out_dir() -> PathBuf {
    env::var_os("OUT_DIR").map(PathBuf::from).expect("cargo sets OUT_DIR")
}
