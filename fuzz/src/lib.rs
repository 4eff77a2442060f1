//! What every file must survive: import, passes, lowering, schedule, plan, generated source,
//! and a run. The fuzz targets call it, and `cargo test -p aot-tests --test fuzz` does for the
//! files of the corpus.

use std::path::Path;

use aot_build::config::{InputPlacement, Memory, Placement};
use aot_build::eval::Evaluator;
use aot_build::graph::Graph;
use aot_build::plan::Planner;
use aot_build::{Compiled, Config, Model, Problem, SourceInfo, codegen, compile, import};

/// Most bytes that all messages about a file may take.
const MAX_MESSAGES: usize = 200_000;
/// Most bytes of buffers, and multiplications, of a model that is run.
const MAX_WORK: usize = 1 << 20;

/// Reads `bytes` as a file with this extension, and takes what is read as far as it goes.
///
/// Whether it was read.
///
/// # Panics
///
/// When the compiler panics or contradicts itself.
pub fn survive(extension: &str, bytes: &[u8]) -> bool {
    // Files that a model names are not found.
    let path = Path::new("/nonexistent/model").with_extension(extension);
    match import::import_bytes(&path, bytes, &Config::default()) {
        Ok(imported) => {
            configurations().iter().for_each(|config| finish(&imported.graph, config));
            true
        }
        Err(error) => {
            check(&error.problems);
            false
        }
    }
}

/// Those that take different ways through the compiler.
fn configurations() -> [Config; 3] {
    let rows = Config { inputs: InputPlacement::Rows, memory: Memory::Min, ..Config::default() };
    let caller = Config { inputs: InputPlacement::Caller, outputs: Placement::Caller, ..Config::default() };
    [Config { ram_limit: Some(1 << 10), ..Config::default() }, rows, caller]
}

/// Compiles, generates and runs.
fn finish(graph: &Graph, config: &Config) {
    let compiled = match compile(graph.clone(), config) {
        Ok(compiled) => compiled,
        Err(problems) => return check(&problems),
    };
    let model = Model {
        type_name: codegen::type_name(None, "model").expect("`Model` is a name"),
        source: SourceInfo::default(),
        compiled,
        config: config.clone(),
    };
    let text = match codegen::generate(&model, &[]) {
        Ok(generated) => generated.file("pub", "&[0; 1]"),
        Err(problem) => return check(&[problem]),
    };
    if let Err(error) = syn::parse_file(&text) {
        panic!("the generated source is no Rust: {error}\n{text}");
    }
    let results = run(&model.compiled);
    // The same steps with bytes of their own for every buffer.
    let apart = Config { planner: Planner::None, ..config.clone() };
    if results.is_some()
        && let Ok(apart) = compile(graph.clone(), &apart)
    {
        assert_eq!(results, run(&apart), "the plan changes the results");
    }
}

/// What a run gives; `None` for models that would take long.
fn run(compiled: &Compiled) -> Option<Vec<Vec<u8>>> {
    let program = &compiled.program;
    let bytes = program.buffers.iter().fold(0_usize, |sum, buffer| sum.saturating_add(buffer.bytes));
    let macs = usize::try_from(program.macs()).unwrap_or(usize::MAX);
    if bytes.saturating_add(macs) > MAX_WORK {
        return None;
    }
    // No NaN for any type, whose sign and payload an operator may choose.
    let input = |bytes: usize| (0..bytes).map(|i| [1, 0, 3, 0][i % 4]).collect::<Vec<u8>>();
    let inputs: Vec<_> = program.inputs.iter().map(|port| input(port.ty.bytes())).collect();
    let inputs: Vec<_> = inputs.iter().map(Vec::as_slice).collect();
    Some(Evaluator::new(compiled).run(&inputs).expect("the inputs are the model's"))
}

/// Problems are there to be read, and none is a fault of ours.
fn check(problems: &[Problem]) {
    assert!(!problems.is_empty(), "refused without a reason");
    let texts: Vec<_> = problems.iter().map(ToString::to_string).collect();
    for (problem, text) in problems.iter().zip(&texts) {
        assert!(!problem.message.is_empty(), "{text}");
        assert!(!text.contains("is at fault"), "{text}");
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    }
    let shown: usize = texts.iter().map(String::len).sum();
    assert!(shown < MAX_MESSAGES, "{shown} bytes of messages");
}
