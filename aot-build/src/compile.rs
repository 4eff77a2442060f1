//! The way from a graph to a planned program.

use crate::Config;
use crate::error::Problem;
use crate::graph::Graph;
use crate::program::{Program, Storage, lower};
use crate::{limits, passes};

/// A program with its memory plan: what every back end starts from.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The steps, buffers and constants.
    pub program: Program,
    /// Offset of every buffer in the workspace; 0 for the caller's.
    pub offsets: Vec<usize>,
    /// Size of the workspace in bytes.
    pub arena_bytes: usize,
    /// Least size that any plan for this order of steps can have.
    pub lower_bound: usize,
    /// Whether no smaller plan exists for this order of steps.
    pub proved: bool,
}

/// Optimises, lowers and plans `graph`.
///
/// # Errors
///
/// All operators that no kernel computes, or a plan beyond the limits.
pub fn compile(mut graph: Graph, config: &Config) -> Result<Compiled, Vec<Problem>> {
    passes::run(&mut graph, config);
    compile_as_is(&graph, config)
}

/// Lowers and plans `graph` without any pass.
pub(crate) fn compile_as_is(graph: &Graph, config: &Config) -> Result<Compiled, Vec<Problem>> {
    let program = lower(graph, config)?;
    let compiled = plan(program)?;
    let problems = limits::check(&compiled, config);
    if problems.is_empty() { Ok(compiled) } else { Err(problems) }
}

fn plan(program: Program) -> Result<Compiled, Vec<Problem>> {
    // Every buffer its own place, until the planner is here.
    let mut arena_bytes = 0;
    let offsets = program
        .buffers
        .iter()
        .map(|buffer| {
            if buffer.storage != Storage::Workspace {
                return 0;
            }
            let offset: usize = usize::next_multiple_of(arena_bytes, buffer.alignment);
            arena_bytes = offset + buffer.bytes;
            offset
        })
        .collect();
    Ok(Compiled { program, offsets, arena_bytes, lower_bound: 0, proved: false })
}
