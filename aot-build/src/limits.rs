//! Whether a program fits the memory that the user allows, and what to look at when
//! it does not.

use crate::config::{InputPlacement, Placement};
use crate::error::{Location, Problem, spaced};
use crate::program::{Lifetime, Operand, Program, Storage};
use crate::report::label;
use crate::{Compiled, Config};

/// Most tensors or steps that a message lists.
const LISTED: usize = 8;

/// Problems with the limits of `config`.
pub(crate) fn check(compiled: &Compiled, config: &Config) -> Vec<Problem> {
    let mut problems = Vec::new();
    if let Some(limit) = config.ram_limit.filter(|limit| compiled.arena_bytes > *limit) {
        problems.push(ram(compiled, config, limit));
    }
    let constants = compiled.program.constants.bytes().len();
    if let Some(limit) = config.flash_limit.filter(|limit| constants > *limit) {
        problems.push(flash(&compiled.program, constants, limit));
    }
    problems
}

/// `needs 55 296 bytes of RAM, the limit is 32 768 (22 528 too many)`.
fn exceeded(key: &str, bytes: usize, what: &str, limit: usize) -> Problem {
    let (needed, allowed, missing) = (spaced(bytes), spaced(limit), spaced(bytes - limit));
    Problem::new(format!("needs {needed} bytes of {what}, the limit is {allowed} ({missing} too many)"))
        .at(Location::Key(key.into()))
}

fn ram(compiled: &Compiled, config: &Config, limit: usize) -> Problem {
    let program = &compiled.program;
    let problem = exceeded("ram_limit", compiled.arena_bytes, "RAM", limit);
    let lifetimes = program.lifetimes();
    let Some(peak) = (0..program.steps.len()).max_by_key(|&step| {
        // The first of several equal ones.
        (alive(program, &lifetimes, step).map(|buffer| buffer.1).sum::<usize>(), std::cmp::Reverse(step))
    }) else {
        return problem;
    };
    let tensors: Vec<_> = alive(program, &lifetimes, peak).collect();
    let help = ports_at_peak(program, config, &lifetimes, peak);
    let item = format!("at step {peak} `{}` are alive: {}", program.steps[peak].name, list(tensors));
    let problem = problem.items(vec![item]);
    match help {
        Some(help) => problem.help(help),
        None => problem,
    }
}

/// Names and sizes of what is in the workspace during a step.
fn alive<'p>(
    program: &'p Program,
    lifetimes: &'p [Lifetime],
    step: usize,
) -> impl Iterator<Item = (&'p str, usize)> {
    program
        .buffers
        .iter()
        .zip(lifetimes)
        .filter(move |(buffer, lifetime)| {
            buffer.storage == Storage::Workspace && (lifetime.start..lifetime.end).contains(&step)
        })
        .map(|(buffer, _)| (buffer.name.as_str(), buffer.bytes))
}

/// What the caller could take over, when it is alive at the peak.
fn ports_at_peak(program: &Program, config: &Config, lifetimes: &[Lifetime], peak: usize) -> Option<String> {
    let groups = [
        ("inputs", config.inputs == InputPlacement::Workspace, &program.inputs),
        ("outputs", config.outputs == Placement::Workspace, &program.outputs),
    ];
    let help = groups.iter().filter(|(_, in_workspace, _)| *in_workspace).filter_map(|(key, _, ports)| {
        let buffers = ports.iter().map(|port| port.view.buffer.index());
        let at_peak = buffers.filter(|&i| (lifetimes[i].start..lifetimes[i].end).contains(&peak));
        let bytes: usize = at_peak.map(|i| program.buffers[i].bytes).sum();
        (bytes > 0).then(|| format!("`{key} = \"caller\"` leaves {} bytes to the caller", spaced(bytes)))
    });
    let help: Vec<_> = help.collect();
    (!help.is_empty()).then(|| help.join("; "))
}

fn flash(program: &Program, constants: usize, limit: usize) -> Problem {
    let bytes_of = |operand: &Operand| match operand {
        Operand::Constant(view) => view.len * view.dtype.size(),
        Operand::Buffer(_) => 0,
    };
    let steps =
        program.steps.iter().map(|step| (step.name.as_str(), step.operands.iter().map(bytes_of).sum()));
    let steps = steps.filter(|(_, bytes)| *bytes > 0).collect();
    exceeded("flash_limit", constants, "flash for constants", limit)
        .items(vec![format!("most of it is for {}", list(steps))])
}

/// The largest of what takes memory, and the sum of the rest.
fn list(mut items: Vec<(&str, usize)>) -> String {
    items.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let rest = items.split_off(items.len().min(LISTED));
    let mut text: Vec<_> =
        items.iter().map(|(name, bytes)| format!("`{}` {}", label(name), spaced(bytes))).collect();
    if !rest.is_empty() {
        let bytes: usize = rest.iter().map(|(_, bytes)| bytes).sum();
        text.push(format!("{} more {}", rest.len(), spaced(bytes)));
    }
    text.join(", ")
}
