//! Whether a program fits the memory that the user allows, and what to look at when
//! it does not.

use crate::compile::compile_as_is;
use crate::config::InputPlacement;
use crate::error::{Location, Problem, spaced};
use crate::graph::Graph;
use crate::program::{Operand, PlacedPool, Program, Step, Storage, blocks};
use crate::report::{MemoryReport, Peak, label};
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
    let over_limit = |pool: &&PlacedPool| pool.excess() > 0;
    problems.extend(
        compiled.workspaces.iter().filter(over_limit).map(|pool| workspace(graph, compiled, config, pool)),
    );
    problems.extend(
        compiled.constant_pools.iter().filter(over_limit).map(|pool| constants(&compiled.program, pool)),
    );
    let bytes = compiled.program.constants.bytes().len();
    let limit = config.flash_limit.unwrap_or(Config::ADDRESSABLE);
    if bytes > limit {
        problems.push(flash(&compiled.program, bytes, limit));
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
pub(crate) fn exceeded(key: &str, bytes: usize, what: &str, limit: usize) -> Problem {
    let (needed, allowed, missing) = (spaced(bytes), spaced(limit), spaced(bytes - limit));
    Problem::new(format!("needs {needed} bytes of {what}, the limit is {allowed} ({missing} too many)"))
        .at(Location::Key(key.into()))
}

fn ram(graph: &Graph, compiled: &Compiled, config: &Config, limit: usize) -> Problem {
    let report = MemoryReport::new(compiled);
    let problem = exceeded("ram_limit", compiled.arena_bytes, "RAM", limit);
    overflow(
        problem,
        &report,
        &report.peak,
        compiled,
        remedies(graph, compiled, config, &|tried| tried.arena_bytes),
    )
}

/// A pool of the workspace beyond its limit.
fn workspace(graph: &Graph, compiled: &Compiled, config: &Config, pool: &PlacedPool) -> Problem {
    let report = MemoryReport::new(compiled);
    let problem = exceeded_pool(pool);
    let bytes_of_pool = |tried: &Compiled| {
        tried.workspaces.iter().find(|tried| tried.name == pool.name).map_or(0, |pool| pool.bytes)
    };
    overflow(
        problem,
        &report,
        &report.peak_of(&pool.name),
        compiled,
        remedies(graph, compiled, config, &bytes_of_pool),
    )
}

/// A problem with what is alive at a peak, and what may help.
fn overflow(
    problem: Problem,
    report: &MemoryReport,
    peak: &Peak,
    compiled: &Compiled,
    help: Option<String>,
) -> Problem {
    let mut items = vec![alive(report, peak)];
    if !compiled.program.runs.is_empty() {
        items.push("layers run row by row already".into());
    }
    let problem = problem.items(items);
    match help {
        Some(help) => problem.help(help),
        None => problem,
    }
}

/// What is alive at a peak: `` at step 1 `conv2d_1` are alive: `conv1` 4 096 ``.
pub(crate) fn alive(report: &MemoryReport, peak: &Peak) -> String {
    let tensors = peak.tensors.iter().map(|tensor| (tensor.name.as_str(), tensor.bytes)).collect();
    format!("{} are alive: {}", report.time_of(peak), list(tensors))
}

/// The same of a pool.
pub(crate) fn exceeded_pool(pool: &PlacedPool) -> Problem {
    let limit = pool.bytes - pool.excess();
    exceeded(&format!("pools.{}.limit", pool.name), pool.bytes, &format!("pool `{}`", pool.name), limit)
}

/// A pool of constants beyond its limit.
fn constants(program: &Program, pool: &PlacedPool) -> Problem {
    let range = pool.start..pool.start + pool.bytes;
    let of_step = |step: &'_ Step| -> usize {
        let views = step.operands.iter().filter_map(|operand| match operand {
            Operand::Constant(view) if range.contains(&view.offset) => Some(view.len * view.dtype.size()),
            Operand::Constant(_) | Operand::Buffer(_) => None,
        });
        views.sum()
    };
    let steps =
        program.steps.iter().flat_map(Step::with_nested).map(|step| (step.name.as_str(), of_step(step)));
    exceeded_pool(pool)
        .items(vec![format!("most of it is for {}", list(steps.filter(|(_, bytes)| *bytes > 0).collect()))])
}

