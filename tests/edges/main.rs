//! Graphs at the edges of what graphs can be: what is returned as it is, what is not there, what
//! nobody needs, and types that no operator computes with. Each runs through the evaluator and
//! through generated code, with inputs and outputs in the workspace and with the caller.
//!
//! `build.rs` generates the code of `graphs.rs`, and of the same graphs from files.

/// A module for each case and placement, made by `build.rs`.
#[deny(warnings, missing_docs, unreachable_pub, clippy::pedantic)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/edges.rs"));
}
mod graphs;
mod placements;
mod typed;

use std::path::{Path, PathBuf};

use aot_build::config::{InputPlacement, Memory};
use aot_build::eval::Evaluator;
use aot_build::export::export;
use aot_build::graph::{Graph, TensorId};
use aot_build::import::import;
use aot_build::report::{MemoryReport, memory_html, memory_map};
use aot_build::{Config, compile, compile_file};
use aot_rt::{Block, IoError, Model, TensorInfo, block_bytes_mut};
use graphs::{Case, cases};
use serde::Deserialize;

/// What memory and outputs hold before a run.
const POISON: u8 = 0xa5;

/// What a case is given, and what each run must give.
struct Expected {
    inputs: Vec<Vec<u8>>,
    outputs: Vec<Vec<Vec<u8>>>,
}

/// A case of `graphs.rs`, or of a file in `models`.
fn expected(name: &str) -> Expected {
    if let Some(file) = name.strip_prefix("tflite_") {
        return run_of_file(&models().join(format!("{file}.json")));
    }
    let case = cases().into_iter().find(|case| case.name == name).expect("there is such a case");
    Expected { inputs: case.inputs, outputs: case.outputs }
}

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("edges/models")
}

/// The run that a file describes, in hexadecimal digits.
fn run_of_file(path: &Path) -> Expected {
    #[derive(Deserialize)]
    struct Run {
        inputs: Vec<String>,
        outputs: Vec<String>,
    }
    let text = std::fs::read(path).expect("the file can be read");
    let Run { inputs, outputs } = serde_json::from_slice(&text).expect("the file is a run");
    let byte = |digits: &[u8]| {
        let digits = std::str::from_utf8(digits).expect("digits are ASCII");
        u8::from_str_radix(digits, 16).expect("the digits are hexadecimal")
    };
    let bytes = |digits: String| digits.as_bytes().chunks(2).map(byte).collect::<Vec<_>>();
    let [inputs, outputs] = [inputs, outputs].map(|arrays| arrays.into_iter().map(bytes).collect::<Vec<_>>());
    Expected { inputs, outputs: vec![outputs] }
}

/// Runs generated code as often as the case says.
fn check<M: Model>(mut runner: M, fill: fn(&mut M, u8), name: &str) {
    let Expected { inputs, outputs } = expected(name);
    let bytes = |infos: &[TensorInfo]| infos.iter().map(TensorInfo::bytes).collect::<Vec<_>>();
    assert_eq!(bytes(M::INPUTS), inputs.iter().map(Vec::len).collect::<Vec<_>>(), "{name}");
    assert_eq!(bytes(M::OUTPUTS), outputs[0].iter().map(Vec::len).collect::<Vec<_>>(), "{name}");
    fill(&mut runner, POISON);
    for expected in &outputs {
        let mut given: Vec<_> = inputs.iter().map(|input| Aligned::new(input)).collect();
        let given: Vec<&[u8]> = given.iter_mut().map(|input| &*input.bytes()).collect();
        let mut found: Vec<_> =
            M::OUTPUTS.iter().map(|info| Aligned::new(&vec![POISON; info.bytes()])).collect();
        let mut found: Vec<_> = found.iter_mut().map(Aligned::bytes).collect();
        assert_eq!(runner.run_bytes(&given, &mut found), Ok(()), "{name}");
        assert_eq!(found, *expected, "{name}");
    }
    let mut none: [&mut [u8]; 0] = [];
    let refused = if outputs[0].is_empty() { Ok(()) } else { Err(IoError::OutputCount) };
    let given: Vec<_> = inputs.iter().map(Vec::as_slice).collect();
    assert_eq!(runner.run_bytes(&given, &mut none), refused, "{name}");
}

