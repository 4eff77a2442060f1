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

use aot_build::eval::Evaluator;
use aot_build::{Config, compile};
use aot_rt::{Block, IoError, Model, block_bytes_mut};
use graphs::{Case, cases};

/// What memory and outputs hold before a run.
const POISON: u8 = 0xa5;

fn case(name: &str) -> Case {
    cases().into_iter().find(|case| case.name == name).expect("there is such a case")
}

/// Runs generated code as often as the case says.
fn check<M: Model>(mut runner: M, fill: fn(&mut M, u8), name: &str) {
    let Case { inputs, outputs, graph, .. } = case(name);
    assert_eq!((M::INPUTS.len(), M::OUTPUTS.len()), (graph.inputs.len(), graph.outputs.len()), "{name}");
    for (info, id) in M::INPUTS.iter().zip(&graph.inputs).chain(M::OUTPUTS.iter().zip(&graph.outputs)) {
        let tensor = graph.tensor(*id);
        assert_eq!((info.dtype, info.shape), (tensor.ty.dtype, &*tensor.ty.shape), "{name}: {}", info.name);
        assert_eq!(info.bytes(), tensor.ty.bytes(), "{name}: {}", info.name);
    }
    fill(&mut runner, POISON);
    for expected in &outputs {
        let mut given: Vec<_> = inputs.iter().map(|input| Aligned::new(input)).collect();
        let given: Vec<&[u8]> = given.iter_mut().map(|input| &*input.bytes()).collect();
        let mut found: Vec<_> =
            M::OUTPUTS.iter().map(|info| Aligned::new(&vec![POISON; info.bytes()])).collect();
        let mut found: Vec<_> = found.iter_mut().map(Aligned::bytes).collect();
        assert_eq!(runner.run_bytes(&given, &mut found), Ok(()), "{name}");
        assert_eq!(found, *expected, "{name}");
        let mut more = [0; 1];
        let more: &mut [&mut [u8]] = &mut [&mut more];
        if expected.is_empty() {
            assert_eq!(runner.run_bytes(&given, more), Err(IoError::OutputCount), "{name}");
        }
    }
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
