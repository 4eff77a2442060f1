//! Whether a program fits the memory that the user allows, and what to look at when
//! it does not.

use crate::compile::compile_as_is;
use crate::config::InputPlacement;
use crate::error::{Location, Problem, spaced};
use crate::graph::Graph;
use crate::program::{Program, Step, Storage, blocks};
use crate::report::{MemoryReport, label};
use crate::{Compiled, Config};

/// Most tensors or steps that a message lists.
const LISTED: usize = 8;

/// Settings that may bring the workspace down. `memory = "min"` is none of them: beyond
/// the limit, layers run row by row anyway.
const REMEDIES: [(&str, &str); 3] = [("inputs", "rows"), ("inputs", "caller"), ("outputs", "caller")];

/// Problems with the limits of `config`; `graph` is what was compiled.
pub(crate) fn check(graph: &Graph, compiled: &Compiled, config: &Config) -> Vec<Problem> {
    let mut problems = Vec::new();
    let limit = config.ram_limit.unwrap_or(Config::ADDRESSABLE);
    if compiled.arena_bytes > limit {
        problems.push(ram(graph, compiled, config, limit));
    }
    let constants = compiled.program.constants.bytes().len();
    let limit = config.flash_limit.unwrap_or(Config::ADDRESSABLE);
    if constants > limit {
        problems.push(flash(&compiled.program, constants, limit));
    }
    problems.extend(config.max_step_macs.and_then(|limit| macs(&compiled.program, config, limit.get())));
    problems
}

/// The problem with steps that compute more than `limit` at once, if there are such.
fn macs(program: &Program, config: &Config, limit: u64) -> Option<Problem> {
    let problem = |message: String| Problem::new(message).at(Location::Key("max_step_macs".into()));
    if config.inputs == InputPlacement::Rows {
        let message = "where the input is pushed in rows, a run does not go step by step".to_owned();
        return Some(problem(message).help("leave out one of `max_step_macs` and `inputs = \"rows\"`"));
    }
    let mut beyond = blocks::beyond(program, limit);
    let least = beyond.iter().map(|(_, macs)| *macs).max()?;
    beyond.dedup_by_key(|(step, _)| &step.node);
    let item = |(step, macs): &(&Step, u64)| {
        format!("`{}` (`{}`) computes {} at least", step.name, label(&step.node), spaced(*macs))
    };
    let mut items: Vec<_> = beyond.iter().take(LISTED).map(item).collect();
    if beyond.len() > LISTED {
        items.push(format!("{} more", beyond.len() - LISTED));
    }
    let message =
        format!("steps compute more than {} multiply-accumulates, however they are divided", spaced(limit));
    Some(problem(message).items(items).help(format!("`max_step_macs = {least}` is the least that does")))
}

/// The problem with so many bytes of generated source, if they are too many.
pub(crate) fn check_source(bytes: usize, config: &Config) -> Result<(), Problem> {
    let limit = config.source_limit;
    if bytes > limit { Err(exceeded("source_limit", bytes, "generated source", limit)) } else { Ok(()) }
}

/// `needs 55 296 bytes of RAM, the limit is 32 768 (22 528 too many)`.
fn exceeded(key: &str, bytes: usize, what: &str, limit: usize) -> Problem {
    let (needed, allowed, missing) = (spaced(bytes), spaced(limit), spaced(bytes - limit));
    Problem::new(format!("needs {needed} bytes of {what}, the limit is {allowed} ({missing} too many)"))
        .at(Location::Key(key.into()))
}

fn ram(graph: &Graph, compiled: &Compiled, config: &Config, limit: usize) -> Problem {
    let report = MemoryReport::new(compiled);
    let tensors = report.peak.tensors.iter().map(|tensor| (tensor.name.as_str(), tensor.bytes)).collect();
    let mut items = vec![format!("{} are alive: {}", report.time_of_peak(), list(tensors))];
    if !compiled.program.runs.is_empty() {
        items.push("layers run row by row already".into());
    }
    let problem = exceeded("ram_limit", compiled.arena_bytes, "RAM", limit).items(items);
    match remedies(graph, compiled, config) {
        Some(help) => problem.help(help),
        None => problem,
    }
}