/// The evaluator gives the same, in every placement.
#[test]
fn evaluator() {
    for Case { name, graph, inputs, outputs, steps } in cases() {
        for (_, placement) in placements::PLACEMENTS {
            let config = Config { inputs: placement.0, outputs: placement.1, ..Config::default() };
            let compiled =
                compile(graph.clone(), &config).unwrap_or_else(|error| panic!("{name}: {error:?}"));
            if let Some(steps) = steps {
                let at_most = compiled.program.steps.len() <= steps;
                assert!(at_most, "{name}: {:?}", compiled.program.steps);
            }
            let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
            let mut evaluator = Evaluator::new(&compiled);
            for expected in &outputs {
                assert_eq!(evaluator.run(&inputs).as_ref(), Ok(expected), "{name}");
            }
        }
    }
}

/// What the tool shows of them can be shown.
#[test]
fn reports() {
    for Case { name, graph, .. } in cases() {
        let compiled = compile(graph, &Config::default()).expect("the graph compiles");
        let report = MemoryReport::new(&compiled);
        assert!(memory_html(name, &report).contains(name));
        assert!(!memory_map(&report).contains("NaN"), "{name}");
    }
}

/// Where the one input is pushed row by row, a case gives the same, or the problem says why it
/// cannot be.
#[test]
fn rows() {
    let config = Config { inputs: InputPlacement::Rows, memory: Memory::Min, ..Config::default() };
    let mut pushed = 0;
    for Case { name, graph, inputs, outputs, .. } in cases() {
        let compiled = match compile(graph, &config) {
            Ok(compiled) => compiled,
            Err(problems) => {
                let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
                let expect = ["the input cannot be pushed row by row: ", "rows can be pushed of one input"];
                let explained = |problem: &String| expect.iter().any(|expect| problem.contains(expect));
                assert!(problems.iter().all(explained), "{name}: {problems:?}");
                continue;
            }
        };
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let mut evaluator = Evaluator::new(&compiled);
        for expected in &outputs {
            assert_eq!(evaluator.run(&inputs).as_ref(), Ok(expected), "{name}");
        }
        pushed += 1;
    }
    println!("{pushed} cases with a pushed input");
}

/// The same of the TFLite files.
#[test]
fn evaluator_of_files() {
    let mut files = 0;
    for entry in std::fs::read_dir(models()).expect("the folder can be listed") {
        let path = entry.expect("the folder can be listed").path();
        if path.extension().is_none_or(|extension| extension != "tflite") {
            continue;
        }
        let Expected { inputs, outputs } = run_of_file(&path.with_extension("json"));
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        for (_, placement) in placements::PLACEMENTS {
            let config = Config { inputs: placement.0, outputs: placement.1, ..Config::default() };
            let model = compile_file(&path, &config).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(Evaluator::new(&model.compiled).run(&inputs).as_ref(), Ok(&outputs[0]), "{path:?}");
        }
        files += 1;
    }
    assert!(files > 10, "{files} files");
}

/// A graph that is written as `net.json` and read again is the same.
#[test]
fn exported() {
    let folder = std::env::temp_dir().join(format!("aot-edges-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    for Case { name, graph, .. } in cases() {
        let exported = export(&graph, "c.safetensors").expect("the graph can be written");
        let path = folder.join("net.json");
        std::fs::write(&path, exported.json).expect("the file can be written");
        if let Some(constants) = exported.safetensors {
            std::fs::write(folder.join("c.safetensors"), constants).expect("the file can be written");
        }
        let again = import(&path, &Config::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let types = |graph: &Graph, ids: &[TensorId]| -> Vec<_> {
            ids.iter()
                .map(|id| graph.tensor(*id))
                .map(|x| (x.name.clone(), x.ty.clone(), x.data.clone()))
                .collect()
        };
        assert_eq!(types(&again.graph, &again.graph.inputs), types(&graph, &graph.inputs), "{name}");
        assert_eq!(types(&again.graph, &again.graph.outputs), types(&graph, &graph.outputs), "{name}");
    }
    std::fs::remove_dir_all(folder).expect("the folder can be removed");
}

/// Bytes aligned for every element type.
struct Aligned {
    blocks: Vec<Block>,
    len: usize,
}

impl Aligned {
    fn new(bytes: &[u8]) -> Self {
        let mut blocks = vec![Block::default(); bytes.len().div_ceil(size_of::<Block>())];
        block_bytes_mut(&mut blocks)[..bytes.len()].copy_from_slice(bytes);
        Self { blocks, len: bytes.len() }
    }

    fn bytes(&mut self) -> &mut [u8] {
        &mut block_bytes_mut(&mut self.blocks)[..self.len]
    }
}