/// What other settings bring the bytes down to that `bytes` says, found by compiling with them: each alone, and all together
/// where that is better.
fn remedies(
    graph: &Graph,
    compiled: &Compiled,
    config: &Config,
    bytes: &dyn Fn(&Compiled) -> usize,
) -> Option<String> {
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
    let mut best = bytes(compiled);
    for (key, value) in REMEDIES {
        let Some(tried) = try_settings(&[(key, value)]) else { continue };
        if bytes(&tried) >= bytes(compiled) {
            continue;
        }
        help.push(format!("`{key} = \"{value}\"` brings it to {}", needs(&tried, bytes(&tried))));
        match together.iter_mut().find(|(known, _)| *known == key) {
            Some(known) if bytes(&tried) < best => *known = (key, value),
            Some(_) => (),
            None => together.push((key, value)),
        }
        best = best.min(bytes(&tried));
    }
    if together.len() > 1
        && let Some(tried) = try_settings(&together).filter(|tried| bytes(tried) < best)
    {
        let settings: Vec<_> = together.iter().map(|(key, value)| format!("`{key} = \"{value}\"`")).collect();
        help.push(format!(
            "{} together bring it to {}",
            settings.join(" and "),
            needs(&tried, bytes(&tried))
        ));
    }
    (!help.is_empty()).then(|| help.join("; "))
}

/// `16 (the caller holds 12)`.
fn needs(compiled: &Compiled, needed: usize) -> String {
    let callers = compiled.program.buffers.iter().filter(|buffer| buffer.storage != Storage::Workspace);
    let arena = spaced(needed);
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
    use std::num::NonZeroU64;

    use super::*;
    use crate::codegen::generate;
    use crate::graph::Data;
    use crate::graph::sketch::{Sketch, f32_type};
    use crate::ops::{Add, Conv2d, FullyConnected, Padding2d, Relu};
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

    /// Two convolutions of 6×6 cells, 54 multiply-accumulates a row, and a layer of 18 outputs,
    /// 16 of which are packed together.
    fn layers() -> Graph {
        let mut sketch = Sketch::new();
        let mut x = sketch.input("x", f32_type([1, 6, 6, 1]));
        for i in 0..2 {
            let w = sketch.constant(&format!("w{i}"), f32_type([1, 3, 3, 1]), Data::from_f32s(&[0.5; 9]));
            let op = Conv2d { padding: Padding2d::Same, ..Conv2d::default() };
            x = sketch.node(&format!("conv{i}"), op, &[x, w]);
        }
        let w = sketch.constant("w", f32_type([18, 36]), Data::from_f32s(&[0.5; 648]));
        let y = sketch.node("dense", FullyConnected::default(), &[x, w]);
        sketch.finish(&[y])
    }

    #[test]
    fn steps_are_divided_as_far_as_they_can_be() {
        let config = |most| Config { max_step_macs: NonZeroU64::new(most), ..Config::default() };
        let problems = compile(layers(), &config(53)).unwrap_err();
        let messages: Vec<_> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            messages,
            [
                "key `max_step_macs`: steps compute more than 53 multiply-accumulates, however they are divided\n  \
              - `conv2d_0` (`conv0`) computes 54 at least\n  \
              - `conv2d_1` (`conv1`) computes 54 at least\n  \
              - `fully_connected_2_part_0` (`dense`) computes 576 at least\n  \
              = help: `max_step_macs = 576` is the least that does"
            ]
        );
        let program = compile(layers(), &config(576)).unwrap().program;
        let parts: Vec<_> = program.steps.iter().map(|step| (step.name.as_str(), step.macs)).collect();
        let dense = [("fully_connected_2_part_0", 576), ("fully_connected_2_part_1", 72)];
        assert_eq!(parts, [[("conv2d_0", 324), ("conv2d_1", 324)], dense].concat());
        assert!(program.runs.is_empty());
        let config = Config { inputs: InputPlacement::Rows, ..config(576) };
        let problem = compile(layers(), &config).unwrap_err()[0].to_string();
        assert!(problem.starts_with("key `max_step_macs`: where the input is pushed in rows, "), "{problem}");
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