/// What other settings bring, found by compiling with them: each alone, and all together
/// where that is better.
fn remedies(graph: &Graph, compiled: &Compiled, config: &Config) -> Option<String> {
    let try_settings = |settings: &[(&str, &str)]| {
        let mut config = config.clone();
        for (key, value) in settings {
            config.set(key, (*value).into()).ok()?;
        }
        compile_as_is(graph, &config).ok()
    };
    let mut help = Vec::new();
    // Of each key, the value that brings most.
    let mut together: Vec<(&str, &str)> = Vec::new();
    let mut best = compiled.arena_bytes;
    for (key, value) in REMEDIES {
        let Some(tried) = try_settings(&[(key, value)]) else { continue };
        if tried.arena_bytes >= compiled.arena_bytes {
            continue;
        }
        help.push(format!("`{key} = \"{value}\"` brings it to {}", needs(&tried)));
        match together.iter_mut().find(|(known, _)| *known == key) {
            Some(known) if tried.arena_bytes < best => *known = (key, value),
            Some(_) => (),
            None => together.push((key, value)),
        }
        best = best.min(tried.arena_bytes);
    }
    if together.len() > 1
        && let Some(tried) = try_settings(&together).filter(|tried| tried.arena_bytes < best)
    {
        let settings: Vec<_> = together.iter().map(|(key, value)| format!("`{key} = \"{value}\"`")).collect();
        help.push(format!("{} together bring it to {}", settings.join(" and "), needs(&tried)));
    }
    (!help.is_empty()).then(|| help.join("; "))
}

/// `16 (the caller holds 12)`.
fn needs(compiled: &Compiled) -> String {
    let callers = compiled.program.buffers.iter().filter(|buffer| buffer.storage != Storage::Workspace);
    let arena = spaced(compiled.arena_bytes);
    match callers.map(|buffer| buffer.bytes).sum::<usize>() {
        0 => arena,
        bytes => format!("{arena} (the caller holds {})", spaced(bytes)),
    }
}

fn flash(program: &Program, constants: usize, limit: usize) -> Problem {
    let steps = program.steps.iter().map(|step| (step.name.as_str(), step.constant_bytes()));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codegen::generate;
    use crate::graph::sketch::{Sketch, f32_type};
    use crate::ops::{Add, Relu};
    use crate::{Model, SourceInfo, compile};

    /// Chains side by side, so that there is an order to be found.
    fn chains() -> Graph {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", f32_type([4]));
        let mut sum = x;
        for chain in 0..6 {
            let mut last = x;
            for i in 0..4 {
                last = sketch.node(&format!("r{chain}_{i}"), Relu::default(), &[last]);
            }
            sum = sketch.node(&format!("sum{chain}"), Add::default(), &[sum, last]);
        }
        sketch.finish(&[sum])
    }

    #[test]
    fn source_and_searches_are_limited() {
        let config = Config { search_limit: 0, source_limit: 1_000, ..Config::default() };
        // Nothing is searched; there is a plan all the same.
        let compiled = compile(chains(), &config).unwrap();
        assert!(compiled.arena_bytes > 0);
        let model = |config: &Config| Model {
            type_name: "Net".into(),
            source: SourceInfo::default(),
            compiled: compiled.clone(),
            config: config.clone(),
        };
        let problem = generate(&model(&config), &[]).unwrap_err().to_string();
        assert!(problem.starts_with("key `source_limit`: needs "), "{problem}");
        assert!(problem.contains(" bytes of generated source, the limit is 1 000 ("), "{problem}");
        assert!(generate(&model(&Config::default()), &[]).is_ok());
    }
}
